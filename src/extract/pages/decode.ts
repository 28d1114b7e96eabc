import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { digitsOf } from "../../common/decimal.ts";
import { SourceError, tooDeep } from "../http/source-error.ts";

/**
 * From the bytes of an answer to its JSON value, strictly: what is cut, padded or altered on its way is an error and
 * never a shorter answer. Pure, so that worker threads can do it. No error shows a piece of the data.
 */

export interface DecodeLimits {
  /** Largest body after decompression, in bytes. */
  readonly decodedBytes: number;
}

/** 64 MB: what one page may take after decompression. */
export const DECODE_LIMITS: DecodeLimits = { decodedBytes: 64 * 1024 * 1024 };

/** Fewer, larger pieces: a page of 1 MB takes 1.1 ms to decompress, with the default of 16 KB 1.8 ms. */
const GUNZIP_PIECE_BYTES = 256 * 1024;

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/**
 * The text of a body, as its bytes in UTF-8. `contentEncoding` is the header's value as it came, `null` without one.
 *
 * @throws {SourceError} `source.damaged` for an incomplete or altered body, or one that is not UTF-8;
 * `source.too_large` above the limit; `source.protocol` for a coding that was not asked for.
 */
export function decodeBytes(bytes: Uint8Array, contentEncoding: string | null, limits: DecodeLimits): Buffer {
  const decoded = isGzip(contentEncoding) ? gunzip(bytes, limits.decodedBytes) : bytes;
  if (decoded.byteLength > limits.decodedBytes) throw tooLarge(limits.decodedBytes);
  const text = Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength);
  if (!isUtf8(text)) {
    throw new SourceError("source.damaged", "The service sent a body that is not UTF-8 text.");
  }
  const marked = text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? text.subarray(BYTE_ORDER_MARK.length) : text;
}

/** The text of a body. Errors as of {@link decodeBytes}. */
export function decodeBody(bytes: Uint8Array, contentEncoding: string | null, limits: DecodeLimits): string {
  return decodeBytes(bytes, contentEncoding, limits).toString();
}

function isGzip(contentEncoding: string | null): boolean {
  const coding = (contentEncoding ?? "").trim().toLowerCase();
  if (coding === "gzip" || coding === "x-gzip") return true;
  if (coding === "" || coding === "identity") return false;
  throw new SourceError(
    "source.protocol",
    "The service compressed a body in a way that was not asked for (only gzip was); look for a proxy that recodes answers.",
  );
}

/** One or more gzip members, each whole, and nothing after them. */
function gunzip(bytes: Uint8Array, limitBytes: number): Uint8Array {
  const inflated = inflate(bytes, limitBytes);
  // zlib passes over zero bytes after the last member.
  if (inflated.engine.bytesWritten !== bytes.byteLength) throw damagedGzip("bytes after its end");
  // What is less than a piece is given as a part of one, which would stay as long as it does.
  return inflated.buffer.byteLength < GUNZIP_PIECE_BYTES ? new Uint8Array(inflated.buffer) : inflated.buffer;
}

interface Inflated {
  readonly buffer: Uint8Array;
  /** `bytesWritten`: compressed bytes that were used. */
  readonly engine: { readonly bytesWritten: number };
}

function inflate(bytes: Uint8Array, limitBytes: number): Inflated {
  let result: unknown;
  try {
    result = gunzipSync(bytes, { maxOutputLength: limitBytes, chunkSize: GUNZIP_PIECE_BYTES, info: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limitBytes);
    if (code.startsWith("Z_")) throw damagedGzip(code);
    throw error;
  }
  if (isInflated(result)) return result;
  throw new TypeError("zlib gave no account of what it read");
}

/** With `info`, zlib answers more than its declared type says. */
function isInflated(value: unknown): value is Inflated {
  return typeof value === "object" && value !== null && "buffer" in value && "engine" in value;
}

function damagedGzip(how: string): SourceError {
  return new SourceError("source.damaged", `The service sent a compressed body that is damaged (${how}).`);
}

function tooLarge(limitBytes: number): SourceError {
  const limit = `${Math.floor(limitBytes / 1024 / 1024)} MB`;
  return new SourceError(
    "source.too_large",
    `The service sent a body larger than ${limit}; set a smaller \`perPage\` in the configuration.`,
  );
}

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
 * A number, inside an array or object, that may be more than a double holds: sixteen digits, with or without a point
 * among them, or any exponent. Texts that look so only cost time. Of 0.9 MB that parse in 1 ms the scan takes 0.4 ms; `\d{16}` alone would
 * be as fast, but IDs in hexadecimal match it; looking behind from a digit takes 1.2 ms; the reviver, were it used
 * always, 3 ms more than the parse alone. Pages are not scanned so: where their elements are looked for, these numbers
 * are too (`Element.large`).
 */
const LARGE_NUMBER = /[:,[][ \n\r\t]*-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
/** The same, of the text of one number. */
const LARGE = /^-?(?:\d{16}|\d[\d.]{16}|\d[\d.]*[eE])/;
const NOT_ZERO = /^-?[0.]*[1-9]/;

/**
 * The value of a JSON text. Integers beyond 2^53, numbers beyond the range of a double (`1e400`), those that would vanish
 * below it (`1e-999`) and those with more digits than it holds (`0.12345678901234567890`) come as `RawNumber`, which `JSON.isRawJSON` knows and `JSON.stringify` writes as it came;
 * every other number is a number. A `RawNumber` loses its mark where it is cloned: send text between threads.
 *
 * @throws {SourceError} `source.damaged`, with the place and never with data.
 */
export function parseJson(text: string): unknown {
  try {
    return mayHoldLarge(text) ? parseLarge(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    throw notJson(text, error);
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

/** The engine's message quotes the data: only the place is taken from it, where it tells one. */
function notJson(text: string, error: unknown): SourceError {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  const size = text.trim() === "" ? "it is empty" : `${text.length} characters`;
  const place = position === undefined ? "" : `, wrong from ${position} on`;
  return new SourceError("source.damaged", `The service sent a body that is not JSON (${size}${place}).`, {
    attemptsAtMost: 2,
  });
}
