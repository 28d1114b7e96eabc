/** Small published runs by hand, and what a lake has of them. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { openForScanning } from "../../../src/storage/database.ts";
import { writeParquet } from "../../../src/storage/parquet-sql.ts";
import { quoteLiteral } from "../../../src/storage/sql-text.ts";
import { type Column, defineTable, integer, type Table, text } from "../../../src/tables/declare.ts";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import { activeFiles, type TableState } from "../../../src/targets/lake/delta/state.ts";
import { readDeliveredRun } from "../../../src/targets/published-run.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { runName } from "../../../src/warehouse/layout.ts";
import { writeManifest } from "../../../src/warehouse/manifest.ts";
import { digestFile } from "../../../src/warehouse/verify.ts";
import { ASKED, FOUND, statement } from "../../warehouse/published.ts";
import { storeAt } from "./store-at.ts";

export interface RunOptions {
  readonly sequence: number;
  /** Where it was made: it stands in each row. */
  readonly machine: string;
  /** Rows by table. */
  readonly tables?: Readonly<Record<string, number>>;
  /** Rows by table that are the same in all runs, in a file of their own. */
  readonly steady?: Readonly<Record<string, number>>;
  /** Columns besides `id` and `run`, by table. */
  readonly columns?: Readonly<Record<string, readonly Column[]>>;
  readonly instance?: DeliveredRun["instance"];
  readonly signal?: AbortSignal;
  /** The run that it continues. */
  readonly after?: DeliveredRun;
}

/** The second table has no rows, so its file is the same in all runs of a number. */
export const TABLES = { content: 3, empty: 0, tags: 5 };
export const SERVICE = { id: "id-1", origin: "https://one.example" };
const STARTED = new Date("2026-11-20T02:00:00Z");

/** A published run in a folder of its own: two with one number have one name, as if begun in the same second. */
export async function makeRun(folder: string, options: RunOptions): Promise<DeliveredRun> {
  const { sequence, machine, tables = TABLES, steady = {}, instance = SERVICE } = options;
  const { signal = new AbortController().signal, after } = options;
  const run = runName(sequence, STARTED);
  const directory = join(folder, machine, run);
  const temporaryDirectory = join(folder, "tmp");
  await mkdir(temporaryDirectory, { recursive: true });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "report.html"), `${machine} ${run}`);
  const paths = await writeTables(directory, temporaryDirectory, options);
  const files = [{ path: "report.html", rows: null }, ...paths];
  const manifest = await writeManifest(
    directory,
    {
      ...statement({ run, sequence }, 1),
      ...(after && { previousRun: after.run, previousSha256: after.sha256 }),
      ancestors: (after?.past ?? []).map((each) => `${each.run} ${each.sha256}`),
      loaders: ["parquet"],
      instance,
      asked: { ...ASKED, configuration: machine },
      found: { ...FOUND, startedAt: STARTED.toISOString() },
      endedAt: STARTED.toISOString(),
      rows: Object.fromEntries(
        Object.entries(tables).map(([name, rows]) => [name, rows + (steady[name] ?? 0)]),
      ),
    },
    await Promise.all(
      files.map(async ({ path, rows }) => ({ path, rows, ...(await digestFile(join(directory, path))) })),
    ),
  );
  const { sha256 } = await digestFile(join(directory, "manifest.json"));
  const standing = { current: true };
  const published = { run, sequence, startedAt: STARTED, directory, manifest, sha256, ...standing };
  return readDeliveredRun(published, { runs: [], temporaryDirectory, signal, onProgress: () => {} });
}

async function writeTables(
  directory: string,
  temporaryDirectory: string,
  { sequence, machine, tables = TABLES, steady = {}, columns = {} }: RunOptions,
) {
  await using database = await openForScanning({
    temporaryDirectory,
    allowedDirectories: [directory],
    memoryLimitMb: 64,
    threads: 1,
  });
  const paths: { path: string; rows: number }[] = [];
  const own = Object.entries(tables).map(([name, rows]) => ({ name, rows, by: mark(machine, sequence) }));
  const others = Object.entries(steady).map(([name, rows]) => ({ name, rows, by: STEADY }));
  for (const [part, { name, rows, by }] of [...own, ...others].entries()) {
    const table = declared(name, columns[name] ?? []);
    const more = table.columns.slice(2).map(({ type }) => `, NULL::${type === "text" ? "VARCHAR" : type}`);
    const query = `SELECT range::INTEGER, ${quoteLiteral(by)}${more.join("")} FROM range(${rows})`;
    const names = table.columns.map((column) => column.name).join(", ");
    const numbers = `${String(sequence).padStart(6, "0")}-${String(part).padStart(4, "0")}`;
    const path = join("parquet", name, `${name}-${numbers}.parquet`);
    await writeParquet(database.connection, {
      table,
      query: { text: `SELECT * FROM (${query}) AS made (${names})`, params: [] },
      file: join(directory, path),
    });
    paths.push({ path, rows });
  }
  return paths;
}

function declared(name: string, more: readonly Column[]): Table {
  return defineTable({
    name,
    comment: `Rows of ${name}.`,
    stage: "query",
    key: ["id"],
    columns: [
      integer("id", { comment: "Key.", required: true }),
      text("run", { comment: "Who made it." }),
      ...more,
    ],
  });
}

/** In the place of who made a row. */
export const STEADY = "all";

export function mark(machine: string, sequence: number): string {
  return `${machine} ${sequence}`;
}

/** Rows by `run` column, by table: what a reader of the newest versions sees of an instance. */
export type Seen = Readonly<Record<string, Readonly<Record<string, number>>>>;

export async function seenIn(store: Store, instance: string): Promise<Seen> {
  const seen: Record<string, Record<string, number>> = {};
  for (const table of await tablesIn(store)) {
    const state = await readTable(store, table);
    if (state !== null && table !== "run_snapshots") seen[table] = await runsIn(store, state, instance);
  }
  return seen;
}

export async function tablesIn(store: Store): Promise<string[]> {
  const folders = await store.folders("");
  return folders.map((folder) => folder.slice(0, -1)).filter((name) => !name.startsWith("_"));
}

async function runsIn(store: Store, state: TableState, instance: string): Promise<Record<string, number>> {
  const rows = await rowsOf(store, state, instance);
  const byRun = Map.groupBy(rows, (row) => String(row.run));
  return Object.fromEntries([...byRun].map(([run, of]) => [run, of.length]));
}

/** What a version has of an instance, without a database, which takes longer to open than such files to be read. */
async function rowsOf(store: Store, state: TableState, instance: string) {
  const rows = activeFiles(state, instance).map(async ({ path }) => {
    const body = await store.get(`${state.table}/${path}`);
    assert.ok(body !== null, `${path} is missing`);
    const file = new Uint8Array(body).buffer;
    return await parquetReadObjects({ file, compressors });
  });
  return (await Promise.all(rows)).flat();
}

/** The versions that `run_snapshots` names have the rows of their run, as far as the logs go back. */
export async function assertNothingMixed(store: Store, instance: string): Promise<void> {
  for (const { run, table, version, rows } of await snapshotsIn(store, instance)) {
    const state = await readTable(storeAt(store, table, version), table).catch(() => null);
    if (state?.version !== version) continue;
    const found = await rowsOf(store, state, instance).catch(() => null);
    if (found !== null) assert.equal(found.length, rows, `${table} at ${version}, of ${run}`);
  }
}

export async function snapshotsIn(store: Store, instance: string) {
  const state = await readTable(store, "run_snapshots");
  if (state === null) return [];
  const rows = await rowsOf(store, state, instance);
  return rows.map((row) => ({
    delivery: Number(row.delivery),
    sequence: Number(row.sequence),
    run: String(row.run),
    sha256: String(row.manifest_sha256),
    table: String(row.table_name),
    version: Number(row.table_version),
    rows: Number(row.rows),
  }));
}
