import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readPart } from "../../../src/storage/parquet-file.ts";
import { readColumns } from "../../../src/parquet/read.ts";
import { Reader } from "../../../src/storage/parquet/thrift.ts";
import { column } from "../../../src/tables/declare.ts";
import { fileOf, plain, TYPED } from "./files.ts";
import { Scratch } from "./scratch.ts";

const scratch = new Scratch();

async function writtenByDuckDB(query: string, options: string): Promise<Buffer> {
  const file = join(scratch.folder, "duckdb.parquet");
  await scratch.connection.run(`COPY (${query}) TO '${file}' (FORMAT parquet, COMPRESSION zstd${options})`);
  return readFile(file);
}

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
  const file = join(scratch.folder, "snappy.parquet");
  await scratch.connection.run(
    `COPY (SELECT i AS i FROM range(3) t(i)) TO '${file}' (FORMAT parquet, COMPRESSION snappy)`,
  );
  const snappy = readColumns(await readFile(file));
  assert.throws(() => snappy.cells("i"), /codec 1 is not read/);
});

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

test("what a file that cannot be read is called is told", async () => {
  const file = join(scratch.folder, "damaged.parquet");
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
  const file = join(scratch.folder, "given-back.parquet");
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
