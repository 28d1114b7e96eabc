/** The configurations in docs/examples that tell others of a run, as their comments say. */
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { RunOutcome } from "../../src/observe/outcome.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { environment } from "../environment.ts";
import { failsWith } from "../failing.ts";
import { CANARY, exportFrom } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { Endpoint } from "./observing.ts";

let folder: string;
let summary: RunSummary;
/** Of a night that is published, and one that is not. */
const outcomes: RunOutcome[] = [];
const { signal } = new AbortController();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "examples-"));
  const service = new Scripted(itemsOf(3));
  await service.listen();
  const observe = { onFinish: (outcome: RunOutcome) => void outcomes.push(outcome), metricsFile: null };
  const run = () => exportFrom({ url: service.url, out: join(folder, "warehouse"), config: { observe } });
  summary = await run();
  service.script = () => ({ status: 401 });
  await failsWith("source.credentials", run());
  service.close();
});

after(() => removeTree(folder));

/** What an example posts of both nights, and what it throws while the endpoint refuses it. */
async function postedBy(t: TestContext, example: string, variable: string) {
  const endpoint = await Endpoint.start(t);
  t.after(environment({ [variable]: endpoint.url }));
  const config = packagePath(`docs/examples/${example}.mts`);
  const env = { CONTENT_API_URL: "http://127.0.0.1:1", CONTENT_API_TOKEN: CANARY };
  const { observe } = await loadConfig({ cwd: folder, env, flags: { config }, sampleBy: "--sample" });
  assert.ok(observe.onFinish !== null);
  for (const outcome of outcomes) await observe.onFinish(outcome, signal);
  const posted = endpoint.posted.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
  assert.ok(!JSON.stringify(posted).includes(CANARY));
  endpoint.status = 404;
  const [, failed] = outcomes;
  assert.ok(failed?.ok === false);
  const refused = await Promise.resolve(observe.onFinish(failed, signal)).then(String, String);
  return { posted, message: failed.message, refused };
}

test("the chat has a line for each run: the verdict and the items, or why nothing is published", async (t) => {
  const { posted, message, refused } = await postedBy(t, "notify-chat", "CHAT_URL");
  assert.deepEqual(
    posted.map(({ text }) => text.split("\n")[0]),
    [
      `🟢 small is complete: run ${summary.run}, 3 of 3 items`,
      `🔴 Nothing is published (exit code 20): ${message}`,
    ],
  );
  assert.equal(refused, "Error: the chat answered with 404");
});

test("OpenLineage gets COMPLETE with the rows of each table, or FAIL with the message", async (t) => {
  const { posted, message, refused } = await postedBy(t, "open-lineage", "OPENLINEAGE_URL");
  const [complete, failed] = posted;
  assert.deepEqual(
    posted.map(({ path, eventType, job }) => [path, eventType, job.name]),
    [
      ["/api/v1/lineage", "COMPLETE", "small"],
      ["/api/v1/lineage", "FAIL", "small"],
    ],
  );
  assert.equal(complete.run.facets.tags.tags[0].value, summary.run);
  const { rows, warehouse } = summary;
  assert.deepEqual(
    complete.outputs.map(
      (each: { name: string; outputFacets: { outputStatistics: { rowCount: number } } }) => [
        each.name,
        each.outputFacets.outputStatistics.rowCount,
      ],
    ),
    Object.entries(rows).map(([name, count]) => [join(warehouse, "current/parquet", name), count]),
  );
  assert.equal(failed.run.facets.errorMessage.message, message);
  assert.match(refused, /^Error: OpenLineage answered with 404/);
});

test("a collector gets a span with the times of the run, or with the message", async (t) => {
  const variable = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const { posted, message, refused } = await postedBy(t, "open-telemetry", variable);
  const [published, failed] = posted.map(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans[0]);
  assert.ok(posted.every(({ path }) => path === "/v1/traces"));
  assert.equal(published.name, "content-warehouse run small");
  const ms = (Number(published.endTimeUnixNano) - Number(published.startTimeUnixNano)) / 1e6;
  assert.ok(Math.abs(ms - summary.milliseconds) < 2, `${ms} of ${summary.milliseconds}`);
  const values = Object.fromEntries(
    published.attributes.map(({ key, value }: { key: string; value: object }) => [
      key,
      Object.values(value)[0],
    ]),
  );
  assert.deepEqual(values, {
    run: summary.run,
    verdict: "complete",
    requests: String(summary.found.requests.count),
    items: "3",
  });
  assert.deepEqual(
    [failed.status, failed.attributes[0].value],
    [{ code: 2, message }, { stringValue: "source.credentials" }],
  );
  assert.match(refused, /^Error: The collector answered with 404/);
});
