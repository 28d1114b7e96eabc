import { gunzipSync } from "node:zlib";
import { SourceError } from "./source-error.ts";

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

/**
 * The text of a body. `contentEncoding` is the header's value as it came, `null` without one.
 *
 * @throws {SourceError} `source.damaged` for an incomplete or altered body, or one that is not UTF-8;
 * `source.too_large` above the limit; `source.protocol` for a coding that was not asked for.
 */
export function decodeBody(bytes: Uint8Array, contentEncoding: string | null, limits: DecodeLimits): string {
  const decoded = isGzip(contentEncoding) ? gunzip(bytes, limits.decodedBytes) : bytes;
  if (decoded.byteLength > limits.decodedBytes) throw tooLarge(limits.decodedBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(decoded);
  } catch {
    throw new SourceError("source.damaged", "The service sent a body that is not UTF-8 text.");
  }
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
  return inflated.buffer;
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
 * A number, inside an array or object, that may be more than a double holds: sixteen digits before the point, or any
 * exponent. Texts that look so only cost time. On a page of 0.9 MB that parses in 1 ms the scan takes 0.4 ms;
 * `\d{16}` alone would be as fast, but IDs in hexadecimal match it; looking behind from a digit takes 1.2 ms; the
 * reviver, were it used always, 3 ms more than the parse alone.
 */
const LARGE_NUMBER = /[:,[][ \n\r\t]*-?(?:\d{16}|\d[\d.]*[eE])/g;
/** The same, of the text of one number. */
const LARGE = /^-?(?:\d{16}|\d[\d.]*[eE])/;
const NOT_ZERO = /^-?[0.]*[1-9]/;

/**
 * The value of a JSON text. Integers beyond 2^53, numbers beyond the range of a double (`1e400`) and those that would
 * vanish below it (`1e-999`) come as `RawNumber`, which `JSON.isRawJSON` knows and `JSON.stringify` writes as it came;
 * every other number is a number. A `RawNumber` loses its mark where it is cloned: send text between threads.
 *
 * @throws {SourceError} `source.damaged`, with the place and never with data.
 */
export function parseJson(text: string): unknown {
  try {
    LARGE_NUMBER.lastIndex = 0;
    return LARGE_NUMBER.test(text) ? parseLarge(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SourceError("source.protocol", "The service sent JSON that is nested too deeply to read.");
    }
    throw notJson(text, error);
  }
}

/**
 * Parses a text that may hold large numbers. On a page of a listing only the documents that do are parsed with the
 * reviver, for it makes a parse several times as long.
 */
function parseLarge(text: string): unknown {
  const body: unknown = JSON.parse(text);
  const elements = isListBody(body) ? elementsOf(text, body.response.length) : undefined;
  if (elements === undefined || !isListBody(body)) return JSON.parse(text, keepLarge);
  // A match goes on from where the expression stands.
  LARGE_NUMBER.lastIndex = 0;
  for (const { index } of text.matchAll(LARGE_NUMBER)) {
    const place = elements.findIndex(({ start, end }) => index >= start && index < end);
    const element = elements[place];
    if (element === undefined) return JSON.parse(text, keepLarge);
    body.response[place] = JSON.parse(text.slice(element.start, element.end), keepLarge);
  }
  return body;
}

interface ListBody {
  response: unknown[];
}

function isListBody(body: unknown): body is ListBody {
  return typeof body === "object" && body !== null && "response" in body && Array.isArray(body.response);
}

interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const RESPONSE = /^\s*\{\s*"response"\s*:\s*\[/;

/**
 * Where the objects of a page's `response` stand in its valid text. Undefined where `response` is not its first key or
 * has other elements than objects: then the page is parsed as a whole.
 */
function elementsOf(text: string, count: number): Span[] | undefined {
  const head = RESPONSE.exec(text);
  if (head === null) return undefined;
  const spans: Span[] = [];
  let depth = 0;
  let start = 0;
  for (let at = head[0].length; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_BRACE) {
      if (depth === 0) start = at;
      depth += 1;
    } else if (code === CLOSE_BRACE) {
      depth -= 1;
      if (depth === 0) spans.push({ start, end: at + 1 });
    } else if (code === CLOSE_BRACKET && depth === 0) {
      break;
    }
  }
  return spans.length === count ? spans : undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** Index of the quote that ends the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function keepLarge(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  if (!LARGE.test(context.source) || isExact(value, context.source)) return value;
  return JSON.rawJSON(context.source);
}

function isExact(value: number, source: string): boolean {
  if (value === 0) return !NOT_ZERO.test(source);
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
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
