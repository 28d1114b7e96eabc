/**
 * `run_snapshots`: which version of each table has which run. It is committed last, so a run that stands in it is whole,
 * and whoever needs all tables of one moment reads the versions that it names. A table that waits for its owner has no row
 * of the run, and each row of the run names it. Each instance has one file with all its
 * runs, written anew each time: a file for each run would be a hundred thousand after a year of 300 instances.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { PARQUET_TYPES } from "../../storage/ddl.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet, writeParquet } from "../../storage/parquet-sql.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { bigint, defineTable, json, text } from "../../tables/declare.ts";
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
      comment:
        "Number that the run was delivered under: its own, or after a rollback or a removal a later one.",
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
    json("missing_tables", {
      comment:
        "Tables that do not have the run, because another program gave them what is not written; they have no row of it. NULL: all have it.",
    }),
  ],
});

/** What `run_snapshots` says of a run. */
export interface Snapshot {
  /** By table: a version at which the instance has the rows of the run. */
  readonly versions: ReadonlyMap<string, number>;
  /** Names of tables that do not have the run. */
  readonly missing: readonly string[];
}

/** Number of the last run of an instance that all tables have; 0: none. */
export async function snapshotSequence(store: Store, instance: string): Promise<number> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return state === null ? 0 : (sequenceOf(state, instance) ?? 0);
}

/**
 * Adds a run to the rows of its instance, once all tables have it that can; said again, adds the tables that have it now.
 * Gives the version; null: a later run of the instance is there.
 */
export async function commitSnapshot(
  { store, logRetentionDays: retentionDays }: { readonly store: Store; readonly logRetentionDays: number },
  claim: Claim,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<number | null> {
  const { instance, sequence } = claim;
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  const there = state?.transactions.get(instance);
  const revises = there?.sequence === sequence ? there.version : undefined;
  if (revises !== undefined && !lacksTables(state, claim)) return revises;
  return inScratch(async (connection, folder) => {
    const before = await downloadRows(store, state, instance, folder);
    const known = await snapshotIn(connection, before, claim);
    const made = known.versions.size === 0 ? snapshot : joined(known, snapshot);
    if (revises !== undefined && known.versions.size === made.versions.size) return revises;
    const file = join(folder, "new.parquet");
    const query = { text: queryOf(before, claim, made), params: [] };
    const rows = await writeParquet(connection, { table: RUN_SNAPSHOTS, query, file });
    const content = await digestOf(file);
    const path = filePath(instance, RUN_SNAPSHOTS.name, sequence, content.sha256);
    await store.upload(`${RUN_SNAPSHOTS.name}/${path}`, file, content);
    const replacement = {
      ...claim,
      table: RUN_SNAPSHOTS,
      files: [{ path, bytes: content.bytes, rows, statistics: [] }],
      retentionDays,
      revises,
      also: made.missing.length === 0 ? [] : [lackingId(instance)],
    };
    return commitReplacement(store, replacement, signal);
  });
}

/** Of the `txn` beside an instance's own that has the number of its last run which a table did not have. */
function lackingId(instance: string): string {
  return `${instance}/missing_tables`;
}

/** Whether a table did not have the run when it was added; its rows say whether that is so still. */
export function lacksTables(state: TableState | null, { instance, sequence }: Claim): boolean {
  return state?.transactions.get(lackingId(instance))?.sequence === sequence;
}

/** Two that were found of one run, by processes of which each may have brought it to other tables. */
function joined(one: Snapshot, other: Snapshot): Snapshot {
  return {
    versions: new Map([...one.versions, ...other.versions]),
    missing: other.missing.filter((table) => one.missing.includes(table)),
  };
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

/** The rows of other runs so far and those of the claim; tables that the run does not have are in it too, without files. */
function queryOf(
  before: readonly string[],
  { sequence, run, verdict, tables }: Claim,
  { versions, missing }: Snapshot,
): string {
  const names = missing.length === 0 ? "NULL" : quoteLiteral(JSON.stringify(missing));
  const rows = tables.flatMap(({ name, files }) => {
    const version = versions.get(name);
    if (files.length === 0 || version === undefined) return [];
    const texts = [run, verdict, name].map(quoteLiteral).join(", ");
    return [`SELECT ${sequence}, ${texts}, ${version}, ${rowsIn(files)}, ${names}`];
  });
  const others = `SELECT * FROM (${rowsOf(before)}) WHERE sequence <> ${sequence}`;
  return `SELECT * FROM (${[others, ...rows].join(" UNION ALL ")}) ORDER BY sequence, table_name`;
}

/** A query of the rows of files, which other programs may have given columns, and an earlier one may lack some. */
function rowsOf(files: readonly string[]): string {
  const columns = RUN_SNAPSHOTS.columns.map(({ name, type }) => `NULL::${PARQUET_TYPES[type]} AS ${name}`);
  const none = `SELECT ${columns.join(", ")} WHERE false`;
  const all = [none, ...files.map((file) => `SELECT * FROM ${readParquet([file])}`)];
  const names = RUN_SNAPSHOTS.columns.map(({ name }) => name).join(", ");
  return `SELECT ${names} FROM (${all.join(" UNION ALL BY NAME ")})`;
}

/** What `run_snapshots` says of a claim's run. No versions: it is not finished, or every table lacks it. */
export async function snapshotOf(store: Store, claim: Claim): Promise<Snapshot> {
  const state = await readTable(store, RUN_SNAPSHOTS.name);
  return inScratch(async (connection, folder) => {
    const found = await snapshotIn(
      connection,
      await downloadRows(store, state, claim.instance, folder),
      claim,
    );
    const isOfNone = found.versions.size === 0 && lacksTables(state, claim);
    return isOfNone ? { ...found, missing: claim.tables.map(({ name }) => name) } : found;
  });
}

async function snapshotIn(
  connection: DuckDBConnection,
  files: readonly string[],
  { sequence }: Claim,
): Promise<Snapshot> {
  const found = await all(connection, `SELECT * FROM (${rowsOf(files)}) WHERE sequence = ${sequence}`);
  const missing = found[0]?.missing_tables ?? null;
  return {
    versions: new Map(found.map((row) => [String(row.table_name), toSafeInteger(row.table_version ?? null)])),
    missing: missing === null ? [] : names.parse(JSON.parse(String(missing))),
  };
}

const names = z.array(z.string());
