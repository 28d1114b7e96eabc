/** API values as cells: one rule per column type. What does not fit is `undefined`, and the caller keeps it. */

import type { Cell } from "../storage/table-builder.ts";
import type { Column, ColumnType } from "../tables/declare.ts";

const MICROS_PER_SECOND = 1_000_000;
const MILLIS_PER_DAY = 86_400_000;
const INT64_MAX = 2n ** 63n - 1n;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const US_DATE = /^\d\d\/\d\d\/\d\d$/;

/** The calendar repeats after this many years. */
const CYCLE_YEARS = 400;
const CYCLE_MILLIS = Date.UTC(1970 + CYCLE_YEARS);

const ZERO = 0x30;

/** The number that the decimal digits from `start` to `end` (exclusive) say; a text for each would cost more. */
function digits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

/** Milliseconds since 1970 of a calendar date that exists, else `undefined`: `2024-02-30` does not roll over. */
function utcDate(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined;
  // A year below 100 would be taken for one of the 20th century.
  const date = Date.UTC(year + CYCLE_YEARS, month - 1, day);
  const nextMonth = Date.UTC(year + CYCLE_YEARS, month, 1);
  return date < nextMonth ? date - CYCLE_MILLIS : undefined;
}

/** Microseconds since 1970 UTC of `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, finer ones cut; undefined: no such instant. */
export function parseInstant(value: string): number | bigint | undefined {
  if (!INSTANT.test(value)) return undefined;
  const date = utcDate(digits(value, 0, 4), digits(value, 5, 7), digits(value, 8, 10));
  const hours = digits(value, 11, 13);
  const minutes = digits(value, 14, 16);
  const seconds = digits(value, 17, 19);
  if (date === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const wholeSeconds = date / 1000 + hours * 3600 + minutes * 60 + seconds;
  const micros = microsOfFraction(value);
  const total = wholeSeconds * MICROS_PER_SECOND + micros;
  return Number.isSafeInteger(total) ? total : BigInt(wholeSeconds) * 1_000_000n + BigInt(micros);
}

function microsOfFraction(instant: string): number {
  const end = Math.min(instant.length - 1, FRACTION_START + 6);
  return end <= FRACTION_START ? 0 : digits(instant, FRACTION_START, end) * 10 ** (FRACTION_START + 6 - end);
}

/** Index of the first digit after the point. */
const FRACTION_START = 20;

/** Days since 1970 of `MM/DD/YY`, which means 20YY. */
export function parseUsDate(value: string): number | undefined {
  if (!US_DATE.test(value)) return undefined;
  const date = utcDate(2000 + digits(value, 6, 8), digits(value, 0, 2), digits(value, 3, 5));
  return date === undefined ? undefined : date / MILLIS_PER_DAY;
}

/** JSON text of an API value; numbers that were kept exactly come out as they were sent. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** A number that JavaScript would have rounded, kept as its JSON text. */
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

function epochSeconds(value: unknown): Cell | undefined {
  const seconds = integerCell(value, (n) => Math.abs(n) < 1e11);
  return typeof seconds === "number" ? seconds * MICROS_PER_SECOND : undefined;
}

/** The cell of an API value that is neither null nor absent; `undefined` where it does not fit the column. */
export function cellOf(column: Pick<Column, "type" | "format">, value: unknown): Cell | undefined {
  return column.format === "epoch_seconds" ? epochSeconds(value) : PLAIN[column.type](value);
}
