import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm";
import { PartWriter, readPart } from "../../src/storage/parquet-file.ts";
import { type Cell, TableBuilder } from "../../src/storage/table-builder.ts";
import { COLUMN_TYPES, type Column, type ColumnType, column } from "../../src/tables/declare.ts";
import fc from "../properties.ts";
import { Scratch } from "../storage/parquet/scratch.ts";

/** Columns built by hand say in Parquet what was put in, as another reader finds. */

const INT64 = 2n ** 63n;
const MICROS_OF_YEAR_0 = -62_167_219_200_000_000n;
const MICROS_OF_YEAR_9999 = 253_402_300_799_999_999n;

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "\0",
    "é".repeat(24),
    "x".repeat(24),
    "x".repeat(25),
    "\u{1F600}".repeat(2000),
    "ab\u{10FFFF}",
  ),
);

/** Values of each type as the transform gives them. */
const VALUES: Readonly<Record<ColumnType, fc.Arbitrary<Cell>>> = {
  text: anyText,
  json: anyText.map((text) => JSON.stringify([text])),
  boolean: fc.boolean(),
  integer: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31))),
  date: fc.integer({ min: -719_528, max: 2_932_896 }),
  bigint: fc.oneof(
    fc.maxSafeInteger(),
    fc.bigInt({ min: -INT64, max: INT64 - 1n }),
    fc.constantFrom<Cell>(INT64 - 1n, -INT64, -1n, 2n ** 32n, -(2n ** 32n), -1, 2 ** 32, -(2 ** 32), 2 ** 31),
  ),
  timestamp: fc.oneof(
    fc.integer({ min: -1e15, max: 2e15 }),
    fc.bigInt({ min: MICROS_OF_YEAR_0, max: MICROS_OF_YEAR_9999 }),
    fc.constantFrom<Cell>(MICROS_OF_YEAR_0, MICROS_OF_YEAR_9999, -1, 0),
  ),
  double: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(-0, 5e-324, Number.MAX_VALUE, 0.1),
  ),
};

/** Of each type a column that may be null, and one that may not. */
const COLUMNS: readonly Column[] = [
  ...COLUMN_TYPES.map((type) => column(`a_${type}`, type, { comment: "A column." })),
  ...COLUMN_TYPES.map((type) => column(`b_${type}`, type, { comment: "A column.", required: true })),
];
const row = fc.tuple(
  ...COLUMN_TYPES.map((type) => fc.option(VALUES[type], { freq: 4 })),
  ...COLUMN_TYPES.map((type) => VALUES[type]),
);
/** Up to 40 different rows, up to 3,000 in all, so that every buffer has to grow. */
const rows = fc
  .record({ rows: fc.array(row, { maxLength: 40 }), times: fc.constantFrom(1, 2, 27, 75) })
  .map((given) => Array.from({ length: given.times }, () => given.rows).flat());

const scratch = new Scratch();

/** What DuckDB is to show of a cell: numbers of 64 bits as bigint. */
function shown(cell: Cell, type: ColumnType): Cell {
  if (cell === null) return null;
  return type === "bigint" || type === "timestamp" ? BigInt(cell) : cell;
}

function selected({ name, type }: Column): string {
  if (type === "timestamp") return `epoch_us(${name})`;
  return type === "date" ? `${name} - DATE '1970-01-01'` : name;
}

async function readByDuckDB(file: string): Promise<unknown[][]> {
  const list = COLUMNS.map(selected).join(", ");
  const found = await scratch.connection.runAndReadAll(`SELECT ${list} FROM read_parquet('${file}')`);
  return found
    .getRows()
    .map((cells) =>
      cells.map((cell, at) => (COLUMNS[at]?.type === "date" && cell !== null ? Number(cell) : cell)),
    );
}

function readOwn(file: string): unknown[][] {
  const { rows, cells } = readPart(file);
  const columns = COLUMNS.map(({ name }) => cells(name));
  return Array.from({ length: rows }, (_, row) =>
    columns.map((column) => {
      const cell = column[row];
      return Buffer.isBuffer(cell) ? cell.toString() : cell;
    }),
  );
}

/** Arrow shows instants and dates in a form of its own. */
const SHOWN_BY_ARROW = COLUMNS.map(({ type }) => type !== "timestamp" && type !== "date");

/** By the Parquet reader of Arrow for Rust. */
async function readByArrow(file: string): Promise<unknown[][]> {
  const table = tableFromIPC(readParquet(await readFile(file)).intoIPCStream());
  return Array.from(table, (row) => COLUMNS.map(({ name }) => row[name]));
}

function comparable(rows: readonly (readonly unknown[])[]): unknown[][] {
  return rows.map((cells) => cells.filter((_, at) => SHOWN_BY_ARROW[at]));
}

test("rows of every type come back from Parquet as they were, nulls and extremes included", async () => {
  const builder = new TableBuilder({ columns: COLUMNS });
  const parts = new PartWriter();
  let part = 0;
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      // One builder for all, as in a worker: nothing of a part may show in the next one.
      for (const cells of given) builder.append(cells);
      assert.equal(builder.rows, given.length);
      part += 1;
      const file = join(scratch.folder, `${part}.parquet`);
      builder.take((batch) => parts.write(file, batch));
      const expected = given.map((cells) =>
        cells.map((cell, at) => shown(cell, COLUMNS[at]?.type ?? "text")),
      );
      assert.deepEqual(await readByDuckDB(file), expected);
      assert.deepEqual(readOwn(file), expected);
      assert.deepEqual(comparable(await readByArrow(file)), comparable(expected));
    }),
    { numRuns: 25 },
  );
});
