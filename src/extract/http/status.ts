import type { ListMode, RequestMode } from "./request.ts";
import { API_PREFIX, type NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

/** What is known of an answer before anybody looks at its body. */
export interface Answer {
  /** Host with its port. */
  readonly host: string;
  /** Path of the service's address, before that of the interface; mostly empty. */
  readonly prefix: string;
  readonly namedIn: NamedIn;
  readonly status: number;
  /** What `Retry-After` asks for, from now on. */
  readonly retryAfterMs: number | null;
  /** The service's own words, one clean line without secrets, or `""`. */
  readonly detail: string;
  /** Whether the listing is known to be there: a page of it was read, or is not the first one. */
  readonly hasListing: boolean;
}

/** Worth another attempt: too early, too many, or trouble that passes. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

/**
 * What a status means for a run: `null` where the answer can be read, else the error with its way out. Only 200 can be
 * read, and for a single item 404 and 410, which say that it is gone. A redirect is never followed: services of this
 * kind answer a refused token with one to their sign-in page.
 */
export function statusError(answer: Answer, mode: RequestMode): SourceError | null {
  const { status, host } = answer;
  if (status === 200) return null;
  if (status < 300 || status === 304) return unreadable(answer);
  if (status < 400) {
    const redirect = `${host} answered with a redirect (${status}), most likely to a sign-in page`;
    return failure(
      "source.credentials",
      answer,
      `${redirect}; ${checkToken(answer)}, and that the URL (${answer.namedIn.url}) is the final one`,
    );
  }
  if (status === 401 || status === 403) return refused(answer);
  if (status === 404 || status === 405 || status === 410) return missing(answer, mode);
  if (PASSING.has(status)) return unavailable(answer);
  if (status >= 500) return failure("source.unavailable", answer, `${host} failed (${status})`, 1);
  return failure("source.protocol", answer, `${host} refused a request (${status})${wayOut(status, mode)}`);
}

function checkToken({ namedIn }: Answer): string {
  return `check the API token (${namedIn.token})`;
}

function unreadable(answer: Answer): SourceError {
  const what = `${answer.host} answered with status ${answer.status}, which carries no complete document`;
  return failure("source.protocol", answer, `${what}; look for a proxy or cache in between`);
}

function refused(answer: Answer): SourceError {
  const what = answer.status === 401 ? "refused the API token" : "does not allow this API token to read";
  return failure(
    "source.credentials",
    answer,
    `${answer.host} ${what} (${answer.status}); ${checkToken(answer)}`,
  );
}

function missing(answer: Answer, mode: RequestMode): SourceError | null {
  if (mode === "item" && answer.status !== 405) return null;
  if (isListing(mode) && answer.hasListing && answer.status !== 405) return missingPage(answer);
  const what = mode === "item" ? "items" : NAMES[mode];
  return failure(
    "config.not_found",
    answer,
    `There is no content service at ${answer.host}${answer.prefix}: ${answer.prefix}${API_PREFIX}/${what} answers ${answer.status}; check the URL (${answer.namedIn.url})`,
  );
}

/** The list became shorter, or a load balancer in between does not know the service for a moment. */
function missingPage(answer: Answer): SourceError {
  const what = `${answer.host} has no page of the listing that it had before (${answer.status})`;
  return failure("source.unavailable", answer, `${what}; run again later`);
}

export function isListing(mode: RequestMode): mode is ListMode {
  return mode === "dynamic" || mode === "full" || mode === "basic";
}

const NAMES = {
  dynamic: "content",
  full: "content",
  basic: "content",
  destinations: "destinations",
  custom_fields: "custom_fields_reference",
} as const;

function unavailable(answer: Answer): SourceError {
  const { host, status, retryAfterMs } = answer;
  const what = status === 429 ? `${host} asks for fewer requests` : `${host} is not available just now`;
  const wish = retryAfterMs === null ? "" : `, and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return failure("source.unavailable", answer, `${what} (${status})${wish}; run again later`);
}

function wayOut(status: number, mode: RequestMode): string {
  if (status !== 400 && status !== 422) return "";
  if (mode === "dynamic" || mode === "item") {
    return "; if it does not know a column, narrow `columns` in the configuration";
  }
  return mode === "full" || mode === "basic" ? "; `perPage` in the configuration may be too large" : "";
}

function failure(
  code: ConstructorParameters<typeof SourceError>[0],
  answer: Answer,
  sentence: string,
  attemptsAtMost?: number,
): SourceError {
  const words = answer.detail === "" ? "." : `. It said: ${answer.detail}`;
  const { status, retryAfterMs } = answer;
  return new SourceError(code, `${sentence}${words}`, { status, retryAfterMs, attemptsAtMost });
}
