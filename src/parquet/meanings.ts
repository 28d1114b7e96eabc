/** What the columns' values are: the physical type, and what the schema says of it (`SchemaElement` of the format). */
import type { Physical } from "./format.ts";
import { bool, type Fields, i32, struct } from "./thrift.ts";

export interface Meaning {
  readonly physical: Physical;
  readonly meaning: Fields;
}

/** Both in the older words of the format and in the newer ones. */
function logical(converted: number, number: number, type = struct()): Fields {
  return [
    [6, i32(converted)],
    [10, struct([number, type])],
  ];
}

export const TEXT: Meaning = { physical: "bytes", meaning: logical(0, 1) };
export const TRUTH: Meaning = { physical: "boolean", meaning: [] };
export const INT32: Meaning = { physical: "int32", meaning: [] };
export const INT64: Meaning = { physical: "int64", meaning: [] };
export const DOUBLE: Meaning = { physical: "double", meaning: [] };
/** Days since 1970. */
export const DATE: Meaning = { physical: "int32", meaning: logical(6, 6) };
/** Microseconds since 1970 UTC. */
export const TIMESTAMP: Meaning = {
  physical: "int64",
  meaning: logical(10, 8, struct([1, bool(true)], [2, struct([2, struct()])])),
};
