/**
 * Caches objects that many documents repeat byte for byte: descriptions of users and content types, definitions of
 * fields. They are more than half of a full document. An object is cached when it is seen for the second time, and is
 * not parsed again after that.
 */
import { isObject, type JsonObject, mayHoldLarge } from "../../common/json.ts";
import { deeplyFrozen, type Shape } from "../../raw/document.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { DocumentPreparer } from "../../raw/prepare.ts";

const CLOSE_BRACE = 0x7d;

export interface CachedObject {
  /** Its text in UTF-8. */
  readonly bytes: Buffer;
  /** Number of member names at any depth. */
  readonly nameCount: number;
  /** Whether the cache must not return it: it has to be parsed each time. */
  refused: boolean;
  /** It stands in few members. */
  readonly prepared: PreparedObject[];
}

/** A member that an object stands in: as its value, or in the list that is its value. */
interface ObjectMember {
  readonly shape: Shape;
  readonly name: string;
  readonly isListed: boolean;
}

/** An object as the raw documents have it in one member. */
export interface PreparedObject extends ObjectMember {
  /** Frozen: all documents that hold the object share it. */
  readonly value: JsonObject;
  /** The member with this value, as `JSON.stringify` writes it, in UTF-8. */
  readonly member: Buffer;
  /** Drift to count for each document that holds the object. */
  readonly drift: readonly DriftEntry[];
}

/** Bytes of the lookup key. */
const HEAD_BYTES = 40;
/** Shorter objects are parsed nearly as fast as they are found. */
const MIN_BYTES = 192;
/** 64 KB: longer objects are not descriptions. */
const MAX_BYTES = 64 * 1024;
/** Cached objects with the same key: each is compared with the bytes of a page. */
const MAX_ALIKE = 16;
/** 2 MB: texts of all cached objects. */
const MAX_CACHE_BYTES = 2 * 1024 * 1024;
/** Objects seen once that are remembered; a power of two. */
const SEEN_ONCE = 4096;

export class ObjectCache {
  readonly #known = new Map<number, CachedObject[]>();
  /** Hash of the last object seen, by hash modulo the size. */
  readonly #seen = new Int32Array(SEEN_ONCE);
  #knownBytes = 0;

  /** The cached object whose text stands at `at`. JSON that begins with the text of an object begins with that object. */
  at(bytes: Buffer, at: number): CachedObject | undefined {
    if (at + MIN_BYTES > bytes.length) return undefined;
    const found = oneAt(this.#known.get(headOf(bytes, at)), bytes, at);
    return found?.refused ? undefined : found;
  }

  /**
   * Caches an object when it is seen for the second time. It is refused if parsing loses something: if it repeats a name,
   * holds a number that a double cannot hold, or a string that `JSON.stringify` writes in another way. `nameCount`: number
   * of names in its text.
   */
  learn(bytes: Buffer, start: number, end: number, nameCount: number): void {
    const length = end - start;
    if (length < MIN_BYTES || length > MAX_BYTES || this.#knownBytes + length > MAX_CACHE_BYTES) return;
    const head = headOf(bytes, start);
    const seen = Math.imul(head ^ length, 0x9e3779b1);
    const place = seen & (SEEN_ONCE - 1);
    if (this.#seen[place] !== seen) {
      this.#seen[place] = seen;
      return;
    }
    const alike = this.#known.get(head) ?? [];
    if (alike.length === MAX_ALIKE || oneAt(alike, bytes, start) !== undefined) return;
    const refused = !isLossless(bytes.toString("utf8", start, end), nameCount);
    alike.push({ bytes: Buffer.from(bytes.subarray(start, end)), nameCount, refused, prepared: [] });
    this.#known.set(head, alike);
    this.#knownBytes += length;
  }
}

/** Position of the document that an object is prepared in. Drift with this ID belongs to an item, not to the object. */
const SOME_DOCUMENT = { order: 1, contentId: "some document" };

/**
 * Prepares an object in a document that has only this member, once. `undefined` if the object must be prepared with its
 * document; then it is not cached any more. The member must not be renamed.
 */
export function preparedObject(
  object: CachedObject,
  { shape, name, isListed }: ObjectMember,
  prepare: DocumentPreparer,
): PreparedObject | undefined {
  const known = object.prepared.find(
    (each) => each.name === name && each.shape === shape && each.isListed === isListed,
  );
  if (known !== undefined || object.refused) return known;
  const parsed: unknown = JSON.parse(object.bytes.toString());
  const document: JsonObject = { [name]: isListed ? [parsed] : parsed };
  const found = new Drift();
  prepare(shape, document, SOME_DOCUMENT, found);
  const member = document[name];
  const value = Array.isArray(member) ? member[0] : member;
  const drift = found.take();
  if (!isObject(value) || drift.some(({ contentId }) => contentId !== null)) {
    object.refused = true;
    return undefined;
  }
  const text = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const made = { shape, name, isListed, value: deeplyFrozen(value), member: text, drift };
  object.prepared.push(made);
  return made;
}

function isLossless(text: string, nameCount: number): boolean {
  if (mayHoldLarge(text) || !hasCanonicalStrings(text)) return false;
  try {
    return countNames(JSON.parse(text)) === nameCount;
  } catch {
    return false;
  }
}

/** The one of the objects whose text stands at `at`. */
function oneAt(
  alike: readonly CachedObject[] | undefined,
  bytes: Buffer,
  at: number,
): CachedObject | undefined {
  for (const object of alike ?? []) if (standsAt(object.bytes, bytes, at)) return object;
  return undefined;
}

/** Compares two bytes first, which avoids most comparisons. */
function standsAt(text: Buffer, bytes: Buffer, at: number): boolean {
  const { length } = text;
  const end = at + length;
  const middle = length >> 1;
  if (bytes[end - 1] !== CLOSE_BRACE || bytes[at + middle] !== text[middle]) return false;
  return bytes.compare(text, 0, length, at, end) === 0;
}

/** FNV-1a of the first bytes, which must be there. */
function headOf(bytes: Buffer, at: number): number {
  let hash = 0x811c9dc5;
  for (let place = at; place < at + HEAD_BYTES; place++)
    hash = Math.imul(hash ^ (bytes[place] ?? 0), 0x01000193);
  return hash;
}

/** Deeper values are not counted, because the stack may have no room for them. */
const MAX_LEVELS = 1000;

/**
 * Number of member names in a value, at any depth; `NaN` if it is nested too deeply. If a text has more names than its
 * value, a name is repeated and hides its first value.
 */
export function countNames(value: object, level = 1): number {
  if (level > MAX_LEVELS) return Number.NaN;
  let names = 0;
  if (Array.isArray(value)) {
    for (const element of value)
      if (typeof element === "object" && element !== null) names += countNames(element, level + 1);
    return names;
  }
  for (const name in value) {
    names += 1;
    const inner: unknown = value[name as keyof typeof value];
    if (typeof inner === "object" && inner !== null) names += countNames(inner, level + 1);
  }
  return names;
}

/** Whether the strings of a JSON text are written as `JSON.stringify` writes them: without needless escapes. */
export function hasCanonicalStrings(text: string): boolean {
  return !text.includes("\\u") && !text.includes("\\/");
}
