/** Converts rows to Arrow record batches. */
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
import type { Column, ColumnType } from "../tables/declare.ts";
import type { Cell } from "./table-builder.ts";

/** A record batch. Instants are microseconds in UTC, and `json` is text. */
export function recordBatch(columns: readonly Column[], rows: readonly (readonly Cell[])[]): RecordBatch {
  const children = columns.map(({ type }, at) => DATA[type](rows.map((row) => row[at] ?? null)));
  const fields = columns.map(
    ({ name, nullable }, at) => new Field(name, children[at]?.type ?? new Utf8(), nullable),
  );
  return new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children }),
  );
}

const DATA: Readonly<Record<ColumnType, (cells: readonly Cell[]) => Data>> = {
  text,
  json: text,
  boolean: bits,
  integer: (cells) => numbers(new Int32(), Int32Array.from(cells, Number), cells),
  date: (cells) => numbers(new DateDay(), Int32Array.from(cells, Number), cells),
  double: (cells) => numbers(new Float64(), Float64Array.from(cells, Number), cells),
  bigint: (cells) => numbers(new Int64(), bigints(cells), cells),
  timestamp: (cells) => numbers(new TimestampMicrosecond("UTC"), bigints(cells), cells),
};

function text(cells: readonly Cell[]): Data {
  const texts = cells.map((cell) => (cell === null ? null : String(cell)));
  return vectorFromArray(texts, new Utf8()).data[0] as Data;
}

function bits(cells: readonly Cell[]): Data {
  return vectorFromArray(cells as readonly (boolean | null)[], new Bool()).data[0] as Data;
}

function bigints(cells: readonly Cell[]): BigInt64Array {
  return BigInt64Array.from(cells, (cell) => BigInt(cell ?? 0));
}

function numbers(
  type: Int32 | DateDay | Float64 | Int64 | TimestampMicrosecond,
  data: Int32Array | Float64Array | BigInt64Array,
  cells: readonly Cell[],
): Data {
  return makeData({
    type: type as Int32,
    length: cells.length,
    nullCount: cells.filter((cell) => cell === null).length,
    nullBitmap: bits(cells.map((cell) => cell !== null)).values,
    data: data as Int32Array,
  });
}
