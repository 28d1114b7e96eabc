/**
 * `run_snapshots`: which version of each table has which run. It is committed last, so a run that stands in it is whole,
 * and whoever needs all tables of one moment reads the versions that it names. Each instance has one file with all its
 * runs, written anew each time: a file for each run would be a hundred thousand after a year of 300 instances.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet, writeParquet } from "../../storage/parquet-sql.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { bigint, defineTable, text } from "../../tables/declare.ts";
import { digestOf } from "../../warehouse/verify.ts";
import type { Store } from "../store/store.ts";
import { type Claim, rowsIn } from "./claim.ts";
import { commitReplacement } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { filesOf, sequenceOf, type TableState } from "./delta/state.ts";
import { filePath } from "./keys.ts";
import { inScratch } from "./scratch.ts";

export const RUN_SNAPSHOTS = defineTable({
  name: "run_snapshots",
  comment:
    "Version of each table that has a run of an instance: one row for each table of each delivered run.",
  stage: "run",
  key: ["sequence", "table_name"],
  columns: [
    bigint("sequence", {
      comment: "Number that the run was delivered under: its own, or after a rollback a later one.",
      required: true,
    }),
    text("run", { comment: "Name of the run.", required: true }),
    text("verdict", { comment: "Verdict of the run: complete or unsettled.", required: true }),
    text("table_name", { comment: "Table.", required: true }),
    bigint("table_version", {
      comment: "A version of the table at which the instance has the rows of this run.",
      required: true,
    }),
    bigint("rows", { comment: "Rows of the run in the table.", required: true }),
  ],
});

/** Number of the last run of an instance that all tables have; 0: none. */
export async function snapshotSequence(store: Store, instance: string): Promise<number> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return state === null ? 0 : (sequenceOf(state, instance) ?? 0);
}

/**
 * Adds a run to the rows of its instance, once all tables have it. `versions`: by table of the claim. Gives the version;
 * null: a later run of the instance is there.
 */
export async function commitSnapshot(
  { store, logRetentionDays: retentionDays }: { readonly store: Store; readonly logRetentionDays: number },
  claim: Claim,
  versions: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<number | null> {
  const { instance, sequence } = claim;
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  const there = state?.transactions.get(instance);
  if (there?.sequence === sequence) return there.version;
  return inScratch(async (connection, folder) => {
    const before = await downloadRows(store, state, instance, folder);
    const file = join(folder, "new.parquet");
    const query = { text: queryOf(before, claim, versions), params: [] };
    const rows = await writeParquet(connection, { table: RUN_SNAPSHOTS, query, file });
    const content = await digestOf(file);
    const path = filePath(instance, RUN_SNAPSHOTS.name, sequence, content.sha256);
    await store.upload(`${RUN_SNAPSHOTS.name}/${path}`, file, content);
    const files = [{ path, bytes: content.bytes, rows, statistics: [] }];
    return commitReplacement(store, { ...claim, table: RUN_SNAPSHOTS, files, retentionDays }, signal);
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

/** The rows so far and those of the claim; tables that the run does not have are in it too, without files. */
function queryOf(
  before: readonly string[],
  { sequence, run, verdict, tables }: Claim,
  versions: ReadonlyMap<string, number>,
): string {
  const columns = RUN_SNAPSHOTS.columns.map(({ name }) => name).join(", ");
  const rows = tables
    .filter(({ files }) => files.length > 0)
    .map(({ name, files }) => {
      const texts = [run, verdict, name].map(quoteLiteral).join(", ");
      return `(${sequence}::BIGINT, ${texts}, ${versions.get(name) ?? 0}::BIGINT, ${rowsIn(files)}::BIGINT)`;
    });
  const earlier = before.length === 0 ? "" : `UNION ALL SELECT ${columns} FROM ${readParquet(before)}`;
  return `FROM (VALUES ${rows.join(", ")} ${earlier}) AS snapshots (${columns}) ORDER BY sequence, table_name`;
}

/** By table: a version at which the instance has the claim's files. Empty: the run is not finished. */
export async function snapshotVersions(
  store: Store,
  { instance, sequence }: Claim,
): Promise<ReadonlyMap<string, number>> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return inScratch(async (connection, folder) => {
    const files = await downloadRows(store, state, instance, folder);
    if (files.length === 0) return new Map();
    const rows = `SELECT table_name, table_version FROM ${readParquet(files)} WHERE sequence = ${sequence}`;
    const found = await all(connection, rows);
    return new Map(found.map((row) => [String(row.table_name), toSafeInteger(row.table_version ?? null)]));
  });
}
