/**
 * Finds the elements of a page's `response` in its bytes, so that each can be decoded and parsed by itself. A page that
 * is parsed as a whole holds all its documents in memory at once, and one character beyond Latin-1 doubles the size of
 * all its strings.
 */

import type { CachedObject, ObjectCache } from "./object-cache.ts";

/** A cached object in an element: the value of one of its members, or an element of the list that is this value. */
interface ObjectMatch {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Index of the member in the element. */
  readonly member: number;
  /** Index in the list; `undefined` if the object is the member's value. */
  readonly place: number | undefined;
  readonly object: CachedObject;
}

/** One element of a page's list, with the white space around it. */
export interface PageElement {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /**
   * Whether it may hold a number that a double cannot hold: sixteen digits, or an exponent. Never false if `parseJson`
   * would keep the digits of a number. Cached objects hold no such number.
   */
  readonly large: boolean;
  /** Positions of an object's own braces and of the commas between its members; at most {@link MAX_MARKS}. */
  readonly marks: readonly number[];
  /** Number of member names at any depth; a repeated name counts each time. */
  readonly nameCount: number;
  readonly matches: readonly ObjectMatch[];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CAPITAL_E = 0x45;
const SMALL_E = 0x65;

const LARGE_DIGITS = 16;
/** Bytes of a string to look at one by one, before its end is searched for. */
const NEAR = 64;

/** The list must be the first field of the page, as in the specification. */
const HEAD = /^[ \n\r\t]*\{[ \n\r\t]*"response"[ \n\r\t]*:[ \n\r\t]*\[/;
/** The list may be named again, plainly or escaped. Then the last one counts. */
const NAMED_AGAIN = /"response"|\\u/;
const HEAD_BYTES = 256;
/** More than any page has. Bounds the memory for a body of commas. */
const MAX_ELEMENTS = 100_000;
/** A hundred times as many as an item of the specification needs. */
const MAX_MARKS = 10_000;
const BLANK = /^[ \n\r\t]*$/;

/**
 * Splits a page into its envelope and its elements. If the bytes, which must be UTF-8, are not JSON, then some element or
 * the envelope is not JSON either. `undefined` if the page must be parsed as a whole. `cache`: objects to look for; the
 * page adds to it.
 */
export function splitPage(bytes: Buffer, cache?: ObjectCache) {
  const head = HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES))?.[0];
  if (head === undefined) return undefined;
  const elements = elementsFrom(bytes, head.length, cache);
  const last = elements?.at(-1);
  if (elements === undefined || last === undefined) return undefined;
  const rest = bytes.toString("utf8", last.end);
  if (NAMED_AGAIN.test(rest)) return undefined;
  const empty = elements.length === 1 && BLANK.test(bytes.toString("latin1", last.start, last.end));
  return {
    /** Text of the page with an empty list. */
    envelope: head + rest,
    elements: empty ? [] : elements,
  };
}

/** The elements of the list that begins at `first`, at least one, which may be blank; `undefined` if there is no end. */
function elementsFrom(
  bytes: Buffer,
  first: number,
  cache: ObjectCache | undefined,
): PageElement[] | undefined {
  const elements: PageElement[] = [];
  const { length } = bytes;
  let element = new ElementScanner(bytes, first, cache);
  for (let at = first; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === COLON) element.nameCount += 1;
    else if (byte === COMMA) {
      if (element.goesOnAfter(at)) continue;
      if (elements.length === MAX_ELEMENTS) return undefined;
      elements.push(element.endedAt(at));
      element = new ElementScanner(bytes, at + 1, cache);
    } else if (isDigit(byte)) at = element.lastOfNumber(at);
    else if (byte === OPEN_BRACE) at = element.openBrace(at);
    else if (byte === OPEN_BRACKET) element.openBracket(at);
    else if (byte === CLOSE_BRACE) element.closeBrace(at);
    else if (byte === CLOSE_BRACKET) {
      if (element.depth === 0) return [...elements, element.endedAt(at)];
      element.depth -= 1;
    }
  }
  return undefined;
}

/** The current member is not a list. */
const NO_LIST = -1;

/** Scans one element, up to the current byte. */
class ElementScanner {
  /** Number of open braces and brackets; below zero if the bytes are not JSON. */
  depth = 0;
  nameCount = 0;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #cache: ObjectCache | undefined;
  readonly #marks: number[] = [];
  readonly #matches: ObjectMatch[] = [];
  #large = false;
  /** Index in the list that is the current member, or {@link NO_LIST}. */
  #place = NO_LIST;
  /** The last object that is not cached and may recur: its position, its depth, and the number of names before it. */
  #unknown: { readonly start: number; readonly depth: number; readonly nameCount: number } | undefined;

  constructor(bytes: Buffer, start: number, cache: ObjectCache | undefined) {
    this.#bytes = bytes;
    this.#start = start;
    this.#cache = cache;
  }

  endedAt(end: number): PageElement {
    return {
      start: this.#start,
      end,
      large: this.#large,
      marks: this.#marks,
      nameCount: this.nameCount,
      matches: this.#matches,
    };
  }

  /** Whether the comma at `at` belongs to the element, not to the list. */
  goesOnAfter(at: number): boolean {
    if (this.depth === 1 && this.#marks.length < MAX_MARKS) this.#marks.push(at);
    if (this.depth === 2 && this.#place !== NO_LIST) this.#place += 1;
    return this.depth > 0;
  }

  /** Position of the last byte of the number whose digits begin at `at`. */
  lastOfNumber(at: number): number {
    const bytes = this.#bytes;
    const whole = endOfDigits(bytes, at + 1);
    const end = bytes[whole] === POINT ? endOfDigits(bytes, whole + 1) : whole;
    const point = Number(end > whole);
    this.#large ||= end - at - point >= LARGE_DIGITS || bytes[end] === SMALL_E || bytes[end] === CAPITAL_E;
    return end - 1;
  }

  openBracket(at: number): void {
    if (this.depth === 0) this.#marks.push(at);
    if (this.depth === 1) this.#place = 0;
    this.depth += 1;
  }

  /** Returns the position of the last byte that was scanned: the end of a cached object, or `at`. */
  openBrace(at: number): number {
    if (this.depth === 0) this.#marks.push(at);
    if (this.depth === 1) this.#place = NO_LIST;
    if (this.#cache !== undefined && this.#mayRecur()) {
      const object = this.#cache.at(this.#bytes, at);
      if (object !== undefined) return this.#skip(object, at);
      this.#unknown = { start: at, depth: this.depth, nameCount: this.nameCount };
    }
    this.depth += 1;
    return at;
  }

  /** Whether the object that begins is a member's value, or an element of the list that is this value. */
  #mayRecur(): boolean {
    return this.depth === 1 || (this.depth === 2 && this.#place !== NO_LIST);
  }

  #skip(object: CachedObject, start: number): number {
    const end = start + object.bytes.length;
    const place = this.depth === 1 ? undefined : this.#place;
    this.#matches.push({ start, end, member: this.#marks.length - 1, place, object });
    this.nameCount += object.nameCount;
    return end - 1;
  }

  closeBrace(at: number): void {
    this.depth -= 1;
    if (this.depth === 0) this.#marks.push(at);
    const unknown = this.#unknown;
    if (unknown === undefined || unknown.depth !== this.depth) return;
    this.#cache?.learn(this.#bytes, unknown.start, at + 1, this.nameCount - unknown.nameCount);
    this.#unknown = undefined;
  }
}

/** Position of the next quote that is not escaped. */
function endOfText(bytes: Buffer, from: number): number {
  const near = Math.min(from + NEAR, bytes.length);
  let at = from;
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return farEndOfText(bytes, at);
}

/** As {@link endOfText}, for a long string: searching for quotes is faster than looking at each byte. */
function farEndOfText(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let escapes = quote;
    while (bytes[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote + 1;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Position after the digits that begin here, if any. */
function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  return at;
}
