import { z } from "zod";
import { type Pagination, pagination } from "../../api/envelope.ts";
import { isObject, mayHoldHalves, parseLarge } from "../../common/json.ts";
import type { SourceText } from "../../raw/raw-json.ts";
import { parseJson } from "../http/decode.ts";
import { misfit, readBody } from "../http/json-body.ts";
import { countNames, hasCanonicalStrings } from "./canonical-json.ts";
import type { CachedObject, ObjectCache } from "./object-cache.ts";
import { type ObjectMatch, type PageElement, splitPage } from "./split-page.ts";

/**
 * What the body of an answer with status 200 is: a page, an item, the rows of a lookup, or a failure that came with
 * the wrong status. A body that is none of these is an error, never an empty page. Documents are not looked into here.
 * Pure, for worker threads.
 */

export interface ListPage {
  readonly pagination: Pagination;
  /** How many documents it lists. */
  readonly rows: number;
  /**
   * What it lists, as it came, parsed when it is taken; to be taken once. Taking all of them proves that the page is
   * JSON.
   *
   * @throws {SourceError} `source.damaged`, `source.protocol`
   */
  readonly documents: Iterable<PageDocument>;
}

export interface ObjectPosition {
  /** Of the document's own member. */
  readonly name: string;
  /** Place in the list that the member is; undefined: the object is the member. */
  readonly place: number | undefined;
  readonly object: CachedObject;
}

export interface PageDocument {
  readonly document: unknown;
  /** Known objects that the document holds: an empty one stands in place of each. */
  readonly recurring: readonly ObjectPosition[];
  /** The document with all that it holds; parsed anew where it came without something. */
  readonly whole: () => unknown;
  /** Whether it may hold halves of characters. */
  readonly halves: boolean;
  /** Whether it may hold integers beyond 2^53, or exponents. */
  readonly largeNumbers: boolean;
  /** Undefined: its text is not to be kept as it came. */
  readonly text: SourceText | undefined;
}

/** The top-level `count` means different things at different services: it is not read. */
const listAnswer = z.looseObject({ response: z.array(z.unknown()), pagination });

/**
 * A page of the content list: an object with `response`, a list, and `pagination`. `bytes`: its text in UTF-8.
 * `recurring`: objects that it knows are not parsed again, and documents come without them; the page adds to it.
 *
 * @throws {SourceError} `source.damaged`, `source.credentials`, `source.unavailable` or `source.protocol`
 */
export function readList(bytes: Buffer, recurring?: ObjectCache): ListPage {
  const split = splitPage(bytes, recurring);
  if (split === undefined) return readWhole(bytes.toString());
  const { pagination } = listIn(parsedPart(bytes, () => parseJson(split.envelope)));
  return { pagination, rows: split.elements.length, documents: parsedElements(bytes, split.elements) };
}

function readWhole(text: string): ListPage {
  const { response, pagination } = listIn(readBody(text));
  const halves = mayHoldHalves(text);
  const documents = response.map((document) => {
    return { document, recurring: [], whole: () => document, halves, largeNumbers: true, text: undefined };
  });
  return { pagination, rows: response.length, documents };
}

function listIn(body: unknown): z.infer<typeof listAnswer> {
  const answer = listAnswer.safeParse(body);
  if (answer.success) return answer.data;
  throw misfit(body, "a page of the content list", answer.error);
}

function* parsedElements(bytes: Buffer, elements: readonly PageElement[]): Generator<PageDocument> {
  for (const element of elements) yield withoutFound(bytes, element) ?? wholeDocument(bytes, element);
}

function wholeDocument(bytes: Buffer, element: PageElement): PageDocument {
  const parsed = parsedText(bytes, element, bytes.toString("utf8", element.start, element.end));
  return sentDocument(bytes, element, parsed, [], () => parsed.document);
}

/** Undefined where nothing was found, or nobody knows where it stands. */
function withoutFound(bytes: Buffer, element: PageElement): PageDocument | undefined {
  if (element.found.length === 0) return undefined;
  const parsed = parsedText(bytes, element, textWithoutFound(bytes, element), element.found);
  const recurring = placed(element, parsed);
  if (recurring === undefined) return undefined;
  return sentDocument(bytes, element, parsed, recurring, () => wholeDocument(bytes, element).document);
}

function sentDocument(
  bytes: Buffer,
  element: PageElement,
  parsed: ParsedElement,
  recurring: readonly ObjectPosition[],
  whole: () => unknown,
): PageDocument {
  const { text, document } = parsed;
  return {
    document,
    recurring,
    whole,
    halves: mayHoldHalves(text),
    largeNumbers: element.large,
    text: sentText(bytes, element, parsed),
  };
}

/** An element of a page, with or without the objects that were found in it, which hide nothing. */
interface ParsedElement {
  readonly text: string;
  readonly document: unknown;
  /** Whether each name stands once in its object. */
  readonly namesOnce: boolean;
}

/**
 * Undefined where the text is not to be kept as it came. Texts in it must be written in the one way that
 * `JSON.stringify` has, for raw documents are searched for texts as it writes them: none with an escape that need not be
 * one, or that looks so. And a name that stands twice hides its first value from whoever reads the document, and with it
 * what the personal-data policy would have taken away.
 */
function sentText(
  bytes: Buffer,
  { marks, large }: PageElement,
  { text, document, namesOnce }: ParsedElement,
): SourceText | undefined {
  if (!isObject(document) || large || !namesOnce || !hasCanonicalStrings(text)) return undefined;
  const own = Object.keys(document);
  return marks.length === own.length + 1 ? { bytes, marks, names: own } : undefined;
}

/** `leftOut`: what the text comes without. */
function parsedText(
  bytes: Buffer,
  { large, nameCount }: PageElement,
  text: string,
  leftOut: readonly ObjectMatch[] = [],
): ParsedElement {
  const document = parsedPart(bytes, () => (large ? parseLarge(text) : JSON.parse(text)));
  let names = typeof document === "object" && document !== null ? countNames(document) : 0;
  for (const { object } of leftOut) names += object.nameCount;
  return { text, document, namesOnce: names === nameCount };
}

/** The text of an element with an empty object in place of each that was found. */
function textWithoutFound(bytes: Buffer, { start, end, found }: PageElement): string {
  const pieces: string[] = [];
  let from = start;
  for (const object of found) {
    pieces.push(bytes.toString("utf8", from, object.start));
    from = object.end;
  }
  pieces.push(bytes.toString("utf8", from, end));
  return pieces.join("{}");
}

/**
 * Where the objects stand that were found. Undefined where the members of the document are not those of the text, in its
 * order: of a name that stands twice the first is gone, and one that is a place in a list comes first, wherever it
 * stands.
 */
function placed(
  { found, marks }: PageElement,
  { document, namesOnce }: ParsedElement,
): ObjectPosition[] | undefined {
  if (!isObject(document) || !namesOnce) return undefined;
  const names = Object.keys(document);
  if (names.length !== marks.length - 1 || /^\d/.test(names[0] ?? "")) return undefined;
  const objects: ObjectPosition[] = [];
  for (const { member, place, object } of found) {
    const name = names[member];
    if (name === undefined || name === "__proto__") return undefined;
    objects.push({ name, place, object });
  }
  return objects;
}

/** Where a part of a page cannot be parsed the error is that of the whole, with the place in it. */
function parsedPart(bytes: Buffer, parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    parseJson(bytes.toString());
    throw new TypeError("a page can be parsed, and a part of it cannot");
  }
}
