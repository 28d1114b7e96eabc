/** Wire values as cells: one rule per column type. What does not fit is `undefined`, and the caller keeps it. */
import type { Column, ColumnType } from "../tables/declare.ts";
import type { Cell } from "./columns.ts";

const MICROS_PER_SECOND = 1_000_000;
const MILLIS_PER_DAY = 86_400_000;
const INT64_MAX = 2n ** 63n - 1n;

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z$/;
const US_DATE = /^(\d\d)\/(\d\d)\/(\d\d)$/;

/** Milliseconds since 1970 of a calendar date that exists, else `undefined`: `2024-02-30` does not roll over. */
function utcDate(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/**
 * Microseconds since 1970 UTC of `YYYY-MM-DDTHH:MM:SS[.fraction]Z`; `undefined` for any other text and for instants
 * that do not exist. Finer fractions than microseconds are cut.
 */
export function parseInstant(value: string): number | bigint | undefined {
  const match = INSTANT.exec(value);
  if (match === null) return undefined;
  const [, year, month, day, hours, minutes, seconds, fraction = ""] = match;
  const date = utcDate(Number(year), Number(month), Number(day));
  if (date === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return undefined;
  const wholeSeconds = date / 1000 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  const total = wholeSeconds * MICROS_PER_SECOND + micros;
  return Number.isSafeInteger(total) ? total : BigInt(wholeSeconds) * 1_000_000n + BigInt(micros);
}

/** Days since 1970 of `MM/DD/YY`, which means 20YY. */
export function parseUsDate(value: string): number | undefined {
  const match = US_DATE.exec(value);
  if (match === null) return undefined;
  const date = utcDate(2000 + Number(match[3]), Number(match[1]), Number(match[2]));
  return date === undefined ? undefined : date / MILLIS_PER_DAY;
}

/** JSON text of a wire value; numbers that were kept exactly come out as they were sent. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** A number that JavaScript would have rounded, kept as its JSON text. */
function exactNumber(value: unknown): string | undefined {
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

/** The cell of a wire value that is neither null nor absent; `undefined` where it does not fit the column. */
export function cellOf(column: Pick<Column, "type" | "format">, value: unknown): Cell | undefined {
  return column.format === "epoch_seconds" ? epochSeconds(value) : PLAIN[column.type](value);
}
