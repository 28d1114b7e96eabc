import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { readParquet } from "../../src/storage/parquet-sql.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../../src/storage/sql-text.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";
import { Scratch } from "./parquet/scratch.ts";

const HOSTILE = [
  `"; DROP TABLE x; --`,
  `") TO '/etc/x'`,
  `'; DROP TABLE x; --`,
  "../../x",
  "CON",
  "a/b",
  ".",
  "__proto__",
  "select",
  "K",
  "x".repeat(255),
  "$1",
  "%s",
  "\\",
  "\n",
  "\u202e",
  "😀",
  `""`,
  `"`,
];

const names = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(`"`, "'", ";", "\\", "a", " ", "-", "*", "/"),
    minLength: 1,
    maxLength: 12,
  }),
);

const usable = names.filter((name) => !name.includes("\0") && name.length <= 255);

const scratch = new Scratch();

test("S12: a hostile name goes through CREATE, COMMENT and DESCRIBE unchanged, and so does a text", async () => {
  const { connection } = scratch;
  await fc.assert(
    fc.asyncProperty(usable, usable, async (table, column) => {
      const name = quoteIdentifier(table);
      await connection.run(`CREATE TEMP TABLE ${name} (${quoteIdentifier(column)} VARCHAR)`);
      await connection.run(`COMMENT ON TABLE ${name} IS ${quoteLiteral(column)}`);
      const tables = await connection.runAndReadAll(
        `SELECT table_name, comment, ${quoteLiteral(table)} FROM duckdb_tables() WHERE temporary`,
      );
      const columns = await connection.runAndReadAll(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = 'temp' AND NOT internal",
      );
      await connection.run(`DROP TABLE ${name}`);
      assert.deepEqual(tables.getRows(), [[table, column, table]]);
      assert.deepEqual(columns.getRows(), [[column]]);
    }),
    { numRuns: either(60, 300) },
  );
});

test("S12: names that DuckDB would refuse or change are refused", () => {
  for (const name of ["", "a\0b", "x".repeat(256), "\ud800"]) {
    assert.throws(() => quoteIdentifier(name), WarehouseError, JSON.stringify(name));
  }
  for (const text of ["a\0b", "\udc00x"]) assert.throws(() => quoteLiteral(text), WarehouseError);
});

test("S15: a file is read by its own name where the name looks like a pattern, a partition or both", async (t) => {
  const { connection } = scratch;
  const folder = await temporaryFolder(t);
  const files: string[] = [];
  for (const name of ["a?b", "aXb", "a*", "[ab]", "a", "x=1", "**", "{a,b}", "~", "a]b"]) {
    await mkdir(join(folder, name));
    const file = join(folder, name, "a.parquet");
    await connection.run(`COPY (SELECT ${files.length} AS a) TO ${quoteLiteral(file)} (FORMAT parquet)`);
    files.push(file);
  }
  for (const [index, file] of files.entries()) {
    const result = await connection.runAndReadAll(`SELECT * FROM ${readParquet([file])}`);
    assert.deepEqual([result.columnNames(), result.getRows()], [["a"], [[index]]], file);
  }
  const together = await connection.runAndReadAll(`SELECT a FROM ${readParquet(files)} ORDER BY a`);
  assert.deepEqual(
    together.getRows(),
    files.map((_, index) => [index]),
  );
});

test("S15: a path that no pattern can express is refused", () => {
  assert.equal(exactPattern("/a\\b/c"), "/a\\b/c");
  assert.throws(() => exactPattern("/a\\b/c?"), { code: "config.output" });
});
