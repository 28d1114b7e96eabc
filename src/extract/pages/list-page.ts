/**
 * Reads a page of the content list. A body that is not a page is an error, never an empty page. The documents are not
 * checked here.
 */
import { z } from "zod";
import { type Pagination, pagination } from "../../api/envelope.ts";
import { isObject, mayHaveLoneSurrogates, parseLarge } from "../../common/json.ts";
import type { SourceText } from "../../raw/raw-json.ts";
import { misfit, parseJson, readBody } from "../http/decode.ts";
import { type CachedObject, countNames, hasCanonicalStrings, type ObjectCache } from "./object-cache.ts";
import { type PageElement, splitPage } from "./split-page.ts";

interface ListPage {
  readonly pagination: Pagination;
  /** Number of documents. */
  readonly rows: number;
  /**
   * The documents, to be read once; each is parsed when it is read. Reading all of them proves that the page is JSON.
   *
   * @throws {SourceError} `source.damaged`, `source.protocol`
   */
  readonly documents: Iterable<PageDocument>;
}

/** Where a cached object stands in a document. */
export interface ObjectPosition {
  /** Name of a top-level member. */
  readonly name: string;
  /** Index in the list that is the member's value; `undefined` if the object is the value. */
  readonly place: number | undefined;
  readonly object: CachedObject;
}

export interface PageDocument {
  /** With an empty object in place of each cached object. */
  readonly document: unknown;
  readonly objects: readonly ObjectPosition[];
  /** Returns the complete document. */
  readonly parseWhole: () => unknown;
  readonly mayHoldLoneSurrogates: boolean;
  /** Whether it may hold integers beyond 2^53, or exponents. */
  readonly largeNumbers: boolean;
  /** Its text as received; `undefined` if raw documents must not repeat it. */
  readonly source: SourceText | undefined;
}

/** The top-level `count` is not read: services mean different things by it. */
const listResponse = z.looseObject({ response: z.array(z.unknown()), pagination });

/**
 * Reads a page: an object with a list `response` and with `pagination`. `bytes`: its text in UTF-8. `cache`: objects that
 * are not parsed again; the page adds to it.
 *
 * @throws {SourceError} `source.damaged`, `source.credentials`, `source.unavailable` or `source.protocol`
 */
export function readList(bytes: Buffer, cache?: ObjectCache): ListPage {
  const split = splitPage(bytes, cache);
  if (split === undefined) return readUnsplit(bytes.toString());
  const { pagination } = envelopeOf(parsePart(bytes, () => parseJson(split.envelope)));
  return { pagination, rows: split.elements.length, documents: readElements(bytes, split.elements) };
}

function readUnsplit(text: string): ListPage {
  const { response, pagination } = envelopeOf(readBody(text));
  const mayHoldLoneSurrogates = mayHaveLoneSurrogates(text);
  const whole = { objects: [], mayHoldLoneSurrogates, largeNumbers: true, source: undefined };
  const documents = response.map((document) => ({ ...whole, document, parseWhole: () => document }));
  return { pagination, rows: response.length, documents };
}

function envelopeOf(body: unknown): z.infer<typeof listResponse> {
  const envelope = listResponse.safeParse(body);
  if (envelope.success) return envelope.data;
  throw misfit(body, "a page of the content list", envelope.error);
}

function* readElements(bytes: Buffer, elements: readonly PageElement[]): Generator<PageDocument> {
  for (const element of elements) yield readElement(bytes, element, element.matches);
}

/**
 * Reads an element with an empty object in place of each match. Without matches if they cannot be put back: the members do
 * not have the order of the text, because a name is repeated or is an array index and therefore comes first.
 */
function readElement(bytes: Buffer, element: PageElement, matches: PageElement["matches"]): PageDocument {
  const { large: largeNumbers, marks, nameCount } = element;
  const text = textWithout(matches, bytes, element);
  const document = parsePart(bytes, () => (largeNumbers ? parseLarge(text) : JSON.parse(text)));
  let foundNames = typeof document === "object" && document !== null ? countNames(document) : 0;
  for (const { object } of matches) foundNames += object.nameCount;
  const names = isObject(document) ? Object.keys(document) : [];
  const hasMarks = isObject(document) && foundNames === nameCount && marks.length === names.length + 1;
  const objects = matches.map(({ member, place, object }) => ({ name: names[member] ?? "", place, object }));
  const isInOrder = () => hasMarks && !/^\d/.test(names[0] ?? "") && !names.includes("__proto__");
  if (matches.length > 0 && !isInOrder()) return readElement(bytes, element, []);
  return {
    document,
    objects,
    parseWhole: () => (matches.length === 0 ? document : readElement(bytes, element, []).document),
    mayHoldLoneSurrogates: mayHaveLoneSurrogates(text),
    largeNumbers,
    // Raw documents are searched for texts as `JSON.stringify` writes them, so no string may be escaped in another way. A
    // repeated name hides its first value from readers, and with it what the personal-data policy must remove.
    source: hasMarks && !largeNumbers && hasCanonicalStrings(text) ? { bytes, marks, names } : undefined,
  };
}

/** The text of an element with an empty object in place of each match. */
function textWithout(
  matches: PageElement["matches"],
  bytes: Buffer,
  { start, end }: Pick<PageElement, "start" | "end">,
): string {
  const pieces: string[] = [];
  let from = start;
  for (const match of matches) {
    pieces.push(bytes.toString("utf8", from, match.start));
    from = match.end;
  }
  pieces.push(bytes.toString("utf8", from, end));
  return pieces.join("{}");
}

/** If a part of a page is not JSON, throws the error of the whole page, with the position in it. */
function parsePart(bytes: Buffer, parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    parseJson(bytes.toString());
    throw new TypeError("a page can be parsed, but a part of it cannot");
  }
}
