/** What the HTTP status and the headers of a response mean for a run. */
import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "../../common/errors.ts";
import { asSentence, printable } from "../../common/printable.ts";
import type { RequestMode, ServiceUrl, SettingNames } from "./request.ts";
import { OUTAGE_STATUSES } from "./retry-rules.ts";
import { SourceError } from "./source-error.ts";

/** The wait in a `Retry-After` header, in milliseconds; the header's text if it cannot be read; `null` without one. */
export type RetryAfter = number | string | null;

/** A response, before its body is read. */
interface ResponseStatus extends Pick<ServiceUrl, "host" | "prefix"> {
  readonly settingNames: SettingNames;
  readonly status: number;
  readonly retryAfter: RetryAfter;
  /** The service's own message, one clean line without secrets, or `""`. */
  readonly message: string;
  /** Path of the request. */
  readonly path: string;
  /** Whether the request was for a page of a listing that is known to exist: a page was read, or a later one requested. */
  readonly isListing: boolean;
}

/** The wait after a `Retry-After` that cannot be read. It grows if the service refuses again. */
const UNREADABLE_WAIT_MS = 1000;

const REMOVED = new Set([404, 410]);
/** Statuses that another attempt may cure. */
const RETRIED = new Set([408, 425, 429, ...OUTAGE_STATUSES]);

/**
 * The error that a status stands for, with what to do; `null` if the body can be read. That is so for 200, and for a
 * single item for 404 and 410 (removed). Redirects are not followed: services of this kind answer a refused token with a
 * redirect to their sign-in page.
 */
export function statusError(response: ResponseStatus, mode: RequestMode): SourceError | null {
  const { status, retryAfter, message } = response;
  if (status === 200 || (mode === "item" && REMOVED.has(status))) return null;
  const [code, sentence, attemptsAtMost] = failureOf(response, mode);
  const retryAfterMs = typeof retryAfter === "string" ? UNREADABLE_WAIT_MS : retryAfter;
  const ending = message === "" ? "." : `. It said: ${asSentence(message)}`;
  return new SourceError(code, `${sentence}${ending}`, { status, retryAfterMs, attemptsAtMost });
}

/** One branch for each kind of status. */
function failureOf(
  { host, prefix, path, settingNames, status, isListing, retryAfter }: ResponseStatus,
  mode: RequestMode,
): readonly [code: ErrorCode, sentence: string, attemptsAtMost?: number] {
  const checkToken = `check the API token (${settingNames.token})`;
  if (status < 300 || status === 304) {
    const what = `${host} answered with status ${status}, which carries no complete document`;
    return ["source.protocol", `${what}; look for a proxy or cache in between`];
  }
  if (status < 400) {
    const redirect = `${host} answered with a redirect (${status}), most likely to a sign-in page`;
    const address = `the URL (${settingNames.url}) is the final one`;
    return ["source.credentials", `${redirect}; ${checkToken}, and that ${address}`];
  }
  if (status === 401 || status === 403) {
    const what = status === 401 ? "refused the API token" : "does not allow this API token to read";
    return ["source.credentials", `${host} ${what} (${status}); ${checkToken}`];
  }
  // The list became shorter, or a load balancer does not know the service for a moment.
  if (REMOVED.has(status) && isListing)
    return [
      "source.unavailable",
      `${host} no longer has a page of the listing that it announced (${status}); run again later`,
    ];
  if (mode !== "item" && (REMOVED.has(status) || status === 405)) {
    const what = `${prefix}${path} answers ${status}`;
    const missing = `There is no content service at ${host}${prefix}: ${what}`;
    return ["config.not_found", `${missing}; check the URL (${settingNames.url})`];
  }
  if (RETRIED.has(status)) {
    const what = status === 429 ? "asks for fewer requests" : "is unavailable";
    return ["source.unavailable", `${host} ${what} (${status})${waitOf(retryAfter)}; run again later`];
  }
  if (status >= 500) return ["source.unavailable", `${host} failed (${status})`, 1];
  const wayOut = status === 400 || status === 422 ? "; narrow `columns`, or set a smaller `perPage`" : "";
  return ["source.protocol", `${host} refused a request (${status})${wayOut}`];
}

function waitOf(retryAfter: RetryAfter): string {
  if (typeof retryAfter === "string")
    return `, with a Retry-After that cannot be read (${printable(retryAfter)})`;
  return retryAfter ? `, and asks to wait ${Math.ceil(retryAfter / 1000)} s` : "";
}

/** `now`: this machine's clock, in milliseconds since 1970, for a response without a date. */
export function readHeaders(headers: IncomingHttpHeaders, now: number) {
  const date = parseHttpDate(header(headers, "date"));
  const answeredAt = date?.getTime() ?? now;
  return {
    contentType: header(headers, "content-type"),
    contentEncoding: header(headers, "content-encoding"),
    observedAt: Math.floor(answeredAt * 1000),
    dated: date !== null,
    retryAfter: parseRetryAfter(header(headers, "retry-after"), answeredAt),
  };
}

/** A header that came several times is joined with commas. */
function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

/** Seconds, rounded up, or a date. The longest of several counts. */
function parseRetryAfter(text: string | null, answeredAt: number): RetryAfter {
  if (text === null) return null;
  const waits = text.split(/,\s*(?=[A-Z]|\d[\d.]*\s*(?:,|$))/).map((each) => waitMs(each.trim(), answeredAt));
  const longest = Math.max(...waits.filter((wait) => wait !== null));
  return longest < 0 ? text : longest;
}

function waitMs(text: string, answeredAt: number): number | null {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1000;
  const date = parseHttpDate(text);
  return date && Math.max(0, date.getTime() - answeredAt);
}

const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const WEEKDAY = "(?<weekday>[A-Z][a-z]{2})";
const MONTH = "(?<month>[A-Z][a-z]{2})";

/** The three forms of a date in RFC 9110: the preferred one, that of RFC 850, and that of `asctime`. */
const FORMS = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY}[a-z]*day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** An HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`; `null` for anything else, and for impossible dates. */
function parseHttpDate(text: string | null): Date | null {
  for (const form of FORMS) {
    const { weekday, day = "", month, year = "", time } = form.exec(text ?? "")?.groups ?? {};
    // The weekday tells the century of a year in two digits.
    for (const century of year.length === 2 ? ["20", "19"] : [""]) {
      const today = `${weekday}, ${day.replace(" ", "0")} ${month} ${century}${year} ${time} GMT`;
      const date = new Date(today);
      if (date.toUTCString() === today) return date;
    }
  }
  return null;
}
