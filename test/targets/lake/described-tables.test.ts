import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openForScanning } from "../../../src/storage/duckdb.ts";
import { writeParquet } from "../../../src/storage/parquet-sql.ts";
import { type Column, date, defineTable, double, text, timestamp } from "../../../src/tables/declare.ts";
import { describeTables } from "../../../src/targets/lake/described-tables.ts";
import { digestOf } from "../../../src/warehouse/verify.ts";
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
    const stated = { path: file.slice(run.directory.length + 1), ...(await digestOf(file)) };
    const tables = [{ ...content, table, rows: values.length, files: [file] }];
    const [described] = await describeTables({ ...run, files: [stated], tables });
    const { min, max, nulls } = described?.files[0]?.statistics[0] ?? {};
    return [min, max, nulls];
  };
  const none = [undefined, undefined, undefined];
  const day = date("at", { comment: "Day.", required: true });
  assert.deepEqual(await rangeOf(day, ["DATE '2020-01-01'", "DATE '2021-12-31'"]), [
    "2020-01-01",
    "2021-12-31",
    0,
  ]);
  assert.deepEqual(await rangeOf(day, ["DATE '2020-01-01'", "DATE '10001-01-01'"]), none);
  assert.deepEqual(await rangeOf(day, ["DATE '2020-01-01'", "DATE 'infinity'"]), none);
  assert.deepEqual(await rangeOf(day, ["DATE '0044-03-15 (BC)'", "DATE '2020-01-01'"]), none);
  const instant = timestamp("at", { comment: "Instant.", required: true });
  assert.deepEqual(
    await rangeOf(instant, [
      "TIMESTAMPTZ '2020-01-01 00:00:00.123456Z'",
      "TIMESTAMPTZ '2020-01-02 00:00:00.123456Z'",
    ]),
    ["2020-01-01T00:00:00.123Z", "2020-01-02T00:00:00.124Z", 0],
  );
  for (const far of [
    "10001-01-01 00:00:00Z",
    "290000-01-01 00:00:00Z",
    "infinity",
    "0044-03-15 (BC) 00:00:00+00",
  ]) {
    const values = ["TIMESTAMPTZ '2020-01-01 00:00:00Z'", `TIMESTAMPTZ '${far}'`];
    assert.deepEqual(await rangeOf(instant, values), none, far);
  }
  const number = double("at", { comment: "Number.", required: true });
  assert.deepEqual(await rangeOf(number, ["-0.5::DOUBLE", "1e300::DOUBLE"]), [-0.5, 1e300, 0]);
  assert.deepEqual(await rangeOf(number, ["1::DOUBLE", "'NaN'::DOUBLE"]), none);
  const name = text("at", { comment: "Name.", required: true });
  const [short, last] = ["🧭".repeat(50), "\u{10FFFF}"];
  assert.deepEqual(await rangeOf(name, [`'a'`, `'${short}'`]), ["a", short, 0]);
  for (const rest of ["b", "\u{10FFFE}", last, `${last}${last}x`, "🧭".repeat(100_000)]) {
    const long = `${"🧭".repeat(100)}${rest}`;
    const [min, max, nulls] = await rangeOf(name, [`'${long}'`]);
    assert.ok(Buffer.compare(Buffer.from(`${min}`), Buffer.from(long)) <= 0, rest);
    assert.ok(Buffer.compare(Buffer.from(long), Buffer.from(`${max}`)) <= 0, rest);
    assert.ok(`${min}`.length <= 200 && `${max}`.length <= 210 && nulls === 0, rest);
  }
});
