/**
 * Reads a page of the content list. A body that is not a page is an error, never an empty page. The documents are not
 * checked here.
 */
import { z } from "zod";
import { type Pagination, pagination } from "../../api/envelope.ts";
import { isObject, mayHoldHalves, parseLarge } from "../../common/json.ts";
import type { SourceText } from "../../raw/raw-json.ts";
import { parseJson } from "../http/decode.ts";
import { misfit, readBody } from "../http/json-body.ts";
import { countNames, hasCanonicalStrings } from "./canonical-json.ts";
import type { CachedObject, ObjectCache } from "./object-cache.ts";
import { type PageElement, splitPage } from "./split-page.ts";

export interface ListPage {
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
  const mayHoldLoneSurrogates = mayHoldHalves(text);
  const documents = response.map((document): PageDocument => {
    const parseWhole = () => document;
    return {
      document,
      objects: [],
      parseWhole,
      mayHoldLoneSurrogates,
      largeNumbers: true,
      source: undefined,
    };
  });
  return { pagination, rows: response.length, documents };
}

function envelopeOf(body: unknown): z.infer<typeof listResponse> {
  const envelope = listResponse.safeParse(body);
  if (envelope.success) return envelope.data;
  throw misfit(body, "a page of the content list", envelope.error);
}

function* readElements(bytes: Buffer, elements: readonly PageElement[]): Generator<PageDocument> {
  for (const element of elements) yield readWithCache(bytes, element) ?? readWhole(bytes, element);
}

function readWhole(bytes: Buffer, element: PageElement): PageDocument {
  const parsed = parseElement(bytes, element, bytes.toString("utf8", element.start, element.end), 0);
  return pageDocument(bytes, element, parsed, [], () => parsed.document);
}

/** `undefined` if the element holds no cached object, or if the objects cannot be put back. */
function readWithCache(bytes: Buffer, element: PageElement): PageDocument | undefined {
  if (element.matches.length === 0) return undefined;
  const cachedNames = element.matches.reduce((sum, { object }) => sum + object.nameCount, 0);
  const parsed = parseElement(bytes, element, textWithoutMatches(bytes, element), cachedNames);
  const objects = positionsOf(element, parsed);
  if (objects === undefined) return undefined;
  return pageDocument(bytes, element, parsed, objects, () => readWhole(bytes, element).document);
}

function pageDocument(
  bytes: Buffer,
  element: PageElement,
  parsed: ParsedElement,
  objects: readonly ObjectPosition[],
  parseWhole: () => unknown,
): PageDocument {
  const { text, document } = parsed;
  const mayHoldLoneSurrogates = mayHoldHalves(text);
  const source = sourceOf(bytes, element, parsed);
  return { document, objects, parseWhole, mayHoldLoneSurrogates, largeNumbers: element.large, source };
}

interface ParsedElement {
  readonly text: string;
  readonly document: unknown;
  /** Whether no object of the text repeats a name. */
  readonly hasUniqueNames: boolean;
}

/**
 * `undefined` if raw documents must not repeat the text. They are searched for texts as `JSON.stringify` writes them, so
 * no string may be escaped in another way. A repeated name hides its first value from readers, and with it what the
 * personal-data policy must remove.
 */
function sourceOf(
  bytes: Buffer,
  { marks, large }: PageElement,
  { text, document, hasUniqueNames }: ParsedElement,
): SourceText | undefined {
  if (!isObject(document) || large || !hasUniqueNames || !hasCanonicalStrings(text)) return undefined;
  const names = Object.keys(document);
  return marks.length === names.length + 1 ? { bytes, marks, names } : undefined;
}

/** `cachedNames`: number of names in the objects that the text lacks. */
function parseElement(
  bytes: Buffer,
  { large, nameCount }: PageElement,
  text: string,
  cachedNames: number,
): ParsedElement {
  const document = parsePart(bytes, () => (large ? parseLarge(text) : JSON.parse(text)));
  const names = typeof document === "object" && document !== null ? countNames(document) : 0;
  return { text, document, hasUniqueNames: names + cachedNames === nameCount };
}

/** The text of an element with an empty object in place of each cached object. */
function textWithoutMatches(bytes: Buffer, { start, end, matches }: PageElement): string {
  const pieces: string[] = [];
  let from = start;
  for (const match of matches) {
    pieces.push(bytes.toString("utf8", from, match.start));
    from = match.end;
  }
  pieces.push(bytes.toString("utf8", from, end));
  return pieces.join("{}");
}

/**
 * Where the cached objects stand. `undefined` if the members of the document do not have the order of the text: a repeated
 * name, or a name that is an array index and therefore comes first.
 */
function positionsOf(
  { matches, marks }: PageElement,
  { document, hasUniqueNames }: ParsedElement,
): ObjectPosition[] | undefined {
  if (!isObject(document) || !hasUniqueNames) return undefined;
  const names = Object.keys(document);
  if (names.length !== marks.length - 1 || /^\d/.test(names[0] ?? "")) return undefined;
  const objects: ObjectPosition[] = [];
  for (const { member, place, object } of matches) {
    const name = names[member];
    if (name === undefined || name === "__proto__") return undefined;
    objects.push({ name, place, object });
  }
  return objects;
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
