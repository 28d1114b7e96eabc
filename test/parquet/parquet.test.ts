import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { TEXT } from "../../src/parquet/meanings.ts";
import { readColumns } from "../../src/parquet/read.ts";
import { parquetFile } from "../../src/parquet/write.ts";
import { column } from "../../src/tables/declare.ts";
import { TableBuilder } from "../../src/transform/columns.ts";

let folder: string;
let connection: DuckDBConnection;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parquet-"));
  connection = await (await DuckDBInstance.create(":memory:")).connect();
});
after(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true, force: true });
});

async function writtenByDuckDB(query: string, options: string): Promise<Buffer> {
  const file = join(folder, "duckdb.parquet");
  await connection.run(`COPY (${query}) TO '${file}' (FORMAT parquet, COMPRESSION zstd${options})`);
  return readFile(file);
}

const plain = (cell: unknown) => (Buffer.isBuffer(cell) ? cell.toString() : cell);

test("what DuckDB writes is read, with its dictionaries, nulls, row groups and kinds of numbers", async () => {
  const query =
    "SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE 'text ' || (i % 5) END AS few, 'text ' || i AS many, " +
    "i::INTEGER AS small, CASE WHEN i % 3 = 0 THEN NULL ELSE i * 10000000000 END AS large, i / 8 AS double, " +
    "i % 2 = 0 AS even, '' AS empty, NULL::VARCHAR AS nothing FROM range(5000) t(i)";
  const file = await writtenByDuckDB(query, ", ROW_GROUP_SIZE 2048");
  const { rows, cells } = readColumns(file);
  assert.equal(rows, 5000);
  const at = (name: string, row: number) => plain(cells(name)[row]);
  for (const i of [0, 1, 6, 7, 2047, 2048, 4999]) {
    assert.equal(at("few", i), i % 7 === 0 ? null : `text ${i % 5}`);
    assert.equal(at("many", i), `text ${i}`);
    assert.equal(at("small", i), i);
    assert.equal(at("large", i), i % 3 === 0 ? null : BigInt(i) * 10_000_000_000n);
    assert.equal(at("double", i), i / 8);
    assert.equal(at("even", i), i % 2 === 0);
    assert.equal(at("empty", i), "");
    assert.equal(at("nothing", i), null);
  }
  assert.equal(cells("many").length, 5000);
});

test("what is not read is refused in words: other compressions, other files, cut ones, missing columns", async () => {
  const whole = await writtenByDuckDB("SELECT i AS i FROM range(3) t(i)", "");
  assert.throws(() => readColumns(whole).cells("j"), /no column j/);
  assert.throws(() => readColumns(whole.subarray(0, whole.length - 1)), /no whole Parquet file/);
  assert.throws(() => readColumns(Buffer.from("PAR1PAR1")), /no whole Parquet file/);
  assert.throws(() => readColumns(Buffer.alloc(0)), /no whole Parquet file/);
  const file = join(folder, "snappy.parquet");
  await connection.run(
    `COPY (SELECT i AS i FROM range(3) t(i)) TO '${file}' (FORMAT parquet, COMPRESSION snappy)`,
  );
  const snappy = readColumns(await readFile(file));
  assert.throws(() => snappy.cells("i"), /codec 1 is not read/);
});

test("another reader finds types, nulls and compression in what is written, and no row in an empty file", async () => {
  const builder = new TableBuilder({
    columns: [
      column("id", "text", "", "A column.", { required: true }),
      column("note", "text", "", "A column."),
      column("seen", "timestamp", "", "A column."),
      column("day", "date", "", "A column."),
    ],
  });
  for (let row = 0; row < 1000; row++) {
    builder.append([`item ${row}`, row % 2 === 0 ? null : "long ".repeat(40), 1_700_000_000_000_000, 19_000]);
  }
  const bytes = builder.take((pieces) => Buffer.concat(pieces));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const rows = await parquetReadObjects({ file, compressors });
  assert.deepEqual(rows[998], {
    id: "item 998",
    note: null,
    seen: new Date(1_700_000_000_000),
    day: new Date(19_000 * 86_400_000),
  });
  assert.equal(rows[999]?.note, "long ".repeat(40));
  const chunks = parquetMetadata(file).row_groups[0]?.columns ?? [];
  assert.equal(
    chunks.find((chunk) => chunk.meta_data?.path_in_schema[0] === "note")?.meta_data?.codec,
    "ZSTD",
  );
  const empty = builder.take((pieces) => Buffer.concat(pieces));
  assert.deepEqual(readColumns(empty).cells("id"), []);
});

test("short columns are not compressed", () => {
  const values = Buffer.from("\u0001\0\0\0a");
  const columns = [{ name: "a", nullable: false, ...TEXT, validity: undefined, values }];
  const file = Buffer.concat(parquetFile(columns, 1));
  assert.ok(file.includes(values));
  assert.deepEqual(readColumns(file).cells("a").map(plain), ["a"]);
});
