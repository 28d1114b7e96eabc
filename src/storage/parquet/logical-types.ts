/** What a table's types are in Parquet: the physical type of the values, and what the schema says of them. */
import type { ColumnType } from "../../tables/declare.ts";
import type { Physical } from "./format.ts";
import { bool, type Fields, i32, struct } from "./thrift.ts";

export interface Meaning {
  readonly physical: Physical;
  /** Fields of the format's `SchemaElement`. */
  readonly annotation: Fields;
}

/** Both in the older words of the format and in the newer ones. */
function logical(converted: number, number: number, type = struct()): Fields {
  return [
    [6, i32(converted)],
    [10, struct([number, type])],
  ];
}

const UTC_MICROSECONDS = struct([1, bool(true)], [2, struct([2, struct()])]);
const TEXT: Meaning = { physical: "bytes", annotation: logical(0, 1) };

export const MEANINGS: Readonly<Record<ColumnType, Meaning>> = {
  text: TEXT,
  json: TEXT,
  boolean: { physical: "boolean", annotation: [] },
  integer: { physical: "int32", annotation: [] },
  bigint: { physical: "int64", annotation: [] },
  double: { physical: "double", annotation: [] },
  date: { physical: "int32", annotation: logical(6, 6) },
  timestamp: { physical: "int64", annotation: logical(10, 8, UTC_MICROSECONDS) },
};
