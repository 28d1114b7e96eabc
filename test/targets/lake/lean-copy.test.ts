/** What a lake keeps of published runs, and what an empty disk gets of it. */
import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSION } from "../../../src/common/version.ts";
import type { TargetRun } from "../../../src/pipeline.ts";
import { all, openForReading } from "../../../src/storage/duckdb.ts";
import { claimKey, runFolder } from "../../../src/targets/lake/keys.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import { deliveredRun } from "../../../src/targets/published-run.ts";
import { restoreRun } from "../../../src/targets/restore.ts";
import { DATABASE_FILE, outputFolder, prepareOutput } from "../../../src/warehouse/layout.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { sourceOf } from "../../../src/warehouse/published-tables.ts";
import { findRun, listRuns } from "../../../src/warehouse/retention.ts";
import { verifyRuns } from "../../../src/warehouse/verify-run.ts";
import { fewSampleNights, sampleNights, site } from "../../audit/two-nights.ts";
import { differingTables } from "../../differing-tables.ts";
import { either } from "../../long.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { memoryStore, type Objects } from "./memory-store.ts";

const { signal } = new AbortController();
const { out, folder, night } = await site();

/** Two nights of the sample, delivered. */
const objects: Objects = new Map();
const runs: (TargetRun & { readonly directory: string })[] = [];
for (const data of await either(fewSampleNights, sampleNights)(folder)) {
  await night(data, "nightly");
  const { run, sequence, sha256, directory } = await published(out);
  runs.push({ run, sequence, sha256, directory });
  await deliverFrom(out, memoryStore(objects));
}

function published(warehouse: string) {
  return findRun(outputFolder(warehouse), "current");
}

async function deliverFrom(warehouse: string, store: ReturnType<typeof memoryStore>): Promise<void> {
  const kept = await listRuns(outputFolder(warehouse));
  const options = { runs: kept, temporaryDirectory: folder, signal, onProgress: () => {} };
  await deliver(on(store), await deliveredRun(await published(warehouse), options));
}

/** The run in a warehouse of its own. */
async function restored(run: TargetRun, of: Objects = objects) {
  const warehouse = await mkdtemp(join(folder, "empty-"));
  const place = await prepareOutput(warehouse);
  await restoreRun(place, on(memoryStore(of)) as Parameters<typeof restoreRun>[1], run, signal);
  return { warehouse, directory: join(place.runs, run.run) };
}

/** What a database has besides rows. */
async function schemaOf(directory: string) {
  const file = join(directory, DATABASE_FILE);
  await using database = await openForReading({
    file,
    temporaryDirectory: folder,
    allowedDirectories: [],
    memoryLimitMb: 256,
    threads: 1,
  });
  const asked = [
    "SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY ALL",
    "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal ORDER BY ALL",
    "SELECT view_name, sql, comment FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
    "SELECT function_name, macro_definition, comment FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
    "SELECT * FROM content_wide ORDER BY content_id",
    "SELECT * FROM mapped_value_intervals ORDER BY ALL",
  ];
  const found: unknown[] = [];
  for (const text of asked) found.push(await all(database.connection, text));
  return found;
}

suite("a run that a lake keeps", () => {
  /** Warehouses that got a run each. */
  const warehouses = new Map<string, string>();

  test("has in its copy its manifest, its raw documents and its report alone", () => {
    for (const { run, sha256 = "" } of runs) {
      const copy = runFolder(INSTANCE, run, sha256);
      const paths = [...objects.keys()]
        .filter((key) => key.startsWith(copy))
        .map((key) => key.slice(copy.length));
      assert.ok(paths.includes("manifest.json") && paths.includes("report.html"));
      assert.deepEqual(
        paths.filter((path) => !/^(manifest\.json|report\.html|raw\/.+)$/.test(path)),
        [],
      );
    }
  });

  test("is on an empty disk as it was: files byte by byte, and the database row by row", async () => {
    for (const run of either(runs.slice(-1), runs)) {
      const { warehouse, directory } = await restored(run);
      warehouses.set(run.run, warehouse);
      const { findings } = await verifyRuns(outputFolder(warehouse), { all: true }, folder);
      assert.deepEqual(findings, []);
      const { restored: again, files, ...stated } = await readManifest(directory);
      assert.deepEqual(again, { sha256: run.sha256, version: VERSION });
      const { files: filesThen, ...then } = await readManifest(run.directory);
      assert.deepEqual(stated, then);
      const others = files.filter(({ path }) => path !== DATABASE_FILE);
      assert.equal(others.length + 1, filesThen.length);
      for (const { path } of others) {
        const [one, other] = [run.directory, directory].map((each) => readFile(join(each, path)));
        assert.ok((await one)?.equals((await other) ?? Buffer.alloc(0)), path);
      }
      const tables = Object.keys(then.rows);
      assert.ok(tables.length > 50, `${tables.length}`);
      const [one, other] = [run.directory, directory].map((each) => ({
        tables,
        source: sourceOf({ directory: each, manifest: { ...then, files } }, { isQuestioned: true }),
      }));
      assert.ok(one !== undefined && other !== undefined);
      const compared = { published: one, rebuilt: other, temporaryDirectory: folder };
      assert.deepEqual(await differingTables(compared), []);
      assert.deepEqual(await schemaOf(directory), await schemaOf(run.directory));
    }
  });

  test("is the same run after a restore: it is delivered already, and goes into another lake as itself", async () => {
    const [run] = runs.slice(-1);
    assert.ok(run !== undefined);
    const warehouse = warehouses.get(run.run) ?? assert.fail();
    const { sha256 } = await published(warehouse);
    assert.equal(sha256, run.sha256);
    const other: Objects = new Map();
    await deliverFrom(warehouse, memoryStore(other));
    const last = await on(memoryStore(other)).last(null, signal);
    assert.deepEqual(last, { run: run.run, sequence: run.sequence, sha256 });
    const place = { store: memoryStore(other), instance: INSTANCE, logRetentionDays: 30 };
    assert.deepEqual((await verifyLake(place, undefined)).findings, []);
    // Nothing is new to the first one.
    const keys = objects.size;
    await deliverFrom(warehouse, memoryStore(objects));
    assert.equal(objects.size, keys);
  });

  test("comes back byte by byte from a lake of the version before, which goes on", async () => {
    const [first, second] = runs;
    assert.ok(first !== undefined && second !== undefined);
    const old: Objects = new Map();
    const store = memoryStore(old);
    const options = { runs: [], temporaryDirectory: folder, signal, onProgress: () => {} };
    const night = await deliveredRun(await findRun(outputFolder(out), first.run), options);
    await deliver(on(store), night);
    for (const { path } of night.files) {
      const body = await readFile(join(first.directory, path));
      await store.put(runFolder(INSTANCE, first.run, night.manifest.sha256) + path, body);
    }
    const claim = JSON.parse(String(await store.get(claimKey(INSTANCE, 1))));
    const { published: _, ...before } = { ...claim, claimVersion: 1 };
    await store.put(claimKey(INSTANCE, 1), Buffer.from(JSON.stringify(before)));
    await deliverFrom(out, store);
    const { directory } = await restored(first, old);
    for (const path of [DATABASE_FILE, "manifest.json"]) {
      const [one, other] = [first.directory, directory].map((each) => readFile(join(each, path)));
      assert.ok((await one)?.equals((await other) ?? Buffer.alloc(0)), path);
    }
    for (const { run } of runs) {
      const place = { store, instance: INSTANCE, logRetentionDays: 30 };
      assert.deepEqual((await verifyLake(place, run)).findings, []);
    }
  });
});
