/**
 * Instants as a service writes them. All of RFC 3339 are read: with any offset, `t` and `z` in lower case, any fraction;
 * without seconds too. Nothing else reads or compares such a text.
 */

const MICROS_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const MILLIS_PER_DAY = 86_400_000;

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** Index of the `T`, of the colon before seconds, and of the first digit after the point. */
const TIME_MARK = 10;
const SECONDS_MARK = 16;
const FRACTION_START = 20;

/** The first second of the year 1 and the last one of the year 9999, in UTC: Python has no others, and fails at them. */
export const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/** The calendar repeats after this many years. */
const CYCLE_YEARS = 400;
const CYCLE_MILLIS = Date.UTC(1970 + CYCLE_YEARS);

const ZERO = 0x30;

/** The number that the decimal digits from `start` to `end` (exclusive) say; a text for each would cost more. */
export function parseDigits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

/** Days since 1970 of a calendar date that exists, else `undefined`: `2024-02-30` does not roll over. */
export function utcDay(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined;
  // A year below 100 would be taken for one of the 20th century.
  const date = Date.UTC(year + CYCLE_YEARS, month - 1, day);
  const nextMonth = Date.UTC(year + CYCLE_YEARS, month, 1);
  return date < nextMonth ? (date - CYCLE_MILLIS) / MILLIS_PER_DAY : undefined;
}

/**
 * Whole seconds since 1970 of an instant of the years 1 to 9999 in UTC; undefined: the text is none. A leap second, which
 * is the last one of a month in UTC, is the second that follows, as in PostgreSQL.
 */
export function secondsOfInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const day = utcDay(parseDigits(text, 0, 4), parseDigits(text, 5, 7), parseDigits(text, 8, 10));
  const hours = parseDigits(text, 11, 13);
  const minutes = parseDigits(text, 14, 16);
  const seconds = text[SECONDS_MARK] === ":" ? parseDigits(text, 17, 19) : 0;
  const offset = offsetSeconds(text);
  if (day === undefined || offset === undefined) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const total = day * SECONDS_PER_DAY + hours * 3600 + minutes * 60 + seconds - offset;
  if (seconds === 60 && !beginsMonth(total)) return undefined;
  return total >= FIRST_SECOND && total <= LAST_SECOND ? total : undefined;
}

/** Of local time before UTC; undefined: there is no such offset. */
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

function beginsMonth(seconds: number): boolean {
  return seconds % SECONDS_PER_DAY === 0 && new Date(seconds * 1000).getUTCDate() === 1;
}

/** Microseconds since 1970 UTC, finer ones cut: BigInt where a number would round them. Undefined: no instant. */
export function parseInstant(text: string): number | bigint | undefined {
  const seconds = secondsOfInstant(text);
  if (seconds === undefined) return undefined;
  const micros = microsOfFraction(text);
  const total = seconds * MICROS_PER_SECOND + micros;
  return Number.isSafeInteger(total) ? total : BigInt(seconds) * 1_000_000n + BigInt(micros);
}

/** Index after the last digit of the fraction; that of its first one where there is none. */
function fractionEnd(instant: string): number {
  if (instant[FRACTION_START - 1] !== ".") return FRACTION_START;
  return isUtcMark(instant.at(-1)) ? instant.length - 1 : instant.length - 6;
}

function microsOfFraction(instant: string): number {
  const end = Math.min(fractionEnd(instant), FRACTION_START + 6);
  return parseDigits(instant, FRACTION_START, end) * 10 ** (FRACTION_START + 6 - end);
}

/** Whether an instant has the form of the specification: `2024-05-05T10:11:12Z`, with or without a fraction. */
export function hasSpecifiedForm(instant: string): boolean {
  return (
    instant.at(-1) === "Z" &&
    instant[TIME_MARK] === "T" &&
    instant[SECONDS_MARK] === ":" &&
    // No leap second.
    instant[SECONDS_MARK + 1] !== "6"
  );
}

/** The finer of two instants that agree to the second; undefined where they do not, or one is no instant. */
export function finerInstant(later: unknown, earlier: unknown): string | undefined {
  if (typeof later !== "string" || typeof earlier !== "string") return undefined;
  if (!isSameSecond(later, earlier)) return undefined;
  return fractionEnd(earlier) > fractionEnd(later) ? earlier : later;
}

/** Whether both are instants of the same second. */
export function isSameSecond(a: string, b: string): boolean {
  const seconds = secondsOfInstant(a);
  return seconds !== undefined && seconds === secondsOfInstant(b);
}

/**
 * What tells two versions of an item apart by their `updated_at`, whose fraction not all listings give: the instant to the
 * second, in the form of the specification. Of a text that is no instant the text, without a fraction.
 */
export function truncateToSecond(text: string): string {
  const seconds = secondsOfInstant(text);
  if (seconds === undefined) return text.replace(/\.\d+/, "");
  if (hasSpecifiedForm(text)) return `${text.slice(0, SECONDS_MARK + 3)}Z`;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
