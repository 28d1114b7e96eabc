import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openForBuilding } from "../../src/storage/database.ts";
import { execute } from "../../src/storage/duckdb.ts";
import { declarationsIn, writeParquet } from "../../src/storage/parquet-sql.ts";
import { quoteLiteral } from "../../src/storage/sql-text.ts";
import { RUN_TABLES, TABLES } from "../../src/tables/all.ts";
import type { Table } from "../../src/tables/declare.ts";
import { TYPES, temporaryFolder } from "../load/fixtures.ts";

/** What a file keeps of a declaration. */
function kept({ name, comment, key, columns, references }: Table) {
  const own = columns.map(({ name, type, nullable, comment, personal }) => {
    return { name, type, nullable, comment, personal };
  });
  return { name, comment, key, columns: own, references };
}

test("a Parquet file says of its table what its declaration does", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await openForBuilding({
    file: join(folder, "any.duckdb"),
    staging: folder,
    temporaryDirectory: join(folder, "tmp"),
    memoryLimitMb: 64,
    previous: undefined,
  });
  const { connection } = database;
  const tables = [TYPES, ...TABLES, ...RUN_TABLES];
  const files = tables.map(({ name }) => join(folder, `${name}.parquet`));
  const plain = join(folder, "plain.parquet");
  for (const [at, table] of tables.entries())
    await writeParquet(connection, { table, query: { text: "SELECT 1", params: [] }, file: files[at] ?? "" });
  await execute(connection, `COPY (SELECT 1) TO ${quoteLiteral(plain)} (FORMAT parquet)`);
  const found = await declarationsIn(connection, [...files, plain]);
  assert.ok(tables.length > 40 && tables.some(({ references }) => references.length > 1));
  for (const [at, table] of tables.entries()) {
    const declared = found.get(files[at] ?? "") ?? assert.fail(table.name);
    assert.deepEqual(kept(declared), kept(table));
  }
  assert.equal(found.get(plain), undefined);
});
