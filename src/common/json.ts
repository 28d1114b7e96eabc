/** Parses JSON without losing digits of numbers that a double cannot hold. */

declare global {
  interface JSON {
    /** A number that a double cannot hold. `JSON.stringify` writes it with all its digits. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Matches a number in an array or object that a double may not hold: sixteen digits, or any exponent. A false match only
 * costs time: a reviver takes three times as long as the parse, the scan a third of it. Pages are not scanned, because
 * the search for their elements finds these numbers too (`Element.large`).
 */
const LARGE_NUMBER = /[:,[][ \n\r\t]*-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
/** The same for the text of one number. */
const LARGE = /^-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
const NOT_ZERO = /^-?[0.]*[1-9]/;

/**
 * Parses a JSON text. Numbers that a double cannot hold (integers beyond 2^53, `1e400`, `0.12345678901234567890`) are
 * kept as raw JSON, which `JSON.stringify` writes unchanged. Cloning loses this, so send text between threads.
 *
 * @throws {SyntaxError} for what is not JSON; its message quotes the text
 * @throws {RangeError} for what is nested too deeply
 */
export function parseExact(text: string): unknown {
  return mayHoldLarge(text) ? parseLarge(text) : JSON.parse(text);
}

/** Like {@link parseExact}; `undefined` for text that is not JSON. */
export function parseIfJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON text may hold a number that a double cannot. */
export function mayHoldLarge(text: string): boolean {
  return LARGE_NUMBER.test(text);
}

/** Parses a text that may hold such numbers, in several times the time. Use it only for elements that need it. */
export function parseLarge(text: string): unknown {
  return JSON.parse(text, keepLarge);
}

function keepLarge(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  if (!LARGE.test(context.source) || isExact(value, context.source)) return value;
  return JSON.rawJSON(context.source);
}

/** Whether a double equals the number in the text: its shortest text has the same digits. */
function isExact(value: number, source: string): boolean {
  if (value === 0) return !NOT_ZERO.test(source);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  return digitsOf(String(value)) === digitsOf(source);
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Digits of a number without outer zeros, and the place of its point: equal for all spellings of one number. */
function digitsOf(decimal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(decimal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Whether a text is the double printed in its shortest form or with 17 digits, as by `%.17g`. */
export function isPrintOf(double: number, text: string): boolean {
  const digits = digitsOf(text);
  return digits === digitsOf(String(double)) || digits === digitsOf(double.toPrecision(17));
}

/** Matches an escaped surrogate without its other half, or a backslash that may hide one. */
const HALF =
  /\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]|\\\\u[dD]/;

/**
 * Whether a JSON text may hold lone surrogates. Few texts have such escapes at all, and a plain search takes a tenth of
 * the time of the expression.
 */
export function mayHaveLoneSurrogates(json: string): boolean {
  return (json.includes("\\ud") || json.includes("\\uD")) && HALF.test(json);
}

export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, but neither a list nor a number kept as raw JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
