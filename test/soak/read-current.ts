/**
 * A reader who never rests: opens what `current` names, and fails where it is not one whole run, or an older one than
 * before. Ends when its input does, and then says how often it looked.
 */
import assert from "node:assert/strict";
import { readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";

const [, , out = "", items = "0"] = process.argv;
/** Leaves the processor to the runs. */
const PAUSE_MS = 250;

let reading = true;
process.stdin.on("end", () => {
  reading = false;
});
process.stdin.resume();

interface Manifest {
  readonly run: string;
  readonly sequence: number;
  readonly rows: Readonly<Record<string, number>>;
}

async function look(): Promise<number> {
  // Resolved once, as readers are told to.
  const directory = join(out, readlinkSync(join(out, "current")));
  const manifest: Manifest = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
  assert.equal(manifest.run, basename(directory));
  const file = join(directory, "warehouse.duckdb");
  const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY", threads: "1" });
  const connection = await instance.connect();
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  try {
    assert.deepEqual(await rows("SELECT run, sequence FROM run"), [[manifest.run, manifest.sequence]]);
    for (const [table, count] of Object.entries(manifest.rows)) {
      assert.deepEqual(await rows(`SELECT count(*)::INTEGER FROM "${table}"`), [[count]], table);
      const files = `'${directory}/parquet/${table}/*.parquet'`;
      assert.deepEqual(await rows(`SELECT count(*)::INTEGER FROM ${files}`), [[count]], table);
    }
    const told = "SELECT table_name, row_count::INTEGER FROM run_tables";
    for (const [table, count] of await rows(told)) assert.equal(manifest.rows[String(table)], count);
    assert.deepEqual(await rows("SELECT count(DISTINCT content_id)::INTEGER FROM content"), [
      [Number(items)],
    ]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  return manifest.sequence;
}

let reads = 0;
let newest = 0;
const seen = new Set<number>();
while (reading) {
  const sequence = await look();
  assert.ok(sequence >= newest, `current went back from run ${newest} to run ${sequence}`);
  newest = sequence;
  seen.add(sequence);
  reads += 1;
  await setTimeout(PAUSE_MS);
}
process.stdout.write(JSON.stringify({ reads, runs: seen.size }));
