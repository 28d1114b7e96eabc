import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { compressors } from "hyparquet-compressors";
import { readColumns } from "../../../src/storage/parquet/read.ts";
import { ParquetWriter } from "../../../src/storage/parquet/write.ts";
import { type Cell, TableBuilder } from "../../../src/storage/table-builder.ts";
import { column } from "../../../src/tables/declare.ts";
import { fileOf, plain, TYPED } from "./files.ts";
import { Scratch } from "./scratch.ts";

const scratch = new Scratch();

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
  const file = join(scratch.folder, "described.parquet");
  await writeFile(file, bytes);
  const found = await scratch.connection.runAndReadAll(`DESCRIBE FROM '${file}'`);
  return found.getRows().map((row) => row[1]);
}

/** The pages of a column that begins at a place, until there are as many rows. */
function pagesAt(bytes: Buffer, start: number, rows: number) {
  const found: { rows: number; bytes: number }[] = [];
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset: start };
  for (let read = 0; read < rows; read += found.at(-1)?.rows ?? 0) {
    const header = parquetHeader(reader);
    assert.ok(header.data_page_header);
    found.push({ rows: header.data_page_header.num_values, bytes: header.uncompressed_page_size });
    reader.offset += header.compressed_page_size;
  }
  return found;
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
  const pages = pagesAt(bytes, 4, given.length);
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
  const file = join(scratch.folder, "pages.parquet");
  await writeFile(file, bytes);
  const found = await scratch.connection.runAndReadAll(
    `SELECT count(*), count(note), sum(length(id)), sum(length(note)), count(seen), count(day) FROM '${file}'`,
  );
  const sum = (texts: readonly Cell[]) =>
    texts.map((each) => String(each ?? "").length).reduce((a, b) => a + b);
  const [ids, notes] = [given.map((row) => row[0] ?? null), given.map((row) => row[1] ?? null)];
  assert.deepEqual(found.getRows()[0]?.map(Number), [61, 40, sum(ids), sum(notes), 0, 4]);
});

test("what is compressed, whatever its size, gives nothing back that others share", () => {
  const sizes = [4, 5, 8, 16, 31, 63, 64, 65, 127, 128, 129, 255, 300, 600].map((size) => size * 1024);
  for (const size of sizes) {
    const others = Buffer.from("somebody else's");
    for (const text of ["the same ".repeat(size / 9), randomBytes(size / 2).toString("hex")]) {
      const file = fileOf(TYPED, [[text, null, null, null]]);
      assert.deepEqual(readColumns(file).cells("id").map(plain), [text]);
    }
    assert.equal(others.toString(), "somebody else's");
  }
});

/** Bytes outside of the heap that are there when `use` is done, and were not before. */
function bytesMore(use: () => void): number {
  const before = process.memoryUsage().arrayBuffers;
  use();
  return process.memoryUsage().arrayBuffers - before;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
}

function assertLarge(file: Buffer, texts: readonly string[]): void {
  assert.ok(file.length > 10_000_000, `${file.length} bytes`);
  assert.ok(readColumns(file).cells("id").map(plain).join() === texts.join());
}

test("a file larger than what is kept is right, and so is the one after it; then its room is given back", () => {
  const texts = Array.from({ length: 40 }, () => randomBytes(250_000).toString("hex"));
  const large = new TableBuilder({ columns: TYPED });
  for (const text of texts) large.append([text, null, null, null]);
  const small = new TableBuilder({ columns: TYPED });
  small.append(["a", null, null, null]);
  const files = new ParquetWriter();
  const more = large.take((batch) => {
    collectGarbage();
    return bytesMore(() => {
      assertLarge(files.file(batch), texts);
      const next = small.take((rows) => files.file(rows));
      assert.deepEqual(readColumns(next).cells("id").map(plain), ["a"]);
      // Buffers are given back beside the program; the second time waits for that of the first.
      collectGarbage();
      collectGarbage();
    });
  });
  assert.ok(more < 10_000_000, `${more} bytes are held`);
});

test("a null in a column that has none is refused", () => {
  const required = [column("a", "boolean", { comment: "A column.", required: true })];
  assert.throws(() => fileOf(required, [[true], [null]]), /the column a must have a value in each row/);
});
