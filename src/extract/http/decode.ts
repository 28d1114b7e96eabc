/**
 * Turns the bytes of an answer into its JSON value, strictly: what is cut, padded or altered on its way is an error and
 * never a shorter answer. Worker threads do it, too. No error shows a piece of the data.
 */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { isObject, parseExact } from "../../common/json.ts";
import { firstFault } from "../../common/parse-form.ts";
import { asSentence, printable } from "../../common/printable.ts";
import { MAX_ATTEMPTS, SourceError, tooDeep, tooLarge } from "./source-error.ts";

/** 64 MB: what one page may take after decompression. */
const DECODED_BYTES = 64 * 1024 * 1024;

/** Fewer, larger pieces: a page of 1 MB takes 1.1 ms to decompress, with the default of 16 KB 1.8 ms. */
const GUNZIP_PIECE_BYTES = 256 * 1024;

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

interface EncodedBody {
  readonly body: Uint8Array;
  /** The headers' values as they came, `null` without one. */
  readonly contentEncoding: string | null;
  readonly contentType: string | null;
}

/**
 * The text of a body, as its bytes in UTF-8. `limitBytes`: largest body after decompression.
 *
 * @throws {SourceError} `source.damaged` for an incomplete or altered body, one that is not UTF-8, or a coding that was
 * not asked for; `source.too_large` above the limit
 */
export function decodeBytes(
  { body, contentEncoding, contentType }: EncodedBody,
  limitBytes = DECODED_BYTES,
): Buffer {
  const decoded = isGzip(contentEncoding) ? gunzip(body, limitBytes) : body;
  if (decoded.byteLength > limitBytes) throw tooLarge(limitBytes);
  const text = Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength);
  if (!isUtf8(text)) {
    const declared = `(content-type: ${declaredAs(contentType)})`;
    throw new SourceError("source.damaged", `The service sent a body that is not UTF-8 text ${declared}.`);
  }
  const marked = text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? text.subarray(BYTE_ORDER_MARK.length) : text;
}

function isGzip(contentEncoding: string | null): boolean {
  const coding = (contentEncoding ?? "").trim().toLowerCase();
  if (coding === "gzip" || coding === "x-gzip") return true;
  if (coding === "" || coding === "identity") return false;
  throw new SourceError(
    "source.damaged",
    `The service used a compression that was not requested (content-encoding: ${declaredAs(coding)}; only gzip was); look for a proxy that recodes responses.`,
  );
}

function declaredAs(header: string | null): string {
  return header === null ? "none" : printable(header);
}

/** One or more gzip members, each whole, and nothing after them. */
function gunzip(bytes: Uint8Array, limitBytes: number): Uint8Array {
  // With `info`, zlib returns more than its declared type says. `bytesWritten`: compressed bytes that were used.
  let inflated: { readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } };
  try {
    const options = { maxOutputLength: limitBytes, chunkSize: GUNZIP_PIECE_BYTES, info: true };
    inflated = gunzipSync(bytes, options) as unknown as typeof inflated;
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limitBytes);
    // A body that was cut may come whole the next time.
    if (code === "Z_BUF_ERROR") throw damagedGzip("it was cut", MAX_ATTEMPTS);
    if (code.startsWith("Z_")) throw damagedGzip(code);
    throw error;
  }
  const { buffer, engine } = inflated;
  // zlib passes over zero bytes after the last member.
  if (engine.bytesWritten !== bytes.byteLength) throw damagedGzip("bytes after its end");
  // What is less than a piece is given as a part of one, which would stay as long as it does.
  return buffer.byteLength < GUNZIP_PIECE_BYTES ? new Uint8Array(buffer) : buffer;
}

function damagedGzip(how: string, attemptsAtMost?: number): SourceError {
  const sentence = `The service sent a damaged gzip body (${how}).`;
  return new SourceError("source.damaged", sentence, { attemptsAtMost });
}

/**
 * The value of a JSON text, as {@link parseExact} gives it.
 *
 * @throws {SourceError} `source.damaged`, with the place and never with data.
 */
export function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    throw notJson(text, error);
  }
}

/** The engine's message quotes the data: only the place is taken from it, where it tells one. */
function notJson(text: string, error: unknown): SourceError {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  const size = text.trim() === "" ? "it is empty" : `${text.length} characters`;
  const place = position === undefined ? "" : `, invalid from position ${position}`;
  return new SourceError("source.damaged", `The service sent a body that is not JSON (${size}${place}).`);
}

/** Throws if a body is a web page, or an error that came with status 200. */
export function assertAnswered(text: string): void {
  const body = readBody(text);
  if (isObject(body) && "error" in body && !("response" in body) && !("id" in body))
    throw errorInside(body.error);
}

/** Throws for a web page, which comes from a service under maintenance or from a proxy. */
export function readBody(text: string): unknown {
  if (!/^\s*</.test(text)) return parseJson(text);
  throw new SourceError(
    "source.unavailable",
    "The service answered with a web page instead of data; it may be under maintenance; run again later, and check the URL.",
  );
}

export function misfit(body: unknown, expected: string, problem: z.ZodError): SourceError {
  if (isObject(body) && "error" in body) return errorInside(body.error);
  return new SourceError(
    "source.protocol",
    `The service did not send ${expected}${firstFault(problem)}; check that the URL names a content service of version 1.`,
  );
}

const SIGN_IN =
  /\b(?:sign(?:ed)?|log(?:ged)?)[ -]?(?:in|on)\b|unauthori[sz]ed|unauthenticated|not authori[sz]ed|credentials|(?:api|access|invalid|expired|missing) token\b|\btoken (?:is |has |was )?(?:invalid|expired|missing)/i;

/** A refused token may come as `{"error": "You need to sign in before continuing."}` with status 200. */
function errorInside(error: unknown): SourceError {
  const words = printable(typeof error === "string" ? error : JSON.stringify(error));
  if (SIGN_IN.test(words)) {
    return new SourceError(
      "source.credentials",
      `The service refused the API token; check the token (CONTENT_API_TOKEN or \`tokenFile\`). It said: ${asSentence(words)}`,
    );
  }
  return new SourceError(
    "source.unavailable",
    `The service answered with a failure; run again later. It said: ${asSentence(words)}`,
  );
}

/** Largest body of a failure that is searched for a message, in bytes after decompression. */
const MAX_MESSAGE_BODY = 256 * 1024;

/** The usual forms of errors: `{"error": "..."}`, and problem documents (RFC 9457). */
const errorBody = z.looseObject({
  error: z.union([z.string(), z.looseObject({ message: z.string() })]).optional(),
  message: z.string().optional(),
  title: z.string().optional(),
  detail: z.string().optional(),
});

/** The service's own message in the body of a failure, as one short clean line, or `""`. Web pages have none. */
export function serviceMessage(response: EncodedBody): string {
  const text = readable(() => decodeBytes(response, MAX_MESSAGE_BODY).toString());
  if (text === undefined) return "";
  const parsed = errorBody.safeParse(readable(() => parseJson(text)));
  if (!parsed.success) return /^text\/plain\b/i.test(response.contentType ?? "") ? printable(text) : "";
  const { error, message, title, detail } = parsed.data;
  const words = typeof error === "object" ? error.message : (error ?? message);
  return printable(words ?? [title, detail].filter((each) => each !== undefined).join(": "));
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof WarehouseError) return undefined;
    throw error;
  }
}
