import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { Table as ArrowTable, Int32, Uint64, vectorFromArray } from "apache-arrow";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { readPart } from "../../src/load/part.ts";
import { readColumns } from "../../src/parquet/read.ts";
import { Reader } from "../../src/parquet/thrift.ts";
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

test("dictionaries of more than 256 entries are read, in runs and packed", async () => {
  const query =
    "SELECT 'text ' || (i // 40) AS runs, 'text ' || (i * 7919 % 300) AS packed FROM range(20000) t(i)";
  const { cells } = readColumns(await writtenByDuckDB(query, ""));
  const expected = (text: (row: number) => number) =>
    Array.from({ length: 20_000 }, (_, i) => `text ${text(i)}`);
  assert.deepEqual(
    cells("runs").map(plain),
    expected((i) => Math.floor(i / 40)),
  );
  assert.deepEqual(
    cells("packed").map(plain),
    expected((i) => (i * 7919) % 300),
  );
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

/** A file of one column, and where the texts of its only page begin. */
function oneText(...texts: string[]): { readonly file: Buffer; readonly page: number } {
  const file = fileOf(
    [column("a", "text", "", "A column.", { required: true })],
    texts.map((text) => [text]),
  );
  const header = new Reader(file, 4);
  header.struct();
  return { file, page: header.at };
}

test("lengths that do not agree are an error, not other values", { timeout: 10_000 }, () => {
  const readsAfter = (change: (file: Buffer, page: number) => void) => () => {
    const { file, page } = oneText("abc", "def");
    change(file, page);
    return readColumns(file).cells("a").map(plain);
  };
  assert.deepEqual(readsAfter(() => {})(), ["abc", "def"]);
  // The header's sizes are its bytes 3 and 5: twice the number, and an odd one where it is below zero.
  for (const change of [
    (file: Buffer, page: number) => file.writeUInt32LE(200, page + 7),
    (file: Buffer, page: number) => file.writeUInt32LE(4, page),
    (file: Buffer) => file.writeUInt8(2 * 15, 4 + 3),
    (file: Buffer) => file.writeUInt8(2 * 13, 4 + 5),
    (file: Buffer, page: number) => file.writeUInt8(2 * (page - 4) - 1, 4 + 5),
    (file: Buffer, page: number) => {
      // A page of no rows and no bytes that leads back to itself.
      file.set([0, 0x15, 2 * (page - 4) - 1, 0x2c, 0x15, 0], 4 + 3);
    },
  ]) {
    assert.throws(readsAfter(change), RangeError);
  }
});

test("whatever byte of a file is another one, it is refused, or has as many cells as it has rows", () => {
  const given = Array.from({ length: 20 }, (_, row) => [
    `item ${row}`,
    row % 3 === 0 ? null : "x",
    row,
    null,
  ]);
  const whole = fileOf(TYPED, given);
  const compressed = fileOf([column("a", "text", "", "A column.")], [["x".repeat(5000)], [null]]);
  for (const [file, names] of [
    [whole, ["id", "note", "seen", "day"]],
    [compressed, ["a"]],
  ] as const) {
    const lengths = (bytes: Buffer) => {
      const { rows, cells } = readColumns(bytes);
      return names.map((name) => cells(name).length - rows);
    };
    const right = names.map(() => 0);
    assert.deepEqual(lengths(file), right);
    for (let at = 0; at < file.length; at++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const changed = Buffer.from(file);
        changed.writeUInt8(changed.readUInt8(at) ^ bits, at);
        try {
          assert.deepEqual(lengths(changed), right);
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
        }
      }
    }
  }
});

test("values that are not there are an error: places beyond a dictionary, bits beyond a page", async () => {
  const words = await writtenByDuckDB("SELECT 'text ' || (i % 5) AS a FROM range(100) t(i)", "");
  assert.equal(readColumns(words).cells("a").length, 100);
  // The number of the dictionary's values, twice, stands first in its part of the header.
  const count = words.indexOf(Buffer.from([0x4c, 0x15]), 4) + 2;
  words.writeUInt8(words.readUInt8(count) - 2, count);
  assert.throws(() => readColumns(words).cells("a"), RangeError);
  const truths = fileOf(
    [column("a", "boolean", "", "A column.", { required: true })],
    Array.from({ length: 9 }, () => [true]),
  );
  assert.equal(readColumns(truths).cells("a").length, 9);
  // Both sizes of the page are one byte, in which nine values cannot be.
  truths.writeUInt8(2, 4 + 3);
  truths.writeUInt8(2, 4 + 5);
  assert.throws(() => readColumns(truths).cells("a"), RangeError);
});

/** By a reader of another make. */
async function readByHyparquet(bytes: Buffer) {
  const file = new Uint8Array(bytes).buffer;
  return { rows: await parquetReadObjects({ file, compressors }), metadata: parquetMetadata(file) };
}

function codecs(metadata: FileMetaData): Map<string | undefined, string | undefined> {
  const chunks = metadata.row_groups[0]?.columns ?? [];
  return new Map(chunks.map(({ meta_data }) => [meta_data?.path_in_schema[0], meta_data?.codec]));
}

test("another reader finds types, nulls and compression in what is written", async () => {
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
});

test("a file without rows has columns and nothing else, for each reader", async () => {
  const bytes = fileOf(TYPED, []);
  assert.deepEqual(readColumns(bytes).cells("id"), []);
  const { rows, metadata } = await readByHyparquet(bytes);
  assert.deepEqual([rows, metadata.row_groups, metadata.created_by], [[], [], "content-warehouse"]);
  assert.deepEqual(await described(bytes), ["VARCHAR", "VARCHAR", "TIMESTAMP WITH TIME ZONE", "DATE"]);
});

/** Types of the columns, as DuckDB says. */
async function described(bytes: Buffer): Promise<unknown[]> {
  const file = join(folder, "described.parquet");
  await writeFile(file, bytes);
  const found = await connection.runAndReadAll(`DESCRIBE FROM '${file}'`);
  return found.getRows().map((row) => row[1]);
}

test("the footer says where columns lie and how long they are, with the headers of their pages", async () => {
  const bytes = fileOf(
    TYPED,
    Array.from({ length: 3000 }, (_, row) => [`item ${row}`, "x".repeat(row), row, null]),
  );
  const { metadata } = await readByHyparquet(bytes);
  const [group] = metadata.row_groups;
  let end = 4;
  let uncompressed = 0;
  for (const { file_offset, meta_data } of group?.columns ?? []) {
    assert.equal(Number(meta_data?.data_page_offset), end);
    assert.equal(Number(file_offset), end);
    const pages = pagesAt(bytes, end, 3000);
    end += Number(meta_data?.total_compressed_size);
    assert.equal(pages.end, end);
    assert.equal(Number(meta_data?.total_uncompressed_size), pages.uncompressed);
    uncompressed += pages.uncompressed;
  }
  assert.equal(end, bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
  assert.equal(Number(group?.total_byte_size), uncompressed);
});

/** The pages of a column that begins at a place, until there are as many rows. */
function pagesAt(bytes: Buffer, start: number, rows: number) {
  const found: { rows: number; bytes: number }[] = [];
  let [end, uncompressed] = [start, 0];
  for (let read = 0; read < rows; read += found.at(-1)?.rows ?? 0) {
    const reader = new Reader(bytes, end);
    const header = reader.struct();
    const data = header.get(5);
    assert.ok(data instanceof Map);
    found.push({ rows: Number(data.get(1)), bytes: Number(header.get(2)) });
    uncompressed += reader.at - end + Number(header.get(2));
    end = reader.at + Number(header.get(3));
  }
  return { found, end, uncompressed };
}

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
  // Each is full with the eight rows that make it so.
  const pages = pagesAt(bytes, 4, given.length).found;
  assert.deepEqual(
    pages.map((page) => page.rows),
    [16, 16, 16, 13],
  );
  assert.ok(pages.slice(0, -1).every((page) => page.bytes > 4 * 1024 * 1024));
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

test("a value of many megabytes comes back, and so do short ones after it", async () => {
  const note = [column("note", "text", "", "A column.")];
  const long = "a".repeat(17 * 1024 * 1024);
  assert.equal(String(readColumns(fileOf(note, [[null], [long]])).cells("note")[1]), long);
  assert.deepEqual(
    readColumns(fileOf(note, [["b"], [null]]))
      .cells("note")
      .map(plain),
    ["b", null],
  );
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

test("a null in a column that has none, and a part of a column, are refused", () => {
  const required = [column("a", "boolean", "", "A column.", { required: true })];
  assert.throws(() => fileOf(required, [[true], [null]]), /the column a must have a value in each row/);
  const [part] = new ArrowTable({ a: vectorFromArray([1, 2, 3], new Int32()) }).slice(1).batches;
  assert.ok(part);
  assert.throws(() => writer.file(part), /the column a is a part of another/);
});

test("what a file that cannot be read is called is told", async () => {
  const file = join(folder, "damaged.parquet");
  await writeFile(file, "PAR1 and nothing else");
  assert.throws(
    () => readPart(file),
    (error) =>
      error instanceof TypeError && error.message === `${file} cannot be read: this is no whole Parquet file`,
  );
  await writeFile(file, fileOf(TYPED, []));
  assert.throws(
    () => readPart(file).cells("other"),
    (error) => error instanceof TypeError && error.message.startsWith(file),
  );
});

test("the memory of a file is given back, and of what was decompressed: what was made of them stays", async () => {
  const file = join(folder, "given-back.parquet");
  const random = randomBytes(60_000).toString("hex");
  await writeFile(file, fileOf(TYPED, [["short", random, null, null]]));
  const { cells, release } = readPart(file);
  const [id] = cells("id");
  const [note] = cells("note");
  const copies = [plain(id), plain(note)];
  release();
  release();
  assert.deepEqual([plain(id), plain(note), ...copies], ["", "", "short", random]);
});
