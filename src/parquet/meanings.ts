/** What Arrow's types are in Parquet: the physical type of the values, and what the schema says of them. */
import type { DataType } from "apache-arrow";
import type { Physical } from "../storage/parquet/format.ts";
import { bool, type Fields, i32, struct } from "../storage/parquet/thrift.ts";

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

/** By the types' own names. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["Utf8", { physical: "bytes", annotation: logical(0, 1) }],
  ["Bool", { physical: "boolean", annotation: [] }],
  ["Int32", { physical: "int32", annotation: [] }],
  ["Int64", { physical: "int64", annotation: [] }],
  ["Float64", { physical: "double", annotation: [] }],
  ["Date32<DAY>", { physical: "int32", annotation: logical(6, 6) }],
  ["Timestamp<MICROSECOND, UTC>", { physical: "int64", annotation: logical(10, 8, UTC_MICROSECONDS) }],
]);

/** A RangeError for types that are not written here. */
export function meaningOf(type: DataType): Meaning {
  const meaning = MEANINGS.get(String(type));
  if (meaning === undefined) throw new RangeError(`columns of the type ${type} are not written`);
  return meaning;
}
