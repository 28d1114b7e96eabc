import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openForScanning } from "../../../src/storage/duckdb.ts";
import { writeParquet } from "../../../src/storage/parquet-sql.ts";
import { type Column, defineTable, double, integer, text } from "../../../src/tables/declare.ts";
import { describeTables } from "../../../src/targets/lake/delivery-tables.ts";
import { digestFile } from "../../../src/warehouse/verify.ts";
import { temporaryFolder } from "../../folders.ts";
import { makeRun } from "./runs.ts";

test("statistics never leave out a row that a file has", async (t) => {
  const folder = await temporaryFolder(t);
  const run = await makeRun(folder, { sequence: 1, machine: "a", tables: { content: 1 } });
  const [content] = run.tables;
  assert.ok(content !== undefined);
  /** Of the key, `at`, in one file. */
  const rangeOf = async (column: Column, values: readonly string[]) => {
    const table = defineTable({
      name: "moments",
      comment: "x",
      stage: "query",
      key: ["at"],
      columns: [column],
    });
    const [temporaryDirectory, file] = [
      join(folder, "tmp"),
      join(run.directory, `${crypto.randomUUID()}.parquet`),
    ];
    await mkdir(temporaryDirectory, { recursive: true });
    await using database = await openForScanning({
      temporaryDirectory,
      allowedDirectories: [run.directory],
      memoryLimitMb: 64,
      threads: 1,
    });
    const rows = values.map((value) => `(${value})`).join(", ");
    const query = { text: `SELECT * FROM (VALUES ${rows}) AS made ("at")`, params: [] };
    await writeParquet(database.connection, { table, query, file });
    const stated = { path: file.slice(run.directory.length + 1), ...(await digestFile(file)) };
    const tables = [{ ...content, table, rows: values.length, files: [file] }];
    const [described] = await describeTables({ ...run, files: [stated], tables });
    const { min, max } = described?.files[0]?.bounds ?? {};
    return [min, max];
  };
  const none = [undefined, undefined];
  const name = text("at", { comment: "Name.", required: true });
  const number = integer("at", { comment: "Number.", required: true });
  const long = "x".repeat(101);
  for (const [column, values, expected] of [
    [name, ["'b'", "'a'", `'${long.slice(1)}'`], ["a", long.slice(1)]],
    [name, ["'a'", `'${long}'`], none],
    [number, ["3", "-1"], [-1, 3]],
    [double("at", { comment: "Number.", required: true }), ["1::DOUBLE", "'NaN'::DOUBLE"], none],
  ] as const)
    assert.deepEqual(await rangeOf(column, values), expected, values.join());
});
