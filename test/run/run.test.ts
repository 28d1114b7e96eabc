import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, readlink, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { removeTree } from "../../src/common/tree.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { assembleContentSet } from "../../src/service/load.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { DATA_TABLES, isRunTable } from "../../src/tables/all.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { long } from "../long.ts";
import { CONTENT_SET } from "../service/fixture.ts";
import {
  CANARY,
  exportFrom,
  NIGHTLY,
  openPublished,
  publishedIds,
  rowsOf,
  scriptedWorld,
  temporaryFolder,
  treeOf,
} from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

/** The service over a small set that has everything; its answers have one `Date`. */
async function serve(): Promise<Service> {
  const tokens = [{ token: CANARY, user_id: "admin" }];
  const set = assembleContentSet({ ...CONTENT_SET, tokens });
  return createService({ data: set, now: () => Date.UTC(2026, 10, 20, 2) });
}

suite("two nightly runs over a set that has everything, with more threads and requests the first time", () => {
  let out: string;
  let service: Service;
  let first: RunSummary;
  let second: RunSummary;

  before(async () => {
    out = await mkdtemp(join(tmpdir(), "run-"));
    service = await serve();
    const config = {
      details: "all",
      perPage: 2,
      rereadDays: 0,
      destinations: ["Portal", "Shop"].map((name) => ({ name, platform: "External" })),
      customFields: ["no such field"],
    } as const;
    const common = { url: service.url, out, pipelineUrl: NIGHTLY };
    first = await exportFrom({ ...common, threads: 2, config: { ...config, concurrency: 4 } });
    second = await exportFrom({ ...common, config: { ...config, concurrency: 1 } });
  });

  after(async () => {
    await service.close();
    await removeTree(out);
  });

  test("publish every table with the same rows in DuckDB and in Parquet, by an independent reader too", async () => {
    const { directory, rows: counts, verdict } = first;
    assert.equal(verdict, "complete");
    assert.ok(Object.keys(counts).length > DATA_TABLES.length);
    await using published = await openPublished(directory);
    for (const [name, rows] of Object.entries(counts)) {
      const folder = join(directory, "parquet", name);
      const files = (await readdir(folder)).map((file) => join(folder, file));
      const parquet = `read_parquet(['${files.join("', '")}'])`;
      const columns = await published.rows(`SELECT column_name FROM (DESCRIBE "${name}") ORDER BY ALL`);
      const inParquet = `SELECT column_name FROM (DESCRIBE FROM ${parquet}) ORDER BY ALL`;
      assert.deepEqual(await published.rows(inParquet), columns);
      const cells = columns.map(([column]) => `"${column}"::VARCHAR`).join(", ");
      const inDuckdb = await published.rows(`SELECT ${cells} FROM "${name}" ORDER BY ALL`);
      assert.deepEqual(await published.rows(`SELECT ${cells} FROM ${parquet} ORDER BY ALL`), inDuckdb, name);
      assert.equal(inDuckdb.length, rows, name);
      let read = 0;
      for (const file of files) {
        read += (await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors })).length;
      }
      assert.equal(read, rows, name);
    }
  });

  test("list every published file in the manifest, with its bytes and digest, and say what the run was", async () => {
    const manifest = await readManifest(first.directory);
    const files = (await treeOf(first.directory)).filter((path) => !/(\/|^manifest\.json)$/.test(path));
    assert.deepEqual(manifest.files.map(({ path }) => path).sort(), files);
    for (const { path, bytes, sha256 } of manifest.files) {
      const file = join(first.directory, path);
      assert.equal((await stat(file)).size, bytes, path);
      assert.equal(await digest(file), sha256, path);
    }
    assert.equal(
      first.bytesPublished,
      manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    assert.deepEqual(manifest.instance, { id: "instance-1", origin: service.url });
    assert.deepEqual([manifest.verdict, manifest.reasons], ["complete", []]);
    assert.deepEqual(manifest.loaders, ["duckdb", "parquet"]);
    assert.deepEqual(manifest.rows, first.rows);
  });

  test("leave current at the newest, keep the earlier one, and leave nothing in staging", async () => {
    assert.equal(join(out, await readlink(join(out, "current"))), second.directory);
    assert.deepEqual([first.sequence, second.sequence], [1, 2]);
    assert.deepEqual(await readdir(join(out, "runs")), [first.run, second.run].sort());
    assert.deepEqual(await readdir(join(out, ".staging")), []);
    assert.equal((await readManifest(second.directory)).previousRun, first.run);
    assert.equal((await readManifest(first.directory)).previousRun, null);
  });

  test("give the same Parquet bytes of every data table, and the same raw documents", async () => {
    // The history names the run, and the second carries on that of the first.
    for (const { name } of DATA_TABLES.filter(({ stage }) => stage !== "history")) {
      assert.deepEqual(await parquetDigests(second, name), await parquetDigests(first, name), name);
    }
    for (const mode of ["dynamic", "item", "full"]) {
      const [one, other] = [await rawDocuments(first, mode), await rawDocuments(second, mode)];
      assert.deepEqual(one, other);
      assert.equal(one.length, CONTENT_SET.documents.length, mode);
    }
  });

  test("warn of what the service does not have, in the summary and in run_checks", async () => {
    assert.deepEqual(first.warnings, ['The service knows no custom field "no such field".']);
    const checks = "SELECT verdict, figure, detail FROM run_checks WHERE check_name LIKE '%does not have'";
    assert.deepEqual(await rowsOf(first.directory, `${checks} ORDER BY check_name`), [
      ["passed", "0", ""],
      ["warning", "1", "no such field"],
    ]);
  });
});

async function digest(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** Of a table's files by their bucket; the rest of their names is the number of the run. */
async function parquetDigests({ directory }: RunSummary, table: string): Promise<string[]> {
  const folder = join(directory, "parquet", table);
  const files = (await readdir(folder)).sort();
  return Promise.all(
    files.map(async (file) => `${file.slice(-"0000.parquet".length)} ${await digest(join(folder, file))}`),
  );
}

async function rawDocuments({ directory }: RunSummary, mode: string): Promise<unknown[]> {
  return rowsOf(directory, `FROM '${directory}/raw/${mode}/*.parquet' ORDER BY content_id`);
}

test("without raw documents none are published", async (t) => {
  const { exported } = await scriptedWorld(t, itemsOf(3));
  const { directory } = await exported({ config: { raw: false } });
  assert.deepEqual((await readdir(directory)).sort(), ["manifest.json", "parquet", "warehouse.duckdb"]);
});

long("a pipeline of one loader publishes its files alone, of its tables and the run's own", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const common = { url: service.url, out: await temporaryFolder(t) };
  const only = (loader: string) => new URL(`./${loader}-pipeline.ts`, import.meta.url).href;
  const parquet = await exportFrom({ ...common, pipelineUrl: only("parquet") });
  assert.deepEqual((await readdir(parquet.directory)).sort(), ["manifest.json", "parquet", "raw"]);
  const tables = Object.keys(parquet.rows).sort();
  assert.deepEqual((await readdir(join(parquet.directory, "parquet"))).sort(), tables);
  assert.deepEqual(
    tables.filter((name) => !isRunTable(name)),
    ["content", "content_events", "content_tags"],
  );
  const config = { acceptPipeline: true };
  const duckdb = await exportFrom({ ...common, config, pipelineUrl: only("duckdb") });
  assert.deepEqual((await readdir(duckdb.directory)).sort(), ["manifest.json", "raw", "warehouse.duckdb"]);
  const parquetFiles = "SELECT DISTINCT parquet_files, parquet_bytes FROM run_tables";
  assert.deepEqual(await rowsOf(duckdb.directory, parquetFiles), [["0", "0"]]);
  assert.equal((await publishedIds(duckdb.directory)).length, 3);
});
