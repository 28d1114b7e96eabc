import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readColumns } from "../../../src/storage/parquet/read.ts";
import { readPart } from "../../../src/storage/parquet-file.ts";
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

test("whatever byte of a file is another one, it is refused, or has as many cells as it has rows", () => {
  const given = Array.from({ length: 20 }, (_, row) => [
    `item ${row}`,
    row % 3 === 0 ? null : "x",
    row,
    null,
  ]);
  const whole = fileOf(TYPED, given);
  const compressed = fileOf([column("a", "text", { comment: "A column." })], [["x".repeat(5000)], [null]]);
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

test("what a file that cannot be read is called is told", async () => {
  const file = join(scratch.folder, "damaged.parquet");
  await writeFile(file, "PAR1 and nothing else");
  assert.throws(
    () => readPart(file),
    (error) =>
      error instanceof TypeError && error.message.startsWith(`${file} cannot be read: parquet file invalid`),
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
  const columns = readPart(file);
  const { cells } = columns;
  const [id] = cells("id");
  const [note] = cells("note");
  const copies = [plain(id), plain(note)];
  columns[Symbol.dispose]();
  columns[Symbol.dispose]();
  assert.deepEqual([plain(id), plain(note), ...copies], ["", "", "short", random]);
  assert.throws(() => cells("id"), /memory was given back/);
});
