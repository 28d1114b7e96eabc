import { z } from "zod";
import { type Pagination, pagination } from "../api/envelope.ts";
import { printable } from "../printable.ts";
import { mayHoldHalves, parseJson, parseLarge } from "./decode.ts";
import { type Element, type SplitPage, splitPage } from "./elements.ts";
import { firstProblem } from "./problem.ts";
import { type SentText, sentText } from "./sent-text.ts";
import { SourceError } from "./source-error.ts";
import { CHECK_TOKEN } from "./status.ts";

/**
 * What the body of an answer with status 200 is: a page, an item, the rows of a lookup, or a failure that came with
 * the wrong status. A body that is none of these is an error, never an empty page. Documents are not looked into here.
 * Pure, for worker threads.
 */

/** A page of the content list. */
export interface Page {
  readonly pagination: Pagination;
  /** How many things it lists. */
  readonly rows: number;
  /**
   * What it lists, as it came, parsed when it is taken; to be taken once. Taking all of them proves that the page is
   * JSON.
   *
   * @throws {SourceError} `source.damaged`, `source.protocol`
   */
  readonly documents: Iterable<SentDocument>;
}

export interface SentDocument {
  readonly document: unknown;
  /** Whether it may hold halves of characters. */
  readonly halves: boolean;
  /** Whether it may hold integers beyond 2^53, or exponents. */
  readonly largeNumbers: boolean;
  /** Undefined: its text is not to be kept as it came. */
  readonly text: SentText | undefined;
}

/** The top-level `count` means different things at different services: it is not read. */
const listAnswer = z.looseObject({ response: z.array(z.unknown()), pagination });
const itemAnswer = z.looseObject({ response: z.looseObject({}) });
const bareItem = z.looseObject({ id: z.unknown().refine((id) => id !== undefined) });
const lookupAnswer = z.looseObject({ response: z.array(z.unknown()) });

/**
 * A page of the content list: an object with `response`, a list, and `pagination`. `bytes`: its text in UTF-8.
 *
 * @throws {SourceError} `source.damaged`, `source.credentials`, `source.unavailable` or `source.protocol`
 */
export function readList(bytes: Buffer): Page {
  const split = splitPage(bytes);
  if (split === undefined) return readWhole(bytes.toString());
  const { pagination } = listIn(readEnvelope(bytes, split));
  return { pagination, rows: split.elements.length, documents: parsedElements(bytes, split.elements) };
}

function readWhole(text: string): Page {
  const { response, pagination } = listIn(readBody(text));
  const halves = mayHoldHalves(text);
  const documents = response.map((document) => ({ document, halves, largeNumbers: true, text: undefined }));
  return { pagination, rows: response.length, documents };
}

function listIn(body: unknown): z.infer<typeof listAnswer> {
  const answer = listAnswer.safeParse(body);
  if (answer.success) return answer.data;
  throw misfit(body, "a page of the content list", answer.error);
}

function readEnvelope(bytes: Buffer, { envelope }: SplitPage): unknown {
  return parsedPart(bytes, () => parseJson(envelope));
}

function* parsedElements(bytes: Buffer, elements: readonly Element[]): Generator<SentDocument> {
  for (const element of elements) {
    const { start, end, large } = element;
    const text = bytes.toString("utf8", start, end);
    const document = parsedPart(bytes, () => (large ? parseLarge(text) : JSON.parse(text)));
    const halves = mayHoldHalves(text);
    yield { document, halves, largeNumbers: large, text: sentText(bytes, element, text, document) };
  }
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

/** A single item, in an envelope (`{"response": {...}}`) or bare. Errors as of `readList`. */
export function readItem(text: string): Readonly<Record<string, unknown>> {
  const body = readBody(text);
  const answer = itemAnswer.safeParse(body);
  if (answer.success) return answer.data.response;
  if (bareItem.safeParse(body).success && isObject(body) && !("response" in body)) return body;
  throw misfit(body, "a content item", answer.error);
}

/** The rows of a lookup: a bare list, or one in an envelope. Errors as of `readList`. */
export function readLookup(text: string): readonly unknown[] {
  const body = readBody(text);
  if (Array.isArray(body)) return body;
  const answer = lookupAnswer.safeParse(body);
  if (answer.success) return answer.data.response;
  throw misfit(body, "the answer of a lookup", answer.error);
}

/** A page for people comes where the service is being repaired, or where a proxy stands in for it. */
function readBody(text: string): unknown {
  if (!/^\s*</.test(text)) return parseJson(text);
  throw new SourceError(
    "source.unavailable",
    "The service answered with a web page instead of data; it may be under maintenance: run again later, and check the URL.",
  );
}

function misfit(body: unknown, expected: string, problem: z.ZodError): SourceError {
  if (isObject(body) && "error" in body) return errorInside(body.error);
  return new SourceError(
    "source.protocol",
    `The service sent something else than ${expected}${firstProblem(problem)}; check that the URL names a content service of version 1.`,
  );
}

const SIGN_IN =
  /\b(?:sign(?:ed)?|log(?:ged)?)[ -]?(?:in|on)\b|unauthori[sz]ed|unauthenticated|not authori[sz]ed|credentials|(?:api|access|invalid|expired|missing) token\b|\btoken (?:is |has |was )?(?:invalid|expired|missing)/i;

/** `{"error": "You need to sign in before continuing."}` comes with status 200 where a token is refused. */
function errorInside(error: unknown): SourceError {
  const words = printable(typeof error === "string" ? error : JSON.stringify(error));
  if (SIGN_IN.test(words)) {
    return new SourceError(
      "source.credentials",
      `The service refused the API token; ${CHECK_TOKEN}. It said: ${words}`,
    );
  }
  return new SourceError(
    "source.unavailable",
    `The service answered with a failure; run again later. It said: ${words}`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
