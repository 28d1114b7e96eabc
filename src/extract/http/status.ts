import type { ErrorCode } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import type { RetryAfter } from "./http-date.ts";
import type { ListMode, RequestMode } from "./request.ts";
import { API_PREFIX, type NamedIn, type ServiceUrl } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

/** What is known of an answer before anybody looks at its body. */
export interface Answer extends Pick<ServiceUrl, "host" | "prefix"> {
  readonly namedIn: NamedIn;
  readonly status: number;
  readonly retryAfter: RetryAfter;
  /** The service's own words, one clean line without secrets, or `""`. */
  readonly detail: string;
  /** Whether the listing is known to be there: a page of it was read, or is not the first one. */
  readonly hasListing: boolean;
}

/** A service whose `Retry-After` cannot be read asks for a wait all the same: this one, and longer if it refuses again. */
const UNREADABLE_WAIT_MS = 1000;

const GONE = new Set([404, 410]);
/** Worth another attempt: too early, too many, or trouble that passes. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

/**
 * What a status means for a run: `null` where the answer can be read, else the error with its way out. Only 200 can be
 * read, and for a single item 404 and 410, which say that it is gone. A redirect is never followed: services of this
 * kind answer a refused token with one to their sign-in page.
 */
export function statusError(answer: Answer, mode: RequestMode): SourceError | null {
  const { status, retryAfter, detail } = answer;
  if (status === 200 || (mode === "item" && GONE.has(status))) return null;
  const [code, sentence, attemptsAtMost] = failureOf(answer, mode);
  const retryAfterMs = typeof retryAfter === "string" ? UNREADABLE_WAIT_MS : retryAfter;
  const words = detail === "" ? "." : `. It said: ${detail}`;
  return new SourceError(code, `${sentence}${words}`, { status, retryAfterMs, attemptsAtMost });
}

type Failure = readonly [code: ErrorCode, sentence: string, attemptsAtMost?: number];

/** One branch for each kind of status. */
function failureOf(
  { host, prefix, namedIn, status, hasListing, ...answer }: Answer,
  mode: RequestMode,
): Failure {
  const checkToken = `check the API token (${namedIn.token})`;
  if (status < 300 || status === 304) {
    const what = `${host} answered with status ${status}, which carries no complete document`;
    return ["source.protocol", `${what}; look for a proxy or cache in between`];
  }
  if (status < 400) {
    const redirect = `${host} answered with a redirect (${status}), most likely to a sign-in page`;
    const address = `the URL (${namedIn.url}) is the final one`;
    return ["source.credentials", `${redirect}; ${checkToken}, and that ${address}`];
  }
  if (status === 401 || status === 403) {
    const what = status === 401 ? "refused the API token" : "does not allow this API token to read";
    return ["source.credentials", `${host} ${what} (${status}); ${checkToken}`];
  }
  // The list became shorter, or a load balancer in between does not know the service for a moment.
  if (GONE.has(status) && hasListing && isListing(mode))
    return [
      "source.unavailable",
      `${host} has no page of the listing that it had before (${status}); run again later`,
    ];
  if (mode !== "item" && (GONE.has(status) || status === 405)) {
    const what = `${prefix}${API_PREFIX}/${NAMES[mode]} answers ${status}`;
    const missing = `There is no content service at ${host}${prefix}: ${what}`;
    return ["config.not_found", `${missing}; check the URL (${namedIn.url})`];
  }
  if (PASSING.has(status)) {
    const what = status === 429 ? "asks for fewer requests" : "is not available just now";
    return ["source.unavailable", `${host} ${what} (${status})${wishOf(answer.retryAfter)}; run again later`];
  }
  if (status >= 500) return ["source.unavailable", `${host} failed (${status})`, 1];
  return ["source.protocol", `${host} refused a request (${status})${wayOut(status, mode)}`];
}

function wishOf(retryAfter: RetryAfter): string {
  if (typeof retryAfter === "string")
    return `, and for how long cannot be read (Retry-After: ${printable(retryAfter)})`;
  return retryAfter ? `, and asks to wait ${Math.ceil(retryAfter / 1000)} s` : "";
}

export function isListing(mode: RequestMode): mode is ListMode {
  return mode === "dynamic" || mode === "full" || mode === "basic";
}

const NAMES: Readonly<Record<Exclude<RequestMode, "item">, string>> = {
  dynamic: "content",
  full: "content",
  basic: "content",
  destinations: "destinations",
  custom_fields: "custom_fields_reference",
};

function wayOut(status: number, mode: RequestMode): string {
  if (status !== 400 && status !== 422) return "";
  if (mode === "dynamic" || mode === "item") {
    return "; if it does not know a column, narrow `columns` in the configuration";
  }
  return mode === "full" || mode === "basic" ? "; `perPage` in the configuration may be too large" : "";
}
