/**
 * Reads and compares the instants of a service: all of RFC 3339, with any offset and fraction, `t` and `z` in lower case,
 * and also without seconds.
 */

const MICROS_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const MILLIS_PER_DAY = 86_400_000;

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** Index of the `T`, of the colon before seconds, and of the first digit after the point. */
const TIME_MARK = 10;
const SECONDS_MARK = 16;
const FRACTION_START = 20;

/** The first second of the year 1 and the last one of the year 9999, in UTC: Python fails for others. */
export const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/** The calendar repeats after this many years. */
const CYCLE_YEARS = 400;
const CYCLE_MILLIS = Date.UTC(1970 + CYCLE_YEARS);

const ZERO = 0x30;

/** Parses the decimal digits from `start` to `end` (exclusive), without making a string of them. */
export function parseDigits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

/** Days since 1970 of a calendar date; `undefined` if there is no such date. */
export function utcDay(year: number, month: number, day: number): number | undefined {
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
export function parseInstant(text: string): number | bigint | undefined {
  const seconds = secondsOfInstant(text);
  if (seconds === undefined) return undefined;
  const micros = microsOfFraction(text);
  const total = seconds * MICROS_PER_SECOND + micros;
  return Number.isSafeInteger(total) ? total : BigInt(seconds) * 1_000_000n + BigInt(micros);
}

/** Index after the last digit of the fraction, or where it would begin. */
function fractionEnd(instant: string): number {
  if (instant[FRACTION_START - 1] !== ".") return FRACTION_START;
  return isUtcMark(instant.at(-1)) ? instant.length - 1 : instant.length - 6;
}

function microsOfFraction(instant: string): number {
  const end = Math.min(fractionEnd(instant), FRACTION_START + 6);
  return parseDigits(instant, FRACTION_START, end) * 10 ** (FRACTION_START + 6 - end);
}

/** Whether an instant has the specification's form: `2024-05-05T10:11:12Z`, with or without a fraction. */
export function hasSpecifiedForm(instant: string): boolean {
  return instant.at(-1) === "Z" && instant[TIME_MARK] === "T" && instant[SECONDS_MARK] === ":";
}

/** The instant with more digits, of two of the same second; else `undefined`. */
export function finerInstant(later: unknown, earlier: unknown): string | undefined {
  if (typeof later !== "string" || typeof earlier !== "string") return undefined;
  if (!isSameSecond(later, earlier)) return undefined;
  return fractionEnd(earlier) > fractionEnd(later) ? earlier : later;
}

export function isSameSecond(a: string, b: string): boolean {
  const seconds = secondsOfInstant(a);
  return seconds !== undefined && seconds === secondsOfInstant(b);
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
