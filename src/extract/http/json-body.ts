/**
 * What the body of an answer with status 200 is: an item, the rows of a lookup, or a failure that came with the wrong
 * status. A body that is none of these is an error.
 */
import { z } from "zod";
import { isObject } from "../../common/json.ts";
import { printable } from "../../common/printable.ts";
import { firstProblem } from "./answer-form.ts";
import { parseJson } from "./decode.ts";
import { SourceError } from "./source-error.ts";

const itemAnswer = z.looseObject({ response: z.looseObject({}) });
const lookupAnswer = z.looseObject({ response: z.array(z.unknown()) });

/** A single item, in an envelope (`{"response": {...}}`) or bare. Errors as of `readList`. */
export function readItem(text: string): Readonly<Record<string, unknown>> {
  const body = readBody(text);
  const answer = itemAnswer.safeParse(body);
  if (answer.success) return answer.data.response;
  if (isObject(body) && "id" in body && !("response" in body)) return body;
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

/** Whether a body is an answer at all. Throws for a page for people, and for an error that came with status 200. */
export function assertAnswered(text: string): void {
  const body = readBody(text);
  if (isObject(body) && "error" in body && !("response" in body) && !("id" in body))
    throw errorInside(body.error);
}

/** A page for people comes where the service is being repaired, or where a proxy stands in for it. */
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
      `The service refused the API token; check it (CONTENT_API_TOKEN or \`tokenFile\`). It said: ${words}`,
    );
  }
  return new SourceError(
    "source.unavailable",
    `The service answered with a failure; run again later. It said: ${words}`,
  );
}
