/**
 * Reads values of documents as cells of a column, and compares them. Instants are all of RFC 3339, with any offset and
 * fraction, `t` and `z` in lower case, and also without seconds.
 */
import { withoutSignature } from "../api/signed-url.ts";
import { isObject, isPrintOf } from "../common/json.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, ColumnType } from "../tables/declare.ts";
import type { DriftSubject, ExtraFields, ItemDocument, RawItem } from "./document.ts";

const MICROS_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const MILLIS_PER_DAY = 86_400_000;

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** Index of the `T`, of the colon before seconds, and of the first digit after the point. */
const TIME_MARK = 10;
const SECONDS_MARK = 16;
const FRACTION_START = 20;

/** The first second of the year 1 and the last one of the year 9999, in UTC: Python fails for others. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/** The calendar repeats after this many years. */
const CYCLE_YEARS = 400;
const CYCLE_MILLIS = Date.UTC(1970 + CYCLE_YEARS);

const ZERO = 0x30;

/** Parses the decimal digits from `start` to `end` (exclusive), without making a string of them. */
function parseDigits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

/** Days since 1970 of a calendar date; `undefined` if there is no such date. */
function utcDay(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined;
  // `Date.UTC` takes a year below 100 for one of the 20th century.
  const date = Date.UTC(year + CYCLE_YEARS, month - 1, day);
  const nextMonth = Date.UTC(year + CYCLE_YEARS, month, 1);
  return date < nextMonth ? (date - CYCLE_MILLIS) / MILLIS_PER_DAY : undefined;
}

/**
 * Whole seconds since 1970; `undefined` if the text is not an instant of the years 1 to 9999 in UTC, or a leap second.
 */
export function secondsOfInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const day = utcDay(parseDigits(text, 0, 4), parseDigits(text, 5, 7), parseDigits(text, 8, 10));
  const hours = parseDigits(text, 11, 13);
  const minutes = parseDigits(text, 14, 16);
  const seconds = text[SECONDS_MARK] === ":" ? parseDigits(text, 17, 19) : 0;
  const offset = offsetSeconds(text);
  if (day === undefined || offset === undefined) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const total = day * SECONDS_PER_DAY + hours * 3600 + minutes * 60 + seconds - offset;
  return total >= FIRST_SECOND && total <= LAST_SECOND ? total : undefined;
}

/** Seconds by which local time is ahead of UTC; `undefined` if there is no such offset. */
function offsetSeconds(text: string): number | undefined {
  const sign = text[text.length - 6];
  if (isUtcMark(text.at(-1))) return 0;
  const hours = parseDigits(text, text.length - 5, text.length - 3);
  const minutes = parseDigits(text, text.length - 2, text.length);
  if (hours > 23 || minutes > 59) return undefined;
  return (hours * 3600 + minutes * 60) * (sign === "-" ? -1 : 1);
}

function isUtcMark(character: string | undefined): boolean {
  return character === "Z" || character === "z";
}

/** Whole microseconds since 1970 UTC, as a BigInt if a number would round them; `undefined` if it is no instant. */
function parseInstant(text: string): number | bigint | undefined {
  const seconds = secondsOfInstant(text);
  if (seconds === undefined) return undefined;
  const end = Math.min(fractionEnd(text), FRACTION_START + 6);
  const micros = parseDigits(text, FRACTION_START, end) * 10 ** (FRACTION_START + 6 - end);
  const total = seconds * MICROS_PER_SECOND + micros;
  return Number.isSafeInteger(total) ? total : BigInt(seconds) * 1_000_000n + BigInt(micros);
}

/** Index after the last digit of the fraction, or where it would begin. */
function fractionEnd(instant: string): number {
  if (instant[FRACTION_START - 1] !== ".") return FRACTION_START;
  return isUtcMark(instant.at(-1)) ? instant.length - 1 : instant.length - 6;
}

/** Whether an instant has the specification's form: `2024-05-05T10:11:12Z`, with or without a fraction. */
function hasSpecifiedForm(instant: string): boolean {
  return instant.at(-1) === "Z" && instant[TIME_MARK] === "T" && instant[SECONDS_MARK] === ":";
}

/** The instant with more digits, of two of the same second; else `undefined`. */
export function finerInstant(later: unknown, earlier: unknown): string | undefined {
  if (typeof later !== "string" || typeof earlier !== "string") return undefined;
  const seconds = secondsOfInstant(later);
  if (seconds === undefined || seconds !== secondsOfInstant(earlier)) return undefined;
  return fractionEnd(earlier) > fractionEnd(later) ? earlier : later;
}

/**
 * An instant in whole seconds, in the specification's form; another text without a fraction. This tells versions of an item
 * apart by `updated_at`, of which not all listings give the fraction.
 */
export function truncateToSecond(text: string): string {
  const seconds = secondsOfInstant(text);
  if (seconds === undefined) return text.replace(/\.\d+/, "");
  if (hasSpecifiedForm(text)) return `${text.slice(0, SECONDS_MARK + 3)}Z`;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

const US_DATE = /^\d\d\/\d\d\/\d\d$/;

/** Days since 1970 of `MM/DD/YY`, which means 20YY. */
function parseUsDate(value: string): number | undefined {
  if (!US_DATE.test(value)) return undefined;
  return utcDay(2000 + parseDigits(value, 6, 8), parseDigits(value, 0, 2), parseDigits(value, 3, 5));
}

/** JSON text of an API value. Exact numbers keep their digits. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** The JSON text of a number that JavaScript would round; `undefined` for other values. */
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
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
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

/** Keeps a value in `extra` that its column cannot hold, and counts it as drift. Returns `null`, the cell. */
export function keepMisfit(
  subject: DriftSubject,
  column: Column,
  path: string,
  value: unknown,
  extra: ExtraFields,
): null {
  const unreadable = typeof value === "string" && (column.type === "timestamp" || column.type === "date");
  subject.drift.note(path, unreadable ? "unreadable" : "type", subject.order, subject.contentId, value);
  extra.set(path, value);
  return null;
}

/** The cell of an API value. Null and absent values are `null`, and so is an empty text if the column says so. */
export function readCell(
  subject: DriftSubject,
  column: Column,
  path: string,
  value: unknown,
  extra: ExtraFields,
): Cell {
  if (value === null || value === undefined) return null;
  if (value === "" && column.emptyDefault === "null") return null;
  const fitting = column.format === "epoch_seconds" ? epochSeconds(value) : PLAIN[column.type](value);
  const cell = fitting ?? keepMisfit(subject, column, path, value, extra);
  if (column.type === "timestamp" && cell !== null && typeof value === "string" && !hasSpecifiedForm(value))
    subject.drift.note(path, "instant_form", subject.order, subject.contentId, value);
  if (column.type !== "double" || typeof cell !== "number") return cell;
  const digits = exactNumber(value);
  if (digits !== undefined && !isPrintOf(cell, digits)) {
    // The column has the nearest double.
    subject.drift.note(path, "rounded", subject.order, subject.contentId, value);
    extra.set(path, value);
  }
  return cell;
}

/**
 * Counts a contradiction between two documents of an item. It is `versions_differ` if the documents have different times:
 * then the service answered from two states of the item.
 */
export function noteDifference(item: RawItem, path: string, later: unknown, earlier: unknown): void {
  if (sameJson(later, earlier) || isDescribed(later, earlier)) return;
  const kind =
    isOfTwoTimes(item.views) && !isOfTimes(path, later, earlier) ? "versions_differ" : "views_differ";
  item.drift.note(path, kind, item.order, item.contentId, [later, earlier]);
}

/** Whether one value is an ID, and the other an object with this ID. */
function isDescribed(one: unknown, other: unknown): boolean {
  const [id, described] = typeof one === "string" ? [one, other] : [other, one];
  return typeof id === "string" && isObject(described) && described.id === id;
}

/** Whether values differ only in `updated_at`, by which the modes may mean different times. */
function isOfTimes(path: string, later: unknown, earlier: unknown): boolean {
  return path.endsWith(".updated_at") || sameJson(withoutTimes(later), withoutTimes(earlier));
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isObject(value)) return value;
  const others = Object.entries(value).filter(([name]) => name !== "updated_at");
  return Object.fromEntries(others.map(([name, inner]) => [name, withoutTimes(inner)]));
}

/** Whether the documents have more than one `updated_at`, to the second. */
function isOfTwoTimes(views: readonly ItemDocument[]): boolean {
  const times = views.map(({ document }) => document.updated_at).filter((time) => typeof time === "string");
  return new Set(times.map(truncateToSecond)).size > 1;
}

/** Whether two API values are equal. Ignores the order of keys, fractions of seconds and the signatures of URLs. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "string" && typeof b === "string")
    return finerInstant(a, b) !== undefined || withoutSignature(a) === withoutSignature(b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, i) => sameJson(element, b[i]));
  }
  if (!isObject(a) || !isObject(b)) {
    return typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b);
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
