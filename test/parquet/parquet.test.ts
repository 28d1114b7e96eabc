import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { Table as ArrowTable, Uint64, vectorFromArray } from "apache-arrow";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { readColumns } from "../../src/parquet/read.ts";
import { ParquetWriter } from "../../src/parquet/write.ts";
import { type Column, column } from "../../src/tables/declare.ts";
import { type Cell, TableBuilder } from "../../src/transform/columns.ts";

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

const TYPED = [
  column("id", "text", "", "A column.", { required: true }),
  column("note", "text", "", "A column."),
  column("seen", "timestamp", "", "A column."),
  column("day", "date", "", "A column."),
];
const writer = new ParquetWriter();

function fileOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Buffer {
  const builder = new TableBuilder({ columns });
  for (const row of rows) builder.append(row);
  return builder.take((batch) => writer.file(batch));
}

/** By a reader of another make. */
async function readByHyparquet(bytes: Buffer) {
  const file = new Uint8Array(bytes).buffer;
  return { rows: await parquetReadObjects({ file, compressors }), metadata: parquetMetadata(file) };
}

function codecs(metadata: FileMetaData): Map<string | undefined, string | undefined> {
  const chunks = metadata.row_groups[0]?.columns ?? [];
  return new Map(chunks.map(({ meta_data }) => [meta_data?.path_in_schema[0], meta_data?.codec]));
}

test("another reader finds types, nulls and compression in what is written, and no row in an empty file", async () => {
  const given = Array.from({ length: 1000 }, (_, row) => {
    const note = row % 2 === 0 ? null : "long ".repeat(40);
    return [`item ${row}`, note, 1_700_000_000_000_000, row < 4 ? 19_000 : null];
  });
  const { rows, metadata } = await readByHyparquet(fileOf(TYPED, given));
  assert.deepEqual(rows[2], {
    id: "item 2",
    note: null,
    seen: new Date(1_700_000_000_000),
    day: new Date(19_000 * 86_400_000),
  });
  assert.equal(rows[999]?.note, "long ".repeat(40));
  assert.equal(rows[999]?.day, null);
  const compressed = codecs(metadata);
  assert.equal(compressed.get("note"), "ZSTD");
  assert.equal(compressed.get("day"), "UNCOMPRESSED");
  assert.deepEqual(readColumns(fileOf(TYPED, [])).cells("id"), []);
});

test("columns longer than a page are in several, each of which says which of its rows have a value", async () => {
  const long = (row: number) => String.fromCharCode(97 + (row % 26)).repeat(300_000 + row);
  const given = Array.from({ length: 61 }, (_, row) => [
    long(row),
    row % 3 === 0 ? null : long(row + 1),
    null,
    row % 17 === 0 ? row : null,
  ]);
  const bytes = fileOf(TYPED, given);
  assert.ok(bytes.length < 1024 * 1024, `${bytes.length} bytes`);
  const own = readColumns(bytes);
  for (const [at, name] of ["id", "note"].entries()) {
    const cells = own.cells(name).map(plain);
    assert.ok(cells.every((cell, row) => cell === given[row]?.[at]));
  }
  const { rows } = await readByHyparquet(bytes);
  assert.ok(rows.every((row, i) => row.id === given[i]?.[0] && row.note === given[i]?.[1]));
  const file = join(folder, "pages.parquet");
  await writeFile(file, bytes);
  const found = await connection.runAndReadAll(
    `SELECT count(*), count(note), sum(length(id)), sum(length(note)), count(seen), count(day) FROM '${file}'`,
  );
  const sum = (texts: readonly Cell[]) =>
    texts.map((each) => String(each ?? "").length).reduce((a, b) => a + b);
  const [ids, notes] = [given.map((row) => row[0] ?? null), given.map((row) => row[1] ?? null)];
  assert.deepEqual(found.getRows()[0]?.map(Number), [61, 40, sum(ids), sum(notes), 0, 4]);
});

test("short columns are not compressed", () => {
  const file = fileOf([column("a", "text", "", "A column.", { required: true })], [["a"]]);
  assert.ok(file.includes(Buffer.from("\u0001\0\0\0a")));
  assert.deepEqual(readColumns(file).cells("a").map(plain), ["a"]);
});

test("columns of a type that is not written are refused by its name", () => {
  const [batch] = new ArrowTable({ a: vectorFromArray([1n], new Uint64()) }).batches;
  assert.ok(batch);
  assert.throws(() => writer.file(batch), /type Uint64 are not written/);
});
