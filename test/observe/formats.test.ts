/** What observers write, byte by byte, without a run. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { metricsFileObserver } from "../../src/observe/metrics-file.ts";
import type { StartedRun } from "../../src/observe/observer.ts";
import { openLineageObserver } from "../../src/observe/open-lineage.ts";
import type { RunPublished } from "../../src/observe/outcome.ts";
import { temporaryFolder } from "../run/running.ts";

const { signal } = new AbortController();

test("metrics escape what would end a label or a line, and leave out those without a sample", async (t) => {
  const file = join(await temporaryFolder(t), "run.prom");
  const warehouse = 'C:\\x"\n';
  const accounting = { listed: 1, loaded: 1, rejected: 0, vanished: 0, unread: 0 };
  const named = { warehouse, run: "1", pipeline: "small" };
  const outcome = { ...named, exitCode: 0, accounting, tables: [], bytesPublished: 7, mappedValues: null };
  const observer = metricsFileObserver(file, { warehouse, startedMs: 0 });
  const content = { tables: [], checks: [] };
  await observer.onEnd({ outcome: outcome as unknown as RunPublished, content, endedMs: 1500 }, signal);
  const text = await readFile(file, "utf8");
  const [help, type, duration] = text.split("\n").slice(6);
  assert.equal(help, "# HELP content_warehouse_run_duration_seconds Time that the last run took.");
  assert.equal(type, "# TYPE content_warehouse_run_duration_seconds gauge");
  assert.equal(duration, 'content_warehouse_run_duration_seconds{warehouse="C:\\\\x\\"\\n"} 1.5');
  assert.match(text, /^content_warehouse_published_bytes\{.*\} 7$/m);
  assert.ok(!text.includes("values_without_external_value"));
});

test("IDs of runs are UUIDs of version 7: the same for the same run, and in the order of the starts", async (t) => {
  const file = join(await temporaryFolder(t), "lineage.ndjson");
  const atMs = Date.UTC(2026, 10, 20, 2);
  const started: StartedRun = {
    run: "1",
    pipeline: "small",
    description: "",
    instance: "sample",
    warehouse: "/srv/warehouse",
    startedMs: atMs,
    personalData: "drop",
    publishes: [],
  };
  const { onStart } = openLineageObserver({ to: { file }, namespace: "nights" });
  for (const changes of [{}, {}, { run: "2" }, { startedMs: atMs + 1 }]) {
    await onStart({ ...started, ...changes }, signal);
  }
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  const [id = "", again, other = "", later = ""] = lines.map((line) => String(JSON.parse(line).run.runId));
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(Number.parseInt(id.replace("-", "").slice(0, 12), 16), atMs);
  assert.equal(again, id);
  assert.notEqual(other, id);
  assert.ok(later > other);
});
