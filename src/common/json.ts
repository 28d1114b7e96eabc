/** JSON without loss: numbers that a double cannot hold keep their digits. Pure. */

/** A number that a double cannot hold, with its exact text: `JSON.stringify` writes it as it came. */
export interface RawNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * A number in an array or object that may be more than a double holds: sixteen digits, or any exponent. Texts that look
 * so only cost time: a reviver takes three times as long as the parse, the scan a third of it. Pages are not scanned:
 * where their elements are looked for, these numbers are too (`Element.large`).
 */
const LARGE_NUMBER = /[:,[][ \n\r\t]*-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
/** The same, of the text of one number. */
const LARGE = /^-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
const NOT_ZERO = /^-?[0.]*[1-9]/;

/**
 * The value of a JSON text. Numbers that a double does not hold (integers beyond 2^53, `1e400`, `1e-999`,
 * `0.12345678901234567890`) come as `RawNumber`, which `JSON.stringify` writes as it came. It loses its mark where it
 * is cloned: send text between threads.
 *
 * @throws {SyntaxError} for what is not JSON; its message quotes the text
 * @throws {RangeError} for what is nested too deeply
 */
export function parseExact(text: string): unknown {
  return mayHoldLarge(text) ? parseLarge(text) : JSON.parse(text);
}

/** The same of a text that may be JSON; undefined: it is not. */
export function parseIfJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON text may hold a number that is more than a double. */
export function mayHoldLarge(text: string): boolean {
  return LARGE_NUMBER.test(text);
}

/** Parses a text that may hold large numbers, in several times the time: of a page only the elements that do. */
export function parseLarge(text: string): unknown {
  return JSON.parse(text, keepLarge);
}

function keepLarge(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  if (!LARGE.test(context.source) || isExact(value, context.source)) return value;
  return JSON.rawJSON(context.source);
}

/** Whether the double is the number that was sent: the shortest text that gives the double says the same number. */
function isExact(value: number, source: string): boolean {
  if (value === 0) return !NOT_ZERO.test(source);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  return digitsOf(String(value)) === digitsOf(source);
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number's digits without zeros at either end, and where its point is: the same for each spelling of the number. */
function digitsOf(decimal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(decimal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Whether the double gives the text back: as its shortest one or with 17 digits, as `%.17g` prints. */
export function isPrintOf(double: number, text: string): boolean {
  const digits = digitsOf(text);
  return digits === digitsOf(String(double)) || digits === digitsOf(double.toPrecision(17));
}

/** An escape of half a character without the other before or after it; or a backslash that hides where one begins. */
const HALF =
  /\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]|\\\\u[dD]/;

/**
 * Whether a JSON text may hold halves of characters; if not, nothing in it need be looked at. Few texts have such
 * escapes at all, which a search tells in a tenth of the expression's time.
 */
export function mayHoldHalves(json: string): boolean {
  return (json.includes("\\ud") || json.includes("\\uD")) && HALF.test(json);
}
