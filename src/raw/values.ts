/** Turns API values into cells, by the type of the column. `undefined` means that the value does not fit. */

import type { Cell } from "../storage/table-builder.ts";
import type { Column, ColumnType } from "../tables/declare.ts";
import { FIRST_SECOND, parseDigits, parseInstant, utcDay } from "./instant.ts";

const INT64_MAX = 2n ** 63n - 1n;
const US_DATE = /^\d\d\/\d\d\/\d\d$/;

/** Days since 1970 of `MM/DD/YY`, which means 20YY. */
export function parseUsDate(value: string): number | undefined {
  if (!US_DATE.test(value)) return undefined;
  return utcDay(2000 + parseDigits(value, 6, 8), parseDigits(value, 0, 2), parseDigits(value, 3, 5));
}

/** JSON text of an API value. Exact numbers keep their digits. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** The JSON text of a number that JavaScript would round; `undefined` for other values. */
export function exactNumber(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && JSON.isRawJSON(value)
    ? String(value.rawJSON)
    : undefined;
}

function integerCell(value: unknown, fits: (n: number) => boolean): Cell | undefined {
  return typeof value === "number" && Number.isInteger(value) && fits(value) ? value : undefined;
}

function bigintCell(value: unknown): Cell | undefined {
  const exact = exactNumber(value);
  if (exact === undefined) return integerCell(value, Number.isSafeInteger);
  if (!/^-?\d+$/.test(exact)) return undefined;
  const integer = BigInt(exact);
  return integer <= INT64_MAX && integer >= -INT64_MAX - 1n ? integer : undefined;
}

function doubleCell(value: unknown): Cell | undefined {
  const number = typeof value === "number" ? value : Number(exactNumber(value) ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

const PLAIN: Record<ColumnType, (value: unknown) => Cell | undefined> = {
  text: (value) => (typeof value === "string" ? value : undefined),
  json: jsonText,
  boolean: (value) => (typeof value === "boolean" ? value : undefined),
  integer: (value) => integerCell(value, (n) => n === (n | 0)),
  bigint: bigintCell,
  double: doubleCell,
  timestamp: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
  date: (value) => (typeof value === "string" ? parseUsDate(value) : undefined),
};

/** Larger numbers are milliseconds. */
const EPOCH_SECONDS_BELOW = 1e11;

function epochSeconds(value: unknown): Cell | undefined {
  const seconds = integerCell(value, (n) => n >= FIRST_SECOND && n < EPOCH_SECONDS_BELOW);
  if (typeof seconds !== "number") return undefined;
  const micros = seconds * 1_000_000;
  return Number.isSafeInteger(micros) ? micros : BigInt(seconds) * 1_000_000n;
}

/** The cell of an API value that is neither null nor absent; `undefined` if it does not fit. */
export function toCell(column: Pick<Column, "type" | "format">, value: unknown): Cell | undefined {
  return column.format === "epoch_seconds" ? epochSeconds(value) : PLAIN[column.type](value);
}
