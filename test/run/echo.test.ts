import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { createLog } from "../../src/common/log.ts";
import { basicCredentials, Secret } from "../../src/common/secret.ts";
import type { Config } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { assertNowhereIn, CANARY, HurriedClock, NIGHTLY, rowsOf, scriptedWorld } from "./running.ts";
import { item } from "./scripted.ts";

const BASIC = basicCredentials(new Secret(CANARY));
const TAIL = Buffer.from(CANARY).toString("base64").slice(0, 20);
const LINK = `https://files.example/a?access_token=${encodeURIComponent(CANARY)}`;

/** Items that repeat the token wherever text is, some that do not, and a thing that is no item. */
function echoing(): unknown[] {
  const items = Array.from({ length: 12 }, (_, index) =>
    item(`c-${index}`, index, {
      title: `Signed in as ${CANARY}`,
      url: LINK,
      tags: ["one", `for ${CANARY}`],
      acme_debug: { authorization: BASIC, [CANARY]: true },
      author_details: { id: "u-1", acme_session: CANARY },
      custom_fields: { "f-1": CANARY },
      custom_fields_details: [{ id: "f-1", name: "region", field_type: "text", value: CANARY }],
      event_start_date: CANARY,
      wordcount: `${CANARY} words`,
    }),
  );
  return [...items, item("c-plain", 3), { title: CANARY }];
}

const FIELD = {
  id: "f-1",
  name: "region",
  field_type: "text",
  display_label: CANARY,
  mappings: [{ id: "m-1", field_name: CANARY, external_site_id: "d-1", values: [] }],
};

async function echoingWorld(t: TestContext) {
  const world = await scriptedWorld(t, echoing());
  const { service } = world;
  service.script = ({ kind }) => {
    if (kind === "destinations") {
      return { body: [{ id: "d-1", identification: "Web CMS", platform: "External", acme_url: LINK }] };
    }
    return kind === "custom_fields" ? { body: [FIELD] } : undefined;
  };
  return world;
}

const CONFIG: Partial<Config> = {
  details: "all",
  customFields: ["region"],
  destinations: [{ name: "Web CMS", platform: "External" }],
};

function checkOf({ directory }: RunSummary): Promise<unknown[]> {
  const name = "texts in which the service repeats the API token";
  return rowsOf(directory, `SELECT verdict, figure > 0 FROM run_checks WHERE check_name = '${name}'`);
}

const WARNING =
  /^The service repeats the API token in \d+ texts \(.*"title".*\): \[redacted\] is published in its place\./m;

suite("S1, S4: a token that the service repeats in what it sends", () => {
  test("is in nothing that is published or logged but redacted; it is told", async (t) => {
    const { exported } = await echoingWorld(t);
    let log = "";
    const summary = await exported({
      pipelineUrl: NIGHTLY,
      config: CONFIG,
      log: createLog({
        level: "debug",
        format: "json",
        secrets: [],
        clock: new HurriedClock(),
        write: (line) => {
          log += line;
        },
      }),
    });
    const { directory } = summary;
    assert.equal(summary.verdict, "complete");
    await assertNowhereIn(directory, [CANARY, TAIL]);
    assert.ok(!(log + JSON.stringify(summary)).includes(CANARY));
    assert.deepEqual(await checkOf(summary), [["warning", true]]);
    assert.match(summary.warnings.join("\n"), WARNING);
    const titles = "SELECT title, url, count(*) FROM content GROUP BY ALL ORDER BY 1";
    assert.deepEqual(await rowsOf(directory, titles), [
      ["Signed in as [redacted]", "https://files.example/a?access_token=[redacted]", "12"],
      ["Title of c-plain", null, "1"],
    ]);
    const [[extra] = []] = await rowsOf(directory, "SELECT extra FROM content WHERE content_id = 'c-1'");
    assert.deepEqual(JSON.parse(String(extra)).acme_debug, {
      authorization: "Basic [redacted]",
      "[redacted]": true,
    });
    assert.deepEqual(await rowsOf(directory, "SELECT DISTINCT document FROM run_rejects"), [
      ['{"title":"[redacted]"}'],
    ]);
    const mappings = "SELECT external_field_name FROM custom_field_mappings";
    assert.deepEqual(await rowsOf(directory, mappings), [["[redacted]"]]);
    const drift =
      "SELECT path, count FROM run_drift WHERE kind = 'token_redacted' AND path IN ('title', 'field_name')";
    // 13 titles in both listings, and 12 in answers of single items.
    assert.deepEqual(await rowsOf(directory, `${drift} ORDER BY path`), [
      ["field_name", "1"],
      ["title", "38"],
    ]);
  });

  long("is told of what was read before the run was ended early, too", async (t) => {
    const { service, out, exported } = await echoingWorld(t);
    const config = { ...CONFIG, details: "none", concurrency: 1 } as const;
    const run = { clock: new HurriedClock(), config };
    const { script } = service;
    service.script = (question) =>
      question.mode === "full"
        ? { status: 401, body: { error: `No access for ${CANARY}.` } }
        : script(question);
    const error = await failsWith("source.credentials", exported(run));
    assert.match(error.message, /No access for \[redacted\]/);
    await assertNowhereIn(out, [CANARY, TAIL]);
    service.script = script;
    const summary = await exported(run);
    assert.notEqual(summary.resumed, null);
    const drift = "SELECT count FROM run_drift WHERE kind = 'token_redacted' AND path = 'title'";
    assert.deepEqual(await rowsOf(summary.directory, drift), [["26"]]);
  });
});
