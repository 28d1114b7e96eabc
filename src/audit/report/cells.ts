/** Cells of the run's tables, as what they are. */
import { DuckDBTimestampTZValue, type DuckDBValue } from "@duckdb/node-api";
import { toSafeInteger } from "../../storage/duckdb.ts";

type Cell = DuckDBValue | undefined;

export function text(cell: Cell): string {
  return String(cell);
}

export function textOrNull(cell: Cell): string | null {
  return cell === null || cell === undefined ? null : String(cell);
}

export function integer(cell: Cell): number {
  return toSafeInteger(cell ?? null);
}

export function integerOrNull(cell: Cell): number | null {
  return cell === null || cell === undefined ? null : toSafeInteger(cell);
}

export function instant(cell: Cell): Date {
  if (cell instanceof DuckDBTimestampTZValue) return new Date(Number(cell.micros / 1000n));
  throw new TypeError(`${String(cell)} is no instant`);
}
