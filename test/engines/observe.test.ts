/** What others are told of a run, read by the models of the standards: Prometheus, OpenLineage, OpenTelemetry. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { program } from "../cli/running.ts";
import { Endpoint } from "../observe/observing.ts";
import { CANARY } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { OBSERVERS, pythonWith } from "./python.ts";

const SMALL_PIPELINE = packagePath("test/run/small-pipeline.ts");

let python: string;
let folder: string;
let summary: RunSummary;

interface Sample {
  readonly type: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

before(async () => {
  python = await pythonWith(OBSERVERS);
  folder = await mkdtemp(join(tmpdir(), "observe-"));
  const config = join(folder, "config.json");
  await writeFile(config, '{"metricsFile":"run.prom"}');
  const args = [
    "run",
    "nightly",
    "--sample",
    "--json",
    "--config",
    config,
    "--warehouse",
    join(folder, "warehouse"),
  ];
  const ran = await program(args);
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(!ran.stderr.includes("failed"), ran.stderr);
  summary = JSON.parse(ran.stdout);
});

after(() => removeTree(folder));

/** What a script of this folder prints of a text; a script that fails is a failure. */
function read(script: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, [packagePath(`test/engines/${script}`)], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(text);
  });
}

test("Prometheus' parser reads the metrics of the sample, and they are those of the summary", async () => {
  const metrics = await readFile(join(folder, "run.prom"), "utf8");
  const samples: readonly Sample[] = JSON.parse(await read("prometheus.py", metrics));
  assert.deepEqual([...new Set(samples.map(({ type }) => type))], ["gauge"]);
  const figures = new Map(
    samples.map(({ name, labels: { warehouse, ...labels }, value }) => {
      assert.equal(warehouse, summary.warehouse);
      return [[name.replace("content_warehouse_", ""), ...Object.values(labels)].join(" "), value];
    }),
  );
  const { items, bytesPublished, found, run, pipeline } = summary;
  for (const [name, value] of [
    ["run_exit_code", 0],
    ["run_requests 200", found.requests.count],
    ["run_requests 429", 0],
    ["run_received_bytes", found.requests.bytes],
    ["published_verdict complete", 1],
    ["published_verdict unsettled", 0],
    ["published_items loaded", items.loaded],
    ["published_items rejected", items.rejected],
    ["published_rejects", 0],
    ["published_bytes", bytesPublished],
  ] as const) {
    assert.equal(figures.get(name), value, name);
  }
  assert.ok([...figures.keys()].some((name) => name.startsWith(`published_info ${run} ${pipeline} `)));
  const { unmapped, unknown } = summary.mappedValues ?? {};
  const without = (status: string) =>
    [...figures]
      .filter(([name]) => name.startsWith(`published_values_without_external_value ${status} `))
      .reduce((sum, [, value]) => sum + value, 0);
  assert.deepEqual([without("unmapped"), without("unknown_value")], [unmapped, unknown]);
  assert.ok((figures.get("published_values_without_external_value unmapped receiving") ?? 0) > 0);
  assert.ok(Math.abs((figures.get("published_timestamp_seconds") ?? 0) - Date.now() / 1000) < 600);
});

for (const [example, variable, script, published, failed] of [
  ["open-lineage", "OPENLINEAGE_URL", "lineage.py", "COMPLETE", "FAIL"],
  ["open-telemetry", "OTEL_EXPORTER_OTLP_ENDPOINT", "otlp.py", "STATUS_CODE_UNSET", "STATUS_CODE_ERROR"],
] as const) {
  test(`the standard's own models have a place for all that ${example}.ts posts`, async (t) => {
    const endpoint = await Endpoint.start(t);
    const service = await Scripted.start(t, itemsOf(3));
    const config = packagePath(`docs/examples/${example}.mts`);
    const warehouse = join(folder, example);
    const args = ["run", SMALL_PIPELINE, "--config", config, "--warehouse", warehouse];
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, [variable]: endpoint.url };
    assert.equal((await program(args, { env })).code, 0);
    service.script = () => ({ status: 401 });
    assert.equal((await program(args, { env })).code, 20);
    const bodies = endpoint.posted.map(({ body }) => `${body}\n`).join("");
    const words = (await read(script, bodies)).trim().split("\n");
    assert.deepEqual(words, [published, failed]);
  });
}
