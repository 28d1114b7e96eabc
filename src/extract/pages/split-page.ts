/**
 * Where the elements of a page's `response` stand in its bytes. Each is then decoded and parsed alone: a page that is
 * parsed as a whole holds all its documents in memory at once, which a thread's garbage collection pays for, and one
 * character beyond Latin-1 makes the texts of all of them twice as wide.
 */

import type { CachedObject, ObjectCache } from "./object-cache.ts";

/** A known object that an element holds: as the value of one of its members, or in the list that this value is. */
export interface ObjectMatch {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Place of the member in the element. */
  readonly member: number;
  /** Place in the list; undefined: it is the member's value. */
  readonly place: number | undefined;
  readonly object: CachedObject;
}

/** Bytes of a page that hold one element of its list, white space around it included. */
export interface PageElement {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /**
   * Whether it may hold a number that is more than a double: sixteen digits, or an exponent. Never
   * false where `parseJson` would keep a number as it came. Objects that were found have none.
   */
  readonly large: boolean;
  /**
   * Where its own members begin and end, if it is an object: its braces, and the commas between the members. Of one with
   * more members than any item has, not all of them.
   */
  readonly marks: readonly number[];
  /** Names of members in it, at any depth; one that stands twice counts twice. */
  readonly nameCount: number;
  /** In the order of the text. */
  readonly found: readonly ObjectMatch[];
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
/** A longer text is searched for its end. */
const NEAR = 64;

/** The list of a page is its first field, as the specification shows it; else the page is parsed as a whole. */
const HEAD = /^[ \n\r\t]*\{[ \n\r\t]*"response"[ \n\r\t]*:[ \n\r\t]*\[/;
/** The list may be named once more, plainly or escaped: the last one would count. */
const NAMED_AGAIN = /"response"|\\u/;
const HEAD_BYTES = 256;
/** More than any page has. What a body of commas is would be told by so many elements that memory ends. */
const MAX_ELEMENTS = 100_000;
/** A hundred times what an item of the specification has. */
const MAX_MARKS = 10_000;
const BLANK = /^[ \n\r\t]*$/;

/**
 * Splits a page, of which nothing but its bytes being UTF-8 is known. What is no JSON makes an element or the envelope
 * that is none either. Undefined: it is not such a page, or does not end, and is to be parsed as a whole. `recurring`:
 * what is known of objects that recur; the page adds to it. Undefined: none is looked for.
 */
export function splitPage(bytes: Buffer, recurring?: ObjectCache) {
  const head = HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES))?.[0];
  if (head === undefined) return undefined;
  const elements = elementsFrom(bytes, head.length, recurring);
  const last = elements?.at(-1);
  if (elements === undefined || last === undefined) return undefined;
  const rest = bytes.toString("utf8", last.end);
  if (NAMED_AGAIN.test(rest)) return undefined;
  const empty = elements.length === 1 && isBlank(bytes, last);
  return {
    /** Text of the page with an empty list in place of its elements. */
    envelope: head + rest,
    elements: empty ? [] : elements,
  };
}

function isBlank(bytes: Buffer, { start, end }: PageElement): boolean {
  return BLANK.test(bytes.toString("latin1", start, end));
}

/**
 * The elements of the list that begins at `first`; one at least, which may be blank. Undefined: it has no end, or too
 * many.
 */
function elementsFrom(
  bytes: Buffer,
  first: number,
  recurring: ObjectCache | undefined,
): PageElement[] | undefined {
  const elements: PageElement[] = [];
  const { length } = bytes;
  let element = new ElementScanner(bytes, first, recurring);
  for (let at = first; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === COLON) element.nameCount += 1;
    else if (byte === COMMA) {
      if (element.goesOnAfter(at)) continue;
      if (elements.length === MAX_ELEMENTS) return undefined;
      elements.push(element.endedAt(at));
      element = new ElementScanner(bytes, at + 1, recurring);
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

/** The member of an element that is looked at is no list. */
const NO_LIST = -1;

/** What is known of an element up to the byte that is looked at. */
class ElementScanner {
  /** Braces and brackets of it that are open. Below zero in what is no JSON. */
  depth = 0;
  nameCount = 0;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #recurring: ObjectCache | undefined;
  readonly #marks: number[] = [];
  readonly #found: ObjectMatch[] = [];
  #large = false;
  /** Place in the list that its member is, or {@link NO_LIST}. */
  #place = NO_LIST;
  /**
   * The last object that began, is not known and may be one that recurs: where its brace stands, how many braces and
   * brackets are open around it, and how many names come before it in the element.
   */
  #unknown: { readonly start: number; readonly depth: number; readonly nameCount: number } | undefined;

  constructor(bytes: Buffer, start: number, recurring: ObjectCache | undefined) {
    this.#bytes = bytes;
    this.#start = start;
    this.#recurring = recurring;
  }

  endedAt(end: number): PageElement {
    return {
      start: this.#start,
      end,
      large: this.#large,
      marks: this.#marks,
      nameCount: this.nameCount,
      found: this.#found,
    };
  }

  /** Whether the comma at `at` is one of its own: between its members, or deeper. */
  goesOnAfter(at: number): boolean {
    if (this.depth === 1 && this.#marks.length < MAX_MARKS) this.#marks.push(at);
    if (this.depth === 2 && this.#place !== NO_LIST) this.#place += 1;
    return this.depth > 0;
  }

  /** Where the last byte stands of the number whose digits begin at `at`. */
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

  /** Returns where the last byte stands that is known by then: of a known object its last one. */
  openBrace(at: number): number {
    if (this.depth === 0) this.#marks.push(at);
    if (this.depth === 1) this.#place = NO_LIST;
    if (this.#recurring !== undefined && this.#mayRecur()) {
      const object = this.#recurring.at(this.#bytes, at);
      if (object !== undefined) return this.#skip(object, at);
      this.#unknown = { start: at, depth: this.depth, nameCount: this.nameCount };
    }
    this.depth += 1;
    return at;
  }

  /** Whether what begins is the value of a member, or stands in the list that this value is. */
  #mayRecur(): boolean {
    return this.depth === 1 || (this.depth === 2 && this.#place !== NO_LIST);
  }

  #skip(object: CachedObject, start: number): number {
    const end = start + object.bytes.length;
    const place = this.depth === 1 ? undefined : this.#place;
    this.#found.push({ start, end, member: this.#marks.length - 1, place, object });
    this.nameCount += object.nameCount;
    return end - 1;
  }

  closeBrace(at: number): void {
    this.depth -= 1;
    if (this.depth === 0) this.#marks.push(at);
    const unknown = this.#unknown;
    if (unknown === undefined || unknown.depth !== this.depth) return;
    this.#recurring?.note(this.#bytes, unknown.start, at + 1, this.nameCount - unknown.nameCount);
    this.#unknown = undefined;
  }
}

/** Where the quote stands that ends a text: the next one that is not escaped. */
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

/** The same, of a text that is long: to search it for quotes is faster then than a look at each byte. */
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

/** Where digits end that begin here; none need to. */
function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  return at;
}
