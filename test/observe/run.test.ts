/** A run tells its observers what it does; whatever they do, the run ends as it would have. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { Secret } from "../../src/common/secret.ts";
import type { RunOutcome } from "../../src/observe/outcome.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { ObserveSettings } from "../../src/observe/settings.ts";
import { program } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { CANARY, exportFrom, rowsOf, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { Endpoint, warningsIn } from "./observing.ts";

interface Observed {
  readonly service: Scripted;
  readonly folder: string;
  readonly endpoint: Endpoint;
  readonly outcomes: RunOutcome[];
  readonly warnings: string[];
  readonly run: (changes?: Partial<ObserveSettings>) => Promise<RunSummary>;
}

/** A service of 12 items, and observers of each kind. */
async function observed(t: TestContext): Promise<Observed> {
  const service = await Scripted.start(t, itemsOf(12));
  const folder = await temporaryFolder(t);
  const endpoint = await Endpoint.start(t);
  const outcomes: RunOutcome[] = [];
  const warnings: string[] = [];
  const settings: ObserveSettings = {
    onFinish: (outcome) => outcomes.push(outcome),
    metricsFile: join(folder, "run.prom"),
    openLineage: {
      to: { url: new URL(`${endpoint.url}/api/v1/lineage`), apiKey: new Secret("KEY"), proxy: null },
      namespace: "nights",
    },
  };
  const out = join(folder, "warehouse");
  const run = (changes: Partial<ObserveSettings> = {}) =>
    exportFrom({
      url: service.url,
      out,
      config: { observe: { ...settings, ...changes } },
      log: warningsIn(warnings),
    });
  return { service, folder, endpoint, outcomes, warnings, run };
}

suite("a run that is published", () => {
  test("calls onFinish with its summary and exit code, writes the metrics, and posts START and COMPLETE", async (t) => {
    const { service, folder, endpoint, outcomes, warnings, run } = await observed(t);
    const summary = await run();
    assert.deepEqual(warnings, []);
    assert.deepEqual(outcomes, [{ ok: true, exitCode: 0, ...summary }]);
    const metrics = await readFile(join(folder, "run.prom"), "utf8");
    assert.match(metrics, /^content_warehouse_published_items\{.*state="loaded"\} 12$/m);
    assert.ok(metrics.includes(`status="200"} ${service.questions.length}\n`), metrics);
    assert.deepEqual((await readdir(folder)).sort(), ["run.prom", "warehouse"]);
    const [start, complete, ...more] = endpoint.posted.map(({ body }) => JSON.parse(body));
    assert.deepEqual(more, []);
    assert.deepEqual([start.eventType, complete.eventType], ["START", "COMPLETE"]);
    assert.equal(start.run.runId, complete.run.runId);
    assert.deepEqual([complete.job.namespace, complete.job.name], ["nights", summary.pipeline]);
    for (const { path, headers } of endpoint.posted) {
      assert.deepEqual([path, headers.authorization], ["/api/v1/lineage", "Bearer KEY"]);
    }
    assert.ok(!JSON.stringify(endpoint.posted).includes(CANARY));
  });

  test("tells OpenLineage of each table: its columns, rows and bytes, where they come from, and its checks", async (t) => {
    const { endpoint, run } = await observed(t);
    const { tables, warehouse, directory } = await run();
    const { outputs, inputs, run: ended } = JSON.parse(endpoint.posted[1]?.body ?? "");
    assert.deepEqual(
      outputs.map((each: { name: string; outputFacets: { outputStatistics: { rowCount: number } } }) => ({
        name: each.name,
        rows: each.outputFacets.outputStatistics.rowCount,
      })),
      tables.map(({ name, rows }) => ({ name: join(warehouse, "current/parquet", name), rows })),
    );
    const { facets, outputFacets } = outputs.find(({ name }: { name: string }) => name.endsWith("/content"));
    const columns = facets.schema.fields.map(({ name, type }: Record<string, string>) => [name, type]);
    const described =
      "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'content' ORDER BY column_index";
    assert.deepEqual(
      columns.map(([name, type]: string[]) => [
        name,
        type === "TIMESTAMPTZ" ? "TIMESTAMP WITH TIME ZONE" : type,
      ]),
      await rowsOf(directory, described),
    );
    const size = "SELECT parquet_bytes FROM run_tables WHERE table_name = 'content'";
    assert.deepEqual([[String(outputFacets.outputStatistics.size)]], await rowsOf(directory, size));
    const traced = Object.entries<{ inputFields: { name: string; field: string }[] }>(
      facets.columnLineage.fields,
    );
    const lineage = traced.flatMap(([column, { inputFields }]) =>
      inputFields.map(({ name, field }) => [column, name, field]),
    );
    const stored =
      "SELECT column_name, resource, path FROM run_lineage WHERE table_name = 'content' ORDER BY ALL";
    assert.deepEqual(lineage.sort(), (await rowsOf(directory, stored)).toSorted());
    const asserted = outputs.flatMap(
      (each: { facets: { dataQualityAssertions?: { assertions: { name: string }[] } } }) =>
        each.facets.dataQualityAssertions?.assertions ?? [],
    );
    const names = [...asserted, ...ended.facets.test.tests].map(({ name }: { name: string }) => name);
    const checks = await rowsOf(directory, "SELECT check_name FROM run_checks");
    assert.deepEqual(names.sort(), checks.map(([name]) => name).sort());
    assert.ok(asserted.length > tables.length / 2);
    assert.ok(inputs.some(({ name }: { name: string }) => name === "dynamic"));
  });
});

test("a run that fails calls onFinish with the reason, keeps the metrics of the last success, and posts FAIL", async (t) => {
  const { service, folder, endpoint, outcomes, run } = await observed(t);
  await run();
  const before = await readFile(join(folder, "run.prom"), "utf8");
  service.script = ({ kind }) => (kind === "list" ? { status: 401 } : undefined);
  const error = await failsWith("source.credentials", run());
  assert.deepEqual(outcomes[1], {
    ok: false,
    code: "source.credentials",
    message: error.message,
    exitCode: 20,
    warehouse: join(folder, "warehouse"),
    run: outcomes[1]?.run,
    outageSince: null,
    pipeline: "small",
  });
  assert.match(String(outcomes[1]?.run), /^000002-/);
  const after = await readFile(join(folder, "run.prom"), "utf8");
  const published = (text: string) => text.split("\n").filter((line) => line.includes("_published_"));
  assert.deepEqual(published(after), published(before));
  assert.match(after, /^content_warehouse_run_exit_code\{.*\} 20$/m);
  assert.match(after, /status="401"\} 1$/m);
  const events = endpoint.posted.map(({ body }) => JSON.parse(body));
  assert.deepEqual(
    events.map(({ eventType }) => eventType),
    ["START", "COMPLETE", "START", "FAIL"],
  );
  assert.equal(events[3].run.facets.errorMessage.message, error.message);
  assert.notEqual(events[3].run.runId, events[1].run.runId);
});

test("observers that fail are a warning each, and the run is published", async (t) => {
  const { folder, endpoint, warnings, run } = await observed(t);
  endpoint.status = 503;
  const { verdict } = await run({
    onFinish: () => {
      throw new Error("the chat is down");
    },
    metricsFile: join(folder, "missing", "run.prom"),
  });
  assert.equal(verdict, "complete");
  assert.equal(warnings.length, 3, warnings.join("\n"));
  const url = `${endpoint.url}/api/v1/lineage`;
  for (const says of [
    "`onFinish` failed: the chat is down;",
    `\`metricsFile\` failed: ${join(folder, "missing", "run.prom")} cannot be written (ENOENT);`,
    `\`openLineage\` failed: ${url} answered with 503;`,
  ]) {
    assert.ok(
      warnings.some((warning) => warning.startsWith(says)),
      `${says}\n${warnings.join("\n")}`,
    );
  }
});

test("a start that is refused while another run is under way is told to nobody", async (t) => {
  const { endpoint, outcomes, run, folder } = await observed(t);
  const [first, second] = await Promise.allSettled([run(), run()]);
  const refused = first.status === "rejected" ? first : second;
  assert.ok(refused.status === "rejected" && refused.reason.code === "run.locked");
  assert.deepEqual(
    outcomes.map(({ exitCode }) => exitCode),
    [0],
  );
  assert.deepEqual(
    endpoint.posted.map(({ body }) => JSON.parse(body).eventType),
    ["START", "COMPLETE"],
  );
  assert.match(await readFile(join(folder, "run.prom"), "utf8"), /run_exit_code\{.*\} 0$/m);
});

test("a run that ends before it has a name tells onFinish and the metrics, and is no event", async (t) => {
  const { endpoint, outcomes, run, folder } = await observed(t);
  await writeFile(join(folder, "warehouse"), "a file");
  await failsWith("config.output", run());
  const [first] = outcomes;
  assert.ok(first?.ok === false && first.run === null);
  assert.deepEqual(endpoint.posted, []);
  assert.match(await readFile(join(folder, "run.prom"), "utf8"), /run_exit_code\{.*\} 2$/m);
});

test("what onFinish leaves under way does not keep the command from ending", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  service.script = () => ({ status: 401 });
  const cwd = await temporaryFolder(t);
  const config = "export default { onFinish: (outcome) => setInterval(() => {}, 1000, outcome) };";
  await writeFile(join(cwd, "content-warehouse.config.mjs"), config);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const { code, stderr } = await program(["run", "nightly"], { cwd, env });
  assert.equal(code, 20, stderr);
});
