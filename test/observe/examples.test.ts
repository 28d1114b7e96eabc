/** The configurations in docs/examples that tell others of a run, as their comments say. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { runPipeline } from "../../src/index.ts";
import { environment } from "../environment.ts";
import { failsWith } from "../failing.ts";
import { CANARY, SMALL, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { Endpoint, warningsIn } from "./observing.ts";

/** A night that is published and one that is not, then one while the endpoint refuses what it gets. */
async function nights(t: TestContext, example: string, variable: string) {
  const endpoint = await Endpoint.start(t);
  t.after(environment({ [variable]: endpoint.url }));
  const service = await Scripted.start(t, itemsOf(3));
  const warehouse = join(await temporaryFolder(t), "warehouse");
  const warnings: string[] = [];
  const run = async () =>
    runPipeline({
      pipeline: new URL(SMALL),
      config: packagePath(`docs/examples/${example}.mts`),
      env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY },
      warehouse,
      log: warningsIn(warnings),
    });
  const summary = await run();
  service.script = () => ({ status: 401 });
  const { message } = await failsWith("source.credentials", run());
  assert.deepEqual(warnings, []);
  const posted = endpoint.posted.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
  assert.ok(!JSON.stringify(posted).includes(CANARY));
  endpoint.status = 404;
  await failsWith("source.credentials", run());
  return { posted, summary, message, warnings };
}

test("the chat has a line for each run: the verdict and the items, or why nothing is published", async (t) => {
  const { posted, summary, message, warnings } = await nights(t, "notify-chat", "CHAT_URL");
  assert.deepEqual(
    posted.map(({ text }) => text.split("\n")[0]),
    [
      `🟢 small is complete: run ${summary.run}, 3 of 3 items`,
      `🔴 Nothing is published (exit code 20): ${message}`,
    ],
  );
  assert.deepEqual(warnings, [
    "`onFinish` failed: the chat answered with 404; the run does not depend on it.",
  ]);
});

test("OpenLineage gets COMPLETE with the rows of each table, or FAIL with the message", async (t) => {
  const { posted, summary, message, warnings } = await nights(t, "open-lineage", "OPENLINEAGE_URL");
  const [complete, failed] = posted;
  assert.deepEqual(
    posted.map(({ path, eventType, job }) => [path, eventType, job.name]),
    [
      ["/api/v1/lineage", "COMPLETE", "small"],
      ["/api/v1/lineage", "FAIL", "small"],
    ],
  );
  assert.equal(complete.run.facets.tags.tags[0].value, summary.run);
  const { tables, warehouse } = summary;
  assert.deepEqual(
    complete.outputs.map(
      (each: { name: string; outputFacets: { outputStatistics: { rowCount: number } } }) => [
        each.name,
        each.outputFacets.outputStatistics.rowCount,
      ],
    ),
    tables.map(({ name, rows }) => [join(warehouse, "current/parquet", name), rows]),
  );
  assert.equal(failed.run.facets.errorMessage.message, message);
  assert.match(warnings.join(), /^`onFinish` failed: OpenLineage answered with 404; /);
});

test("a collector gets a span with the times of the run, or with the message", async (t) => {
  const variable = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const { posted, summary, message, warnings } = await nights(t, "open-telemetry", variable);
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
    requests: String(summary.requests),
    items: "3",
  });
  assert.deepEqual(
    [failed.status, failed.attributes[0].value],
    [{ code: 2, message }, { stringValue: "source.credentials" }],
  );
  assert.match(warnings.join(), /^`onFinish` failed: The collector answered with 404; /);
});
