/**
 * `run_snapshots`: which version of each table has which run. It is committed last, so a run that stands in it is whole,
 * and whoever needs all tables of one moment reads the versions that it names. Each instance has one file with all its
 * runs, written anew each time: a file for each run would be a hundred thousand after a year of 300 instances.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { all, openForScanning, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet, writeParquet } from "../../storage/parquet-sql.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { bigint, defineTable, REQUIRED, text } from "../../tables/declare.ts";
import { digestOf } from "../../warehouse/verify.ts";
import type { Store } from "../store/store.ts";
import type { Claim } from "./claim.ts";
import { commitReplacement } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { filesOf, sequenceOf, type TableState } from "./delta/state.ts";
import type { CommitOutcome } from "./delta/table.ts";
import { filePath } from "./keys.ts";
import { withFolder } from "./temporary.ts";

export const RUN_SNAPSHOTS = defineTable({
  name: "run_snapshots",
  comment:
    "Version of each table that has a run of an instance: one row for each table of each delivered run.",
  stage: "run",
  key: ["sequence", "table_name"],
  columns: [
    bigint("sequence", "", "Number of the run.", REQUIRED),
    text("run", "", "Name of the run.", REQUIRED),
    text("verdict", "", "Verdict of the run: complete or unsettled.", REQUIRED),
    text("table_name", "", "Table.", REQUIRED),
    bigint(
      "table_version",
      "",
      "A version of the table at which the instance has the rows of this run.",
      REQUIRED,
    ),
    bigint("rows", "", "Rows of the run in the table.", REQUIRED),
  ],
});

const LIMITS = { memoryLimitMb: 128, threads: 1 };

/** Number of the last run of an instance that all tables have; 0: none. */
export async function snapshotSequence(store: Store, instance: string): Promise<number> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return state === null ? 0 : (sequenceOf(state, instance) ?? 0);
}

/** Adds a run to the rows of its instance, once all tables have it. `versions`: by table of the claim. */
export async function commitSnapshot(
  { store, logRetentionDays }: { readonly store: Store; readonly logRetentionDays: number },
  claim: Claim,
  versions: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<CommitOutcome> {
  const { instance, sequence, run, attempt, atMs } = claim;
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  const there = state?.transactions.get(instance);
  if (there?.sequence === sequence) return { kind: "done", version: there.version };
  return withFolder(async (folder) => {
    const before = await downloadRows(store, state, instance, folder);
    const file = join(folder, "new.parquet");
    const rows = await write(folder, file, before, rowsOf(claim, versions));
    const content = await digestOf(file);
    const path = filePath(instance, RUN_SNAPSHOTS.name, sequence, content.sha256);
    await store.upload(`${RUN_SNAPSHOTS.name}/${path}`, file, content);
    const files = [{ path, bytes: content.bytes, rows, range: null }];
    const replacement = {
      table: RUN_SNAPSHOTS,
      instance,
      sequence,
      run,
      files,
      attempt,
      atMs,
      retentionDays: logRetentionDays,
    };
    return commitReplacement(store, replacement, signal);
  });
}

/** The rows so far, as files in the folder. */
async function downloadRows(
  store: Store,
  state: TableState | null,
  instance: string,
  folder: string,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { path } of state === null ? [] : filesOf(state, instance)) {
    const bytes = await store.get(`${RUN_SNAPSHOTS.name}/${path}`);
    // Whoever removed it took the past runs with it; this one goes on.
    if (bytes === null) continue;
    const file = join(folder, `${files.length}.parquet`);
    await writeFile(file, bytes);
    files.push(file);
  }
  return files;
}

async function write(
  folder: string,
  file: string,
  before: readonly string[],
  rows: readonly string[],
): Promise<number> {
  await using database = await openForScanning({
    temporaryDirectory: folder,
    allowedDirectories: [folder],
    ...LIMITS,
  });
  const columns = RUN_SNAPSHOTS.columns.map(({ name }) => name).join(", ");
  const earlier = before.length === 0 ? [] : [`SELECT ${columns} FROM ${readParquet(before)}`];
  const added = `FROM (VALUES ${rows.join(", ")}) AS added (${columns})`;
  const typed = [
    `SELECT sequence::BIGINT, run, verdict, table_name, table_version::BIGINT, rows::BIGINT ${added}`,
  ];
  const query = `SELECT * FROM (${[...typed, ...earlier].join(" UNION ALL ")}) AS snapshots (${columns}) ORDER BY sequence, table_name`;
  return await writeParquet(database.connection, {
    table: RUN_SNAPSHOTS,
    query: { text: query, params: [] },
    file,
  });
}

/** Tables that the run does not have are in the claim too, without files. */
function rowsOf({ sequence, run, verdict, tables }: Claim, versions: ReadonlyMap<string, number>): string[] {
  const place = [sequence, quoteLiteral(run), quoteLiteral(verdict)];
  return tables.flatMap(({ name, files }) => {
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    return files.length === 0
      ? []
      : [`(${[...place, quoteLiteral(name), versions.get(name) ?? 0, rows].join(", ")})`];
  });
}

/** By table: a version at which the instance has the claim's files. Empty: the run is not finished. */
export async function snapshotVersions(
  store: Store,
  { instance, sequence }: Claim,
): Promise<ReadonlyMap<string, number>> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return withFolder(async (folder) => {
    const files = await downloadRows(store, state, instance, folder);
    if (files.length === 0) return new Map();
    await using database = await openForScanning({
      temporaryDirectory: folder,
      allowedDirectories: [folder],
      ...LIMITS,
    });
    const found = await all(
      database.connection,
      `SELECT table_name, table_version FROM ${readParquet(files)} WHERE sequence = ${sequence}`,
    );
    return new Map(found.map((row) => [String(row.table_name), toSafeInteger(row.table_version ?? null)]));
  });
}
