/** Reads the body of a response with status 200: an item, the rows of a lookup, or a failure with the wrong status. */
import { z } from "zod";
import { isObject } from "../../common/json.ts";
import { printable } from "../../common/printable.ts";
import { parseJson } from "./decode.ts";
import { SourceError } from "./source-error.ts";

/** The first problem of a value, with its path and without data: ` at pagination.next: expected ...`. */
export function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "";
  const path = issue.path.length === 0 ? "" : ` at ${printable(issue.path.join("."))}`;
  return `${path}: ${issue.message}`;
}

const itemBody = z.looseObject({ response: z.looseObject({}) });
const lookupBody = z.looseObject({ response: z.array(z.unknown()) });

/** A single item, in an envelope (`{"response": {...}}`) or bare. Throws what `readList` throws. */
export function readItem(text: string): Readonly<Record<string, unknown>> {
  const body = readBody(text);
  const parsed = itemBody.safeParse(body);
  if (parsed.success) return parsed.data.response;
  if (isObject(body) && "id" in body && !("response" in body)) return body;
  throw misfit(body, "a content item", parsed.error);
}

/** The rows of a lookup, in an envelope or bare. Throws what `readList` throws. */
export function readLookup(text: string): readonly unknown[] {
  const body = readBody(text);
  if (Array.isArray(body)) return body;
  const parsed = lookupBody.safeParse(body);
  if (parsed.success) return parsed.data.response;
  throw misfit(body, "the answer of a lookup", parsed.error);
}

/** Throws if a body is a web page, or an error that came with status 200. */
export function assertAnswered(text: string): void {
  const body = readBody(text);
  if (isObject(body) && "error" in body && !("response" in body) && !("id" in body))
    throw errorInside(body.error);
}

/** Throws for a web page, which comes from a service under maintenance or from a proxy. */
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
    `The service did not send ${expected}${firstProblem(problem)}; check that the URL names a content service of version 1.`,
  );
}

const SIGN_IN =
  /\b(?:sign(?:ed)?|log(?:ged)?)[ -]?(?:in|on)\b|unauthori[sz]ed|unauthenticated|not authori[sz]ed|credentials|(?:api|access|invalid|expired|missing) token\b|\btoken (?:is |has |was )?(?:invalid|expired|missing)/i;

/** A refused token may come as `{"error": "You need to sign in before continuing."}` with status 200. */
function errorInside(error: unknown): SourceError {
  const words = printable(typeof error === "string" ? error : JSON.stringify(error));
  if (SIGN_IN.test(words)) {
    return new SourceError(
      "source.credentials",
      `The service refused the API token; check the token (CONTENT_API_TOKEN or \`tokenFile\`). It said: ${words}`,
    );
  }
  return new SourceError(
    "source.unavailable",
    `The service answered with a failure; run again later. It said: ${words}`,
  );
}
