import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { readManifest } from "../../src/run/manifest.ts";
import type { RunSummary } from "../../src/run/outcome.ts";
import { contentSetOf } from "../../src/service/loaded-set.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { CONTENT_SET } from "../service/fixture.ts";
import {
  type ExportOptions,
  exportFrom,
  NIGHTLY,
  openPublished,
  publishedIds,
  rowsOf,
  SMALL,
  temporaryFolder,
  treeOf,
} from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

const NIGHT = Date.UTC(2026, 10, 20, 2);

/** The service over a small set that has everything; its answers have one `Date`. */
async function serve(t: TestContext): Promise<Service> {
  const set = contentSetOf({
    ...CONTENT_SET,
    shared: { ...CONTENT_SET.shared, tokens: [{ token: "CANARY-TOK-51c07e9b", user_id: "admin" }] },
  });
  const service = await createService({ data: set, now: () => NIGHT });
  t.after(() => service.close());
  return service;
}

const DESTINATIONS = [
  { name: "Portal", platform: "External" },
  { name: "Shop", platform: "External" },
];

/** The nightly export of everything in the set. */
async function exportAll(t: TestContext, changes: Partial<ExportOptions> = {}): Promise<RunSummary> {
  const { url } = await serve(t);
  return exportFrom({
    url,
    out: await temporaryFolder(t),
    pipelineUrl: NIGHTLY,
    ...changes,
    config: { details: "all", perPage: 2, destinations: DESTINATIONS, ...changes.config },
  });
}

test("a run publishes every table with the same rows in DuckDB and in Parquet, by an independent reader too", async (t) => {
  const { directory, tables, verdict } = await exportAll(t);
  assert.equal(verdict, "complete");
  assert.ok(tables.length > DATA_TABLES.length);
  await using published = await openPublished(directory);
  for (const { name, rows } of tables) {
    const files = (await readdir(join(directory, "parquet", name))).map((file) =>
      join(directory, "parquet", name, file),
    );
    const parquet = `read_parquet(['${files.join("', '")}'])`;
    const columns = await published.rows(`SELECT column_name FROM (DESCRIBE "${name}") ORDER BY ALL`);
    assert.deepEqual(
      await published.rows(`SELECT column_name FROM (DESCRIBE FROM ${parquet}) ORDER BY ALL`),
      columns,
    );
    const cells = columns.map(([column]) => `"${column}"::VARCHAR`).join(", ");
    const one = await published.rows(`SELECT ${cells} FROM "${name}" ORDER BY ALL`);
    assert.deepEqual(await published.rows(`SELECT ${cells} FROM ${parquet} ORDER BY ALL`), one, name);
    assert.equal(one.length, rows, name);
    let read = 0;
    for (const file of files) {
      read += (await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors })).length;
    }
    assert.equal(read, rows, name);
  }
});

test("the manifest lists every published file with its bytes and digest, and says what the run was", async (t) => {
  const summary = await exportAll(t);
  const manifest = await readManifest(summary.directory);
  const files = (await treeOf(summary.directory)).filter(
    (path) => !path.endsWith("/") && path !== "manifest.json",
  );
  assert.deepEqual(manifest.files.map(({ path }) => path).sort(), files);
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = join(summary.directory, path);
    assert.equal((await stat(file)).size, bytes, path);
    assert.equal(
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
      sha256,
      path,
    );
  }
  assert.equal(
    summary.bytesPublished,
    manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  assert.deepEqual(manifest.instance.id, "instance-1");
  assert.deepEqual(
    [manifest.verdict, manifest.reasons, manifest.loaders],
    ["complete", [], ["duckdb", "parquet"]],
  );
  assert.deepEqual(manifest.rows, Object.fromEntries(summary.tables.map(({ name, rows }) => [name, rows])));
});

test("current points at the newest run, earlier runs stay, and nothing is left in staging", async (t) => {
  const service = await Scripted.start(t, itemsOf(7));
  const out = await temporaryFolder(t);
  const first = await exportFrom({ url: service.url, out });
  assert.equal(join(out, await readlink(join(out, "current"))), first.directory);
  const second = await exportFrom({ url: service.url, out });
  assert.equal(join(out, await readlink(join(out, "current"))), second.directory);
  assert.deepEqual([first.sequence, second.sequence], [1, 2]);
  assert.deepEqual(await readdir(join(out, "runs")), [first.run, second.run].sort());
  assert.deepEqual(await readdir(join(out, ".staging")), []);
  assert.equal((await readManifest(second.directory)).previousRun, first.run);
  assert.deepEqual(await publishedIds(first.directory), await publishedIds(second.directory));
});

test("the same responses give the same Parquet bytes, however many threads and requests there are", async (t) => {
  const one = await exportAll(t, { threads: 1, config: { concurrency: 1 } });
  const other = await exportAll(t, { threads: 2, config: { concurrency: 4 } });
  for (const { name } of DATA_TABLES) {
    assert.deepEqual(await parquetDigests(one, name), await parquetDigests(other, name), name);
  }
  for (const mode of ["dynamic", "item", "full"]) {
    const [a, b] = [await rawDocuments(one, mode), await rawDocuments(other, mode)];
    assert.deepEqual(a, b);
    assert.equal(a.length, 5, mode);
  }
});

async function parquetDigests({ directory }: RunSummary, table: string): Promise<string[]> {
  const folder = join(directory, "parquet", table);
  const digests: string[] = [];
  for (const file of (await readdir(folder)).sort()) {
    digests.push(
      `${file} ${createHash("sha256")
        .update(await readFile(join(folder, file)))
        .digest("hex")}`,
    );
  }
  return digests;
}

async function rawDocuments({ directory }: RunSummary, mode: string): Promise<unknown[]> {
  return rowsOf(directory, `FROM '${directory}/raw/${mode}/*.parquet' ORDER BY content_id`);
}

test("without raw documents none are published", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const { directory } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { raw: false },
  });
  assert.deepEqual((await readdir(directory)).sort(), ["manifest.json", "parquet", "warehouse.duckdb"]);
});

test("a pipeline of one loader publishes its files alone, of all tables", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const out = await temporaryFolder(t);
  const only = (loader: string) => new URL(`./${loader}-pipeline.ts`, import.meta.url).href;
  const parquet = await exportFrom({ url: service.url, out, pipelineUrl: only("parquet") });
  assert.deepEqual((await readdir(parquet.directory)).sort(), ["manifest.json", "parquet", "raw"]);
  assert.deepEqual(
    (await readdir(join(parquet.directory, "parquet"))).sort(),
    parquet.tables.map(({ name }) => name).sort(),
  );
  const duckdb = await exportFrom({ url: service.url, out, pipelineUrl: only("duckdb") });
  assert.deepEqual((await readdir(duckdb.directory)).sort(), ["manifest.json", "raw", "warehouse.duckdb"]);
  assert.deepEqual(
    await rowsOf(duckdb.directory, "SELECT DISTINCT parquet_files, parquet_bytes FROM _tables"),
    [["0", "0"]],
  );
  assert.equal((await publishedIds(duckdb.directory)).length, 3);
});

test("a listing without items is published as such", async (t) => {
  const service = await Scripted.start(t, []);
  const summary = await exportFrom({ url: service.url, out: await temporaryFolder(t), pipelineUrl: NIGHTLY });
  assert.deepEqual([summary.verdict, summary.reasons], ["complete", []]);
  assert.deepEqual(await publishedIds(summary.directory), []);
  assert.equal(summary.accounting.listed, 0);
});

test("a destination and a custom field that the service does not have are warnings, in the summary and in _checks", async (t) => {
  const summary = await exportAll(t, {
    config: {
      details: "none",
      destinations: [...DESTINATIONS, { name: "Nowhere", platform: "External" }],
      customFields: ["no such field"],
    },
  });
  assert.deepEqual(
    summary.warnings.map((warning) => warning.replace(/:.*/, "")),
    [
      'There is no destination "Nowhere" on platform "External"',
      'The service knows no custom field "no such field".',
    ],
  );
  const checks = "SELECT verdict, figure, detail FROM _checks WHERE check_name LIKE '%does not have'";
  assert.deepEqual(await rowsOf(summary.directory, `${checks} ORDER BY check_name`), [
    ["warning", "1", "Nowhere"],
    ["warning", "1", "no such field"],
  ]);
});

test("a pipeline of few tables publishes these and the run's own", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const { tables } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    pipelineUrl: SMALL,
  });
  assert.deepEqual(
    tables.map(({ name }) => name).filter((name) => !name.startsWith("_")),
    ["content", "content_events", "content_tags"],
  );
});
