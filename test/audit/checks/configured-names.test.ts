import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { checkConfiguredNames } from "../../../src/audit/checks/configured-names.ts";
import { type Config, loadConfig } from "../../../src/config/config.ts";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { failsWith } from "../../failing.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { CANARY, exportFrom, MAPPING, rowsOf } from "../../run/running.ts";
import { item, type Json, Scripted } from "../../run/scripted.ts";
import { summaryText } from "../../run/summary-text.ts";
import { ASKED } from "../../warehouse/published.ts";

const WEB = {
  id: "d-1",
  identification: "Web CMS",
  platform: "External",
  supports_custom_field_mappings: true,
};
const CSM = { ...WEB, id: "d-2", identification: "Web CSM" };
const REGION = {
  id: "f-1",
  name: "region",
  field_type: "select",
  formatted_select_values: [{ id: "v-1", value: "North", display: "North", archived: false }],
  mappings: [{ id: "m-1", field_name: "market", external_site_id: "d-1", values: [] }],
};

type Matching = Parameters<typeof checkConfiguredNames>[0];

const named = (...names: string[]) => names.map((name) => ({ name, platform: "External" }));
const lookup = (answer: Json) => ({ id: String(answer.id), answer: answer as never, unknown: [] });

/** A run that asked for the destination "Web CMS" and found it, and whose item has a mapped value. */
function check(
  asked: Partial<Matching["asked"]> = {},
  { unmatched, rows, ...rest }: { [M in keyof Matching]?: Partial<Matching[M]> } = {},
) {
  return checkConfiguredNames({
    asked: {
      ...{ ...ASKED, columns: ["id", "custom_fields"], destinations: named("Web CMS") },
      ...asked,
    },
    unmatched: { destinations: [], otherDestinations: [], customFields: [], ...unmatched },
    lookups: { destinations: [lookup(WEB)], definitions: [lookup(REGION)], ...rest.lookups },
    fieldNames: ["region"],
    rows: {
      ...{ content_custom_field_values: 1, content_mapped_values: 1, content_external_payloads: 1 },
      ...rows,
    } as Matching["rows"],
  });
}

suite("a run without mapped values for its destinations", () => {
  const nothing = { content_mapped_values: 0, content_external_payloads: 0 };
  const cases: readonly [what: string, ReturnType<typeof check>, reason: RegExp][] = [
    [
      "says that the service has none of them",
      check({ destinations: named("Web CSM", "Shop") }, { lookups: { destinations: [] } }),
      /: the service has none of "Web CSM" and "Shop"\.$/,
    ],
    [
      "says that the columns leave out what they are made from",
      check({ columns: ["id", "title"] }, { rows: nothing }),
      /: the setting `columns` leaves out "custom_fields", from which they are computed; add it\.$/,
    ],
    [
      "says that nothing is mapped for them",
      check({}, { lookups: { definitions: [lookup({ ...REGION, mappings: null })] } }),
      /: no value of an item has an entry in a mapping for any of them\.$/,
    ],
    [
      "says the same where no value has an entry",
      check({}, { rows: nothing }),
      /: no value of an item has an entry in a mapping for any of them\.$/,
    ],
  ];
  for (const [what, { noMappedValues, warnings, checks }, reason] of cases) {
    test(what, () => {
      assert.match(noMappedValues ?? "", reason);
      const name = "mapped values for the configured destinations";
      assert.deepEqual(warnings[0], { text: noMappedValues, check: name });
      assert.partialDeepStrictEqual(checks.at(-1), { name, verdict: "warning", detail: noMappedValues });
    });
  }

  test("is not spoken of where there are some, an alias names the column, or no destination is configured", () => {
    const aliased = { columns: ["acme_fields"], aliases: { acme_fields: "custom_fields" } };
    for (const { noMappedValues, warnings, checks } of [check(), check(aliased)]) {
      assert.deepEqual([noMappedValues, warnings, checks.at(-1)?.verdict], [null, [], "passed"]);
    }
    assert.equal(check({ destinations: [] }, { rows: nothing }).noMappedValues, null);
  });
});

suite("what the configuration names and the service does not have", () => {
  test("is told with the nearest name that is known, and its platform where that is another", () => {
    const destinations = [...named("Web CSM"), { name: "Web CMS", platform: "Mail" }];
    const customFields = ["regoin", "wholly else"];
    const { warnings } = check({ customFields }, { unmatched: { destinations, customFields } });
    assert.deepEqual(warnings, [
      'Destination "Web CSM" on platform "External" no longer exists, so its mapped values are missing. The nearest is "Web CMS".',
      'Destination "Web CMS" on platform "Mail" no longer exists, so its mapped values are missing. The nearest is "Web CMS (External)".',
      'The service knows no custom field "regoin". The nearest is "region".',
      'The service knows no custom field "wholly else".',
    ]);
    const carried = check({}, { unmatched: { customFields: ["regoin"] } });
    assert.deepEqual(
      carried.warnings,
      ['The service knows no custom field "regoin".'],
      "items carry the name",
    );
  });

  test("a destination that only a mapping names is told, until it is named or ignored", () => {
    const elsewhere = { destinations: [lookup(CSM)] };
    const { warnings, checks } = check({}, { lookups: elsewhere });
    assert.match(JSON.stringify(warnings), /1 destination in mappings has no name \(d-1\)\. Name it in /);
    assert.partialDeepStrictEqual(
      checks.find(({ name }) => name === "destinations in mappings that have no name"),
      { verdict: "warning", figure: 1, detail: "d-1" },
    );
    const ignoring = check({ ignoreDestinations: ["d-1", "Web CSM"] }, { lookups: elsewhere });
    assert.deepEqual(ignoring.ignoredDestinations, ["d-1", "d-2"]);
    assert.doesNotMatch(JSON.stringify(ignoring.warnings), /no name/);
  });
});

/** The nightly run against a service that has one item, after a night with other destinations. */
async function night(
  t: TestContext,
  destinations: Config["destinations"],
  before?: Json[],
): Promise<RunSummary> {
  const service = await Scripted.start(t, []);
  let found = before ?? [WEB];
  service.script = ({ kind, mode }) => {
    if (kind === "destinations") return { body: found };
    if (kind === "custom_fields") return { body: [REGION] };
    service.items = [item("c-1", 1, { custom_fields: mode === "dynamic" ? { "f-1": "v-1" } : [] })];
    return undefined;
  };
  const out = join(await temporaryFolder(t), "warehouse");
  const run = () => exportFrom({ url: service.url, out, pipelineUrl: MAPPING, config: { destinations } });
  if (before !== undefined) await run();
  found = [WEB];
  return run();
}

test("a destination that is gone is a warning, and without mapped values the summary begins with that", async (t) => {
  const summary = await night(t, named("Web CSM"), [CSM]);
  assert.equal(summary.noMappedValues, summary.warnings[0]);
  assert.match(summaryText(summary), /^Complete, WITHOUT MAPPED VALUES, 3 things to look at: /);
  const found = "SELECT verdict, figure, detail FROM run_checks WHERE check_name LIKE '%does not have'";
  assert.deepEqual((await rowsOf(summary.directory, found))[0], ["warning", "1", "Web CSM"]);
});

test("G13: a destination that the run before did not ask for either ends the run before it reads anything", async (t) => {
  const error = await failsWith("config.invalid", night(t, named("Web CMS", "Web CSM")));
  assert.equal(
    error.message,
    'There is no destination "Web CSM" on platform "External" (did you mean "Web CMS"?). Correct `destinations` or --destination.',
  );
});

test("a column that only an alias names is taken, also by its own name", async (t) => {
  const cwd = await temporaryFolder(t);
  const spec = { columns: ["id", "acme_title", "of_a_newer_version"] };
  const aliases = { acme_title: "title", of_a_newer_version: "of_a_newer_version" };
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ ...spec, aliases }));
  const env = { CONTENT_API_URL: "https://content.example.com", CONTENT_API_TOKEN: CANARY };
  const { columns } = await loadConfig({ cwd, env, flags: {}, sampleBy: "--sample" });
  assert.deepEqual(columns, spec.columns);
});
