/** What must hold of a lake whatever was killed. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { z } from "zod";
import { type LakeView, parquet, type Snapshot } from "./kill-view.ts";

export async function withDuckDB<Result>(
  use: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const database = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await database.connect();
  try {
    return await use(connection);
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

/** The rows of `run_snapshots` by instance and number of the run. */
export function byRun(snapshots: readonly Snapshot[]): readonly (readonly [Snapshot, ...Snapshot[]])[] {
  const runs = new Map<string, [Snapshot, ...Snapshot[]]>();
  for (const each of snapshots) {
    const key = `${each.instance} ${each.sequence}`;
    const there = runs.get(key);
    if (there === undefined) runs.set(key, [each]);
    else there.push(each);
  }
  return [...runs.values()];
}

/** At the versions that the snapshots of a run name each table has the rows of that run: so many, and of no other run. */
export async function assertWholeRun(
  view: LakeView,
  connection: DuckDBConnection,
  snapshots: readonly [Snapshot, ...Snapshot[]],
): Promise<void> {
  const [{ instance, sequence, run }] = snapshots;
  for (const { table, version, rows, ...of } of snapshots) {
    assert.equal(of.run, run, `${instance} ${sequence}: two runs in the snapshots`);
    const place = `${table} at ${version} of ${instance}`;
    const files = view.files(table, instance, version);
    for (const file of files) assert.match(file, new RegExp(`-0*${sequence}-[0-9a-f]{16}\\.parquet$`), place);
    assert.deepEqual(
      await cells(connection, `SELECT count(*)::INTEGER FROM ${parquet(files)}`),
      [[rows]],
      place,
    );
  }
  const { version = -1 } = snapshots.find(({ table }) => table === "run") ?? {};
  const files = view.files("run", instance, version);
  assert.deepEqual(await cells(connection, `SELECT run, sequence::INTEGER FROM ${parquet(files)}`), [
    [run, sequence],
  ]);
}

const claim = z.object({
  run: z.string(),
  sequence: z.number(),
  tables: z.array(z.object({ name: z.string(), files: z.array(z.object({ path: z.string() })) })),
});

/**
 * Of each run that was claimed all tables have exactly the claim's files, in one version, and the snapshots say so; of
 * any other run none has one.
 */
export function assertClaimed(
  folder: string,
  view: LakeView,
  instance: string,
  snapshots: readonly Snapshot[],
): void {
  const claims = claimsOf(folder, instance);
  const sequences = claims.map(({ sequence }) => sequence);
  assert.equal(new Set(sequences).size, sequences.length, `${instance}: a number is claimed twice`);
  const own = snapshots.filter((each) => each.instance === instance);
  assert.deepEqual(
    [...new Set(own.map(({ sequence }) => sequence))],
    sequences,
    `${instance}: claimed, not seen`,
  );
  for (const { run, sequence, tables } of claims) {
    const named = own.filter((each) => each.sequence === sequence);
    assert.deepEqual(
      named.map(({ table }) => table),
      tables
        .filter(({ files }) => files.length > 0)
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const { table, version, ...of } of named) {
      assert.equal(of.run, run);
      const wanted = tables
        .find(({ name }) => name === table)
        ?.files.map(({ path }) => join(folder, table, path));
      assert.deepEqual(view.files(table, instance, version), wanted?.toSorted(), `${table} at ${version}`);
    }
  }
  for (const table of view.tables()) {
    for (const sequence of view.sequences(table, instance))
      assert.ok(sequences.includes(sequence), `${table}: run ${sequence}`);
  }
}

/** Claims of an instance, in order. */
export function claimsOf(folder: string, instance: string): z.infer<typeof claim>[] {
  const place = join(folder, "_published", `instance=${instance}`);
  if (!existsSync(place)) return [];
  const names = readdirSync(place).filter((name) => /^\d+\.json$/.test(name));
  return names.toSorted().map((name) => claim.parse(JSON.parse(readFileSync(join(place, name), "utf8"))));
}

/** Tables of the lake equal those of a run on one machine, value by value. `tables`: undefined for all. */
export async function assertEqualsWarehouse(
  view: LakeView,
  instance: string,
  out: string,
  tables?: readonly string[],
): Promise<void> {
  await withDuckDB(async (connection) => {
    await connection.run(`ATTACH '${join(out, "current", "warehouse.duckdb")}' AS local (READ_ONLY)`);
    const found = await cells(
      connection,
      "SELECT table_name FROM duckdb_tables() WHERE database_name = 'local' AND NOT internal ORDER BY 1",
    );
    const names = tables ?? found.map(([name]) => String(name));
    assert.ok(names.length > 0);
    for (const table of names) await assertSameRows(view, connection, instance, table);
  });
}

async function assertSameRows(
  view: LakeView,
  connection: DuckDBConnection,
  instance: string,
  table: string,
): Promise<void> {
  const files = view.files(table, instance);
  assert.ok(files.length > 0, `${table} is not in the lake`);
  const local = `SELECT * FROM local."${table}"`;
  const lake = `SELECT * FROM ${parquet(files)}`;
  for (const [one, other] of [
    [local, lake],
    [lake, local],
  ]) {
    const sql = `SELECT * FROM (${one}) EXCEPT ALL SELECT * FROM (${other}) LIMIT 1`;
    assert.deepEqual(await cells(connection, sql), [], `${table} of ${instance}`);
  }
}

async function cells(connection: DuckDBConnection, sql: string) {
  return (await connection.runAndReadAll(sql)).getRowsJson();
}
