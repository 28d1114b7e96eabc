/** Converts rows to Arrow record batches. */
import {
  Bool,
  type Data,
  type DataType,
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
  text: (cells) => dataOf(cells, new Utf8()),
  json: (cells) => dataOf(cells, new Utf8()),
  boolean: (cells) => dataOf(cells, new Bool()),
  integer: (cells) => dataOf(cells, new Int32()),
  date: (cells) => dataOf(cells, new Int32()).clone(new DateDay()),
  double: (cells) => dataOf(cells, new Float64()),
  bigint: (cells) => dataOf(cells.map(toBigint), new Int64()),
  timestamp: (cells) => dataOf(cells.map(toBigint), new Int64()).clone(new TimestampMicrosecond("UTC")),
};

function dataOf<Type extends DataType>(cells: readonly Cell[], type: Type): Data<Type> {
  return vectorFromArray(cells as readonly Type["TValue"][], type).data[0] as Data<Type>;
}

function toBigint(cell: Cell): bigint | null {
  return cell === null ? null : BigInt(cell);
}
