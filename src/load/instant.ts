import { DuckDBTimestampTZValue } from "@duckdb/node-api";

/** Milliseconds since 1970 as a value of the database, which counts microseconds. */
export function instant(milliseconds: number): DuckDBTimestampTZValue {
  return new DuckDBTimestampTZValue(BigInt(milliseconds) * 1000n);
}
