import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { openLoaderTable } from "../../src/load/loader-tables.ts";
import { defineTable, integer, timestamp } from "../../src/tables/declare.ts";
import { temporaryFolder } from "../run/running.ts";

test("loaders get instants exactly, however far from today", async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, "instants.parquet");
  const instants = [0, -1, 1_795_140_000_123_456, 253_402_300_799_999_999n, -62_167_219_199_999_999n, null];
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  await connection.run(`COPY (
    SELECT n, (make_timestamp(us)::VARCHAR || '+00')::TIMESTAMPTZ AS seen_at
    FROM (VALUES ${instants.map((instant, n) => `(${n}, ${instant ?? "NULL"})`).join(", ")}) AS given(n, us)
  ) TO '${file}'`);
  connection.closeSync();
  instance.closeSync();
  const table = defineTable({
    name: "instants",
    comment: "Instants.",
    stage: "query",
    key: ["n"],
    columns: [
      integer("n", { comment: "Number.", required: true }),
      timestamp("seen_at", { comment: "Instant." }),
    ],
  });
  const load = openLoaderTable({
    table,
    rows: instants.length,
    files: [file],
    temporaryDirectory: folder,
  });
  assert.deepEqual(
    await Array.fromAsync(load.cells()),
    instants.map((instant, n) => [n, instant]),
  );
  const [batch] = await Array.fromAsync(load.batches());
  const { values } = batch?.getChildAt(1)?.data[0] ?? assert.fail("there is no column");
  assert.deepEqual(
    [...values],
    instants.map((instant) => BigInt(instant ?? 0)),
  );
});
