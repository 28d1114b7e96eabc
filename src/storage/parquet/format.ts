/** Constants of the Parquet format, and the types of columns in it. */
import type { ColumnType } from "../../tables/declare.ts";
import { bool, i32, struct, type ThriftFields } from "./thrift.ts";

export const MAGIC = Buffer.from("PAR1");
/** Size of the length before a text, before the levels of a page, and after the footer. */
export const LENGTH_BYTES = 4;

export const CODECS = { none: 0, zstd: 6 } as const;
export const ENCODINGS = { plain: 0, rle: 3 } as const;
export const DATA_PAGE = 0;

/** Physical types. */
export const PHYSICAL = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6 } as const;

export interface LogicalType {
  readonly physical: keyof typeof PHYSICAL;
  /** Fields of `SchemaElement` that describe the type. */
  readonly annotation: ThriftFields;
}

/** States a type as `converted_type` for older readers and as `logicalType`. */
function logical(converted: number, number: number, type = struct()): ThriftFields {
  return [
    [6, i32(converted)],
    [10, struct([number, type])],
  ];
}

const UTC_MICROSECONDS = struct([1, bool(true)], [2, struct([2, struct()])]);
const TEXT: LogicalType = { physical: "bytes", annotation: logical(0, 1) };

export const LOGICAL_TYPES: Readonly<Record<ColumnType, LogicalType>> = {
  text: TEXT,
  json: TEXT,
  boolean: { physical: "boolean", annotation: [] },
  integer: { physical: "int32", annotation: [] },
  bigint: { physical: "int64", annotation: [] },
  double: { physical: "double", annotation: [] },
  date: { physical: "int32", annotation: logical(6, 6) },
  timestamp: { physical: "int64", annotation: logical(10, 8, UTC_MICROSECONDS) },
};
