/**
 * Where the elements of a page's `response` stand in its bytes. Each is then decoded and parsed alone: a page that is
 * parsed as a whole holds all its documents in memory at once, which a thread's garbage collection pays for, and one
 * character beyond Latin-1 makes the texts of all of them twice as wide.
 */

import type { RecurringObject, RecurringObjects } from "./object-cache.ts";

/** A known object that an element holds: as the value of one of its members, or in the list that this value is. */
export interface FoundObject {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Place of the member in the element. */
  readonly member: number;
  /** Place in the list; undefined: it is the member's value. */
  readonly place: number | undefined;
  readonly object: RecurringObject;
}

/** Bytes of a page that hold one element of its list, white space around it included. */
export interface Element {
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
  readonly found: readonly FoundObject[];
}

export interface SplitPage {
  /** Text of the page with an empty list in place of its elements. */
  readonly envelope: string;
  readonly elements: readonly Element[];
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
const ELEMENTS_AT_MOST = 100_000;
/** A hundred times what an item of the specification has. */
const MARKS_AT_MOST = 10_000;
const BLANK = /^[ \n\r\t]*$/;

/**
 * Splits a page, of which nothing but its bytes being UTF-8 is known. What is no JSON makes an element or the envelope
 * that is none either. Undefined: it is not such a page, or does not end, and is to be parsed as a whole. `recurring`:
 * what is known of objects that recur; the page adds to it. Undefined: none is looked for.
 */
export function splitPage(bytes: Buffer, recurring?: RecurringObjects): SplitPage | undefined {
  const head = HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES))?.[0];
  if (head === undefined) return undefined;
  const elements = elementsFrom(bytes, head.length, recurring);
  const last = elements?.at(-1);
  if (elements === undefined || last === undefined) return undefined;
  const rest = bytes.toString("utf8", last.end);
  if (NAMED_AGAIN.test(rest)) return undefined;
  const empty = elements.length === 1 && isBlank(bytes, last);
  return { envelope: head + rest, elements: empty ? [] : elements };
}

function isBlank(bytes: Buffer, { start, end }: Element): boolean {
  return BLANK.test(bytes.toString("latin1", start, end));
}

/**
 * The elements of the list that begins at `first`; one at least, which may be blank. Undefined: it has no end, or too
 * many.
 */
function elementsFrom(
  bytes: Buffer,
  first: number,
  recurring: RecurringObjects | undefined,
): Element[] | undefined {
  const elements: Element[] = [];
  const { length } = bytes;
  let depth = 0;
  let start = first;
  let large = false;
  let marks: number[] = [];
  let nameCount = 0;
  let found: FoundObject[] = [];
  /** Elements before this one in the list that a member is; negative: the member is none. */
  let place = -1;
  /** Where an object began that is not known, if one did, and how many names and open ones were before it. */
  let begun = -1;
  let begunNames = 0;
  let begunDepth = 0;
  for (let at = first; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfText(bytes, at + 1);
    } else if (byte === COLON) {
      nameCount += 1;
    } else if (byte === COMMA) {
      if (depth === 1 && marks.length < MARKS_AT_MOST) marks.push(at);
      if (depth === 2 && place >= 0) place += 1;
      if (depth > 0) continue;
      if (elements.length === ELEMENTS_AT_MOST) return undefined;
      elements.push({ start, end: at, large, marks, nameCount, found });
      start = at + 1;
      large = false;
      marks = [];
      nameCount = 0;
      found = [];
    } else if (isDigit(byte)) {
      const end = endOfDigits(bytes, at + 1);
      const number = bytes[end] === POINT ? endOfDigits(bytes, end + 1) : end;
      // A point counts as a digit less.
      large ||=
        number - at - Number(number > end) >= LARGE_DIGITS ||
        bytes[number] === SMALL_E ||
        bytes[number] === CAPITAL_E;
      at = number - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === 0) marks.push(at);
      if (depth === 1) place = byte === OPEN_BRACKET ? 0 : -1;
      if (byte === OPEN_BRACE && (depth === 1 || (depth === 2 && place >= 0)) && recurring !== undefined) {
        const object = recurring.at(bytes, at);
        if (object !== undefined) {
          const end = at + object.bytes.length;
          found.push({
            start: at,
            end,
            member: marks.length - 1,
            place: depth === 1 ? undefined : place,
            object,
          });
          nameCount += object.nameCount;
          at = end - 1;
          continue;
        }
        begun = at;
        begunNames = nameCount;
        begunDepth = depth;
      }
      depth += 1;
    } else if (byte === CLOSE_BRACE) {
      depth -= 1;
      if (depth === 0) marks.push(at);
      if (begun >= 0 && depth === begunDepth) {
        recurring?.note(bytes, begun, at + 1, nameCount - begunNames);
        begun = -1;
      }
    } else if (byte === CLOSE_BRACKET) {
      if (depth === 0) {
        elements.push({ start, end: at, large, marks, nameCount, found });
        return elements;
      }
      depth -= 1;
    }
  }
  return undefined;
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
