/**
 * Objects that stand in one document after another, word for word: descriptions of users and content types, definitions
 * of fields. They make more than half of a full document. Which ones do is found out and not declared: an object that
 * comes a second time is learned, and known from then on without a look at what is in it.
 */

import { mayHoldLarge } from "../../common/json.ts";
import { countNames, hasCanonicalStrings } from "./canonical-json.ts";

const CLOSE_BRACE = 0x7d;

export interface CachedObject {
  /** A copy of its text in UTF-8. */
  readonly bytes: Buffer;
  /** How many members there are in it, at any depth. */
  readonly nameCount: number;
  /** It is not given any more. */
  refused: boolean;
}

/** Bytes that an object is looked up by. */
const HEAD_BYTES = 40;
/** Shorter ones are parsed nearly as fast as they are found. */
const MIN_BYTES = 192;
/** 64 KB: longer ones are no descriptions. */
const MOST_BYTES = 64 * 1024;
/** Objects that begin alike, at most: each is held against the bytes of a page. */
const MAX_ALIKE = 16;
/** 2 MB: texts of all that is known. */
const KNOWN_BYTES = 2 * 1024 * 1024;
/** Objects that were seen once and are remembered, a power of two. */
const SEEN_ONCE = 4096;

export class ObjectCache {
  readonly #known = new Map<number, CachedObject[]>();
  /** What came last of those that share a place. */
  readonly #seen = new Int32Array(SEEN_ONCE);
  #knownBytes = 0;

  /**
   * The known object whose text stands at `at`. A text of JSON that begins with the whole text of an object has that
   * object there and ends it there: nothing behind it need be looked at.
   */
  at(bytes: Buffer, at: number): CachedObject | undefined {
    if (at + MIN_BYTES > bytes.length) return undefined;
    const alike = this.#known.get(headOf(bytes, at));
    if (alike === undefined) return undefined;
    const place = placeOf(alike, bytes, at);
    const found = alike[place];
    if (found === undefined) return undefined;
    // What came last is likely to come next.
    alike[place] = alike[0] ?? found;
    alike[0] = found;
    return found.refused ? undefined : found;
  }

  /**
   * Told of an object that is not known. The second time it is learned, if it is one that leaves nothing open: each name
   * in it stands once, no number in it is more than a double, no text in it is spelled in another way than
   * `JSON.stringify` would. Any other is kept too, and refused. `nameCount`: as counted in the text.
   */
  note(bytes: Buffer, start: number, end: number, nameCount: number): void {
    const length = end - start;
    if (length < MIN_BYTES || length > MOST_BYTES || this.#knownBytes + length > KNOWN_BYTES) return;
    const head = headOf(bytes, start);
    const seen = Math.imul(head ^ length, 0x9e3779b1);
    const place = seen & (SEEN_ONCE - 1);
    if (this.#seen[place] !== seen) {
      this.#seen[place] = seen;
      return;
    }
    const alike = this.#known.get(head) ?? [];
    if (alike.length === MAX_ALIKE || placeOf(alike, bytes, start) >= 0) return;
    const refused = !leavesNothingOpen(bytes.toString("utf8", start, end), nameCount);
    alike.push({ bytes: Buffer.from(bytes.subarray(start, end)), nameCount, refused });
    this.#known.set(head, alike);
    this.#knownBytes += length;
  }
}

function leavesNothingOpen(text: string, nameCount: number): boolean {
  if (mayHoldLarge(text) || !hasCanonicalStrings(text)) return false;
  try {
    return countNames(JSON.parse(text)) === nameCount;
  } catch {
    return false;
  }
}

/** Of the object whose text stands at `at`; -1: none does. */
function placeOf(alike: readonly CachedObject[], bytes: Buffer, at: number): number {
  for (let place = 0; place < alike.length; place++) {
    const text = alike[place]?.bytes;
    if (text !== undefined && standsAt(text, bytes, at)) return place;
  }
  return -1;
}

/** A look at two bytes spares most comparisons. */
function standsAt(text: Buffer, bytes: Buffer, at: number): boolean {
  const { length } = text;
  const end = at + length;
  const middle = length >> 1;
  if (bytes[end - 1] !== CLOSE_BRACE || bytes[at + middle] !== text[middle]) return false;
  return bytes.compare(text, 0, length, at, end) === 0;
}

/** Of the first bytes, which are there: FNV-1a. */
function headOf(bytes: Buffer, at: number): number {
  let hash = 0x811c9dc5;
  for (let place = at; place < at + HEAD_BYTES; place++)
    hash = Math.imul(hash ^ (bytes[place] ?? 0), 0x01000193);
  return hash;
}
