/** Cells, figures and instants, for people. */
import type { DuckDBValue } from "@duckdb/node-api";
import { minuteOf } from "../../common/figures.ts";
import { toSafeInteger } from "../../storage/duckdb.ts";

type Cell = DuckDBValue | undefined;

export function textOrNull(cell: Cell): string | null {
  return cell === null || cell === undefined ? null : String(cell);
}

export function integer(cell: Cell): number {
  return toSafeInteger(cell ?? null);
}

/** `93.4%`; 100% and 0% are said of all and of none alone. Null: there is nothing to take a part of. */
export function percent(part: number, whole: number): string | null {
  if (whole === 0) return null;
  if (part === whole) return "100%";
  if (part === 0) return "0%";
  const share = Math.min(99.9, Math.max(0.1, (part / whole) * 100));
  return `${share.toFixed(1)}%`;
}

/** `5 Nov`, of `Thu, 05 Nov 2026 02:00:00 GMT`. */
export function dayOf(instant: Date): string {
  return instant.toUTCString().slice(5, 11).replace(/^0/, "");
}

/** `2026-11-20 02:00 UTC`. */
export function minute(instant: Date): string {
  return `${minuteOf(instant)} UTC`;
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
