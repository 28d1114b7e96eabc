/** Rows as Arrow record batches. */
import {
  Bool,
  type Data,
  DateDay,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import type { Column } from "../tables/declare.ts";
import type { Cell } from "./table-builder.ts";

/** A batch of rows; instants are microseconds in UTC, `json` is text. */
export function recordBatch(columns: readonly Column[], rows: readonly (readonly Cell[])[]): RecordBatch {
  const children = columns.map((column, at) =>
    dataOf(
      column,
      rows.map((row) => row[at] ?? null),
    ),
  );
  const fields = columns.map(
    ({ name, nullable }, at) => new Field(name, children[at]?.type ?? new Utf8(), nullable),
  );
  return new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children }),
  );
}

function dataOf({ type }: Column, cells: readonly Cell[]): Data {
  switch (type) {
    case "text":
    case "json":
      return vectorFromArray(
        cells.map((cell) => (cell === null ? null : String(cell))),
        new Utf8(),
      ).data[0] as Data;
    case "boolean":
      return vectorFromArray(
        cells.map((cell) => (cell === null ? null : cell === true)),
        new Bool(),
      ).data[0] as Data;
    case "integer":
      return numbers(new Int32(), Int32Array.from(cells, Number), cells);
    case "date":
      return numbers(new DateDay(), Int32Array.from(cells, Number), cells);
    case "double":
      return numbers(new Float64(), Float64Array.from(cells, Number), cells);
    case "bigint":
      return numbers(new Int64(), BigInt64Array.from(cells, bigintOf), cells);
    case "timestamp":
      return numbers(new TimestampMicrosecond("UTC"), BigInt64Array.from(cells, bigintOf), cells);
  }
}

function bigintOf(cell: Cell): bigint {
  return cell === null ? 0n : BigInt(cell);
}

/** A bit for each cell that is not NULL, from the lowest bit of the first byte on. */
function numbers(
  type: Int32 | DateDay | Float64 | Int64 | TimestampMicrosecond,
  data: Int32Array | Float64Array | BigInt64Array,
  cells: readonly Cell[],
): Data {
  const nullBitmap = new Uint8Array(Math.ceil(cells.length / 8));
  let nullCount = 0;
  for (const [place, cell] of cells.entries()) {
    if (cell === null) nullCount += 1;
    else nullBitmap[place >> 3] = (nullBitmap[place >> 3] ?? 0) | (1 << (place & 7));
  }
  return makeData({
    type: type as Int32,
    length: cells.length,
    nullCount,
    nullBitmap,
    data: data as Int32Array,
  });
}
