import { addAbortListener } from "node:events";
import type { Clock } from "../../common/clock.ts";
import { basicCredentials, redactor, type Secret } from "../../common/secret.ts";
import { VERSION } from "../../common/version.ts";
import { type Connection, type ConnectionOptions, Connections } from "./connections.ts";
import { decodeBytes } from "./decode.ts";
import { type Answer, type Caps, exchange } from "./exchange.ts";
import { explanationOf } from "./explanation.ts";
import { parseHttpDate, parseRetryAfter, type RetryAfter } from "./http-date.ts";
import { assertAnswered } from "./json-body.ts";
import { formOf, listRequest, pageOf, type ReadRequest, type RequestMode, targetOf } from "./request.ts";
import type { Retry } from "./retry.ts";
import type { NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";
import { isListing, statusError } from "./status.ts";
import { transportError } from "./transport-error.ts";

/** The only file that asks the service. It speaks to one origin, and the token goes nowhere else. */

export const TIMEOUTS = {
  connectMs: 10_000,
  /** From the request to the last of the headers. */
  headersMs: 60_000,
  /** Between two pieces of the body. */
  bodyMs: 30_000,
  /** For the whole of one attempt: a body that drips in byte by byte never meets the others. */
  totalMs: 180_000,
};

export const CAPS: Caps = { wireBytes: 32 * 1024 * 1024, failureBytes: 64 * 1024 };

/** Informational answers (1xx) that one request bears. */
const MAX_INFORMATIONAL = 16;

export interface HttpClientOptions extends ConnectionOptions {
  readonly token: Secret;
  readonly namedIn: NamedIn;
  readonly timeouts: Readonly<typeof TIMEOUTS>;
  readonly caps: Caps;
  readonly clock: Clock;
  /** What failed is asked for again as this says. */
  readonly retry: Pick<Retry, "run">;
  readonly onAttempt: OnAttempt;
}

/** Called for each attempt of a request. `status`: null without an answer. `bytes`: size of the body as it came. */
export type OnAttempt = (status: number | null, bytes: number) => void;

export interface HttpResponse extends Omit<Answer, "headers"> {
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** The answer's `Date`. */
  readonly date: Date | null;
  /** Seconds since a cache had the answer from the service; null: it did not say so. */
  readonly ageSeconds: number | null;
  readonly retryAfter: RetryAfter;
  /** From the request to the last byte, of the attempt that succeeded. */
  readonly milliseconds: number;
  /** Attempts that were made, this one included. */
  readonly attempts: number;
}

export type Take<T> = (response: HttpResponse) => T | Promise<T>;

export interface Taken<T> {
  readonly response: HttpResponse;
  readonly value: T;
}

export interface HttpClient {
  /** Host with its port. */
  readonly host: string;
  /**
   * Asks until there is an answer that can be read (200, or for a single item 404 and 410: it is gone), as the retry
   * policy says, and gives what `take` makes of it. Where that finds the body damaged, the service is asked again. It may
   * hand the body to a worker thread and wait: the connection serves others then.
   *
   * @param onceWithinMs what fails, or takes longer, is not asked for again
   * @throws {SourceError} for every other status and everything that goes wrong on the way
   */
  readAs<T>(
    request: ReadRequest,
    signal: AbortSignal,
    take: Take<T>,
    onceWithinMs?: number,
  ): Promise<Taken<T>>;
  /** Ends all connections, with what is under way on them. */
  close(): Promise<void>;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { url, token, namedIn, proxy, retry, log, clock, timeouts } = options;
  const connections = new Connections(options);
  const redact = redactor([token]);
  let cacheTold = false;
  /** Whether a page of the listing was read. */
  let hasListing = false;
  /** The first of each mode that was answered. */
  const answered = new Map<RequestMode, ReadRequest>();

  function tellOfCache({ ageSeconds }: Received): void {
    if (ageSeconds === null || ageSeconds === 0 || cacheTold) return;
    cacheTold = true;
    log.warn(
      `${url.host} answers out of a cache, ${ageSeconds} seconds old, though it was asked not to; name an address without one.`,
    );
  }

  /** Asks once and gives the answer whatever its status; of a failure at most `caps.failureBytes` of its body. */
  async function send(request: ReadRequest, signal: AbortSignal, totalMs: number): Promise<HttpResponse> {
    signal.throwIfAborted();
    const { method, path } = request;
    const deadline = new AbortController();
    using _late = setTimeout(() => deadline.abort(tooSlow(url.host, totalMs)), totalMs);
    using _stopped = addAbortListener(signal, () => deadline.abort(signal.reason));
    const startedMs = clock.elapsedMs();
    try {
      const response = await connections.use((connection) => receive(connection, request, options, deadline));
      const milliseconds = clock.elapsedMs() - startedMs;
      const { status, body } = response;
      tellOfCache(response);
      log.debug("answer", { method, path, status, bytes: body.length, milliseconds });
      options.onAttempt(status, body.length);
      return { ...response, milliseconds, attempts: 1 };
    } catch (thrown) {
      const { aborted, reason } = deadline.signal;
      const failure = aborted ? reason : transportError(thrown, { host: url.host, namedIn, proxy }, redact);
      options.onAttempt(null, 0);
      throw failure;
    }
  }

  async function attempt(
    request: ReadRequest,
    signal: AbortSignal,
    onceWithinMs: number | undefined,
  ): Promise<HttpResponse> {
    const totalMs = Math.min(timeouts.totalMs, onceWithinMs ?? timeouts.totalMs);
    const response = await send(request, signal, totalMs);
    const { status } = response;
    const retryAfter =
      typeof response.retryAfter === "string" ? redact(response.retryAfter) : response.retryAfter;
    const detail = status === 200 ? "" : redact(explanationOf(response));
    const isLaterPage = (pageOf(request) ?? 1) !== 1;
    const answer = { ...url, namedIn, status, retryAfter, detail, hasListing: hasListing || isLaterPage };
    const error = statusError(answer, request.mode);
    if (error !== null) throw error;
    hasListing ||= isListing(request.mode);
    return response;
  }

  /** Asks for what was answered before, so that the fault of one request is not taken for an outage. */
  async function check(request: ReadRequest, signal: AbortSignal, withinMs: number): Promise<void> {
    const before = answered.get(request.mode);
    const isOther = before !== undefined && targetOf(before) !== targetOf(request);
    const response = await attempt(isOther ? before : FIRST_ITEM, signal, withinMs);
    if (response.status === 200) assertAnswered(decodeBytes(response).toString());
  }

  async function readAs<T>(
    request: ReadRequest,
    signal: AbortSignal,
    take: Take<T>,
    onceWithinMs?: number,
  ): Promise<Taken<T>> {
    let count = 0;
    const ask = async (release: () => void) => {
      count++;
      const response = await attempt(request, signal, onceWithinMs);
      release();
      try {
        const value = await take(response);
        if (response.status === 200 && !answered.has(request.mode)) answered.set(request.mode, request);
        return { response, value };
      } catch (error) {
        throw withoutSecrets(error, redact);
      }
    };
    const { response, value } = await retry.run(
      {
        attempt: ask,
        check: (withinMs) => check(request, signal, withinMs),
        isOnce: onceWithinMs !== undefined,
      },
      signal,
    );
    return { response: { ...response, attempts: count }, value };
  }

  return { host: url.host, readAs, close: () => connections.close() };
}

/** A small request that every service can answer. */
const FIRST_ITEM = listRequest({ mode: "basic", page: 1, perPage: 1, columns: [], gallery: false });

/** What reads a body may quote the service's own words, and those the token. */
function withoutSecrets(error: unknown, redact: (text: string) => string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = redact(error.message);
  error.stack = redact(error.stack ?? "");
  return error;
}

type Received = Omit<HttpResponse, "milliseconds" | "attempts">;

async function receive(
  { pool, isKept, onBegin }: Connection,
  request: ReadRequest,
  { url, token, caps, clock }: HttpClientOptions,
  deadline: AbortController,
): Promise<Received> {
  const form = formOf(request);
  let informational = 0;
  const onStart = (status: number) => {
    onBegin();
    if (status < 200) informational += 1;
    if (informational <= MAX_INFORMATIONAL) return;
    const sentence = `${url.host} announces an answer over and over and gives none; look for a proxy in between.`;
    deadline.abort(new SourceError("source.protocol", sentence));
  };
  const { status, headers, body, sha256 } = await exchange(
    pool,
    {
      origin: url.origin,
      method: request.method,
      path: url.prefix + targetOf(request),
      headers: { ...headersOf(token), ...(form === null ? {} : FORM_HEADERS) },
      body: form,
      reset: !isKept,
    },
    { caps, signal: deadline.signal, onStart },
  );
  const date = parseHttpDate(header(headers, "date"));
  return {
    status,
    contentType: header(headers, "content-type"),
    contentEncoding: header(headers, "content-encoding"),
    date,
    ageSeconds: parseAge(header(headers, "age")),
    retryAfter: parseRetryAfter(header(headers, "retry-after"), date ?? new Date(clock.now())),
    body,
    sha256,
  };
}

/** No `Range`, no cookies; a cache in between is told to ask the service. */
function headersOf(token: Secret): Record<string, string> {
  return {
    authorization: basicCredentials(token),
    accept: "application/json",
    "accept-encoding": "gzip",
    "cache-control": "no-cache",
    "user-agent": `content-warehouse/${VERSION}`,
  };
}

/** RFC 9111: a whole number of seconds; anything else says nothing. */
function parseAge(age: string | null): number | null {
  return age !== null && /^\d{1,9}$/.test(age) ? Number(age) : null;
}

const FORM_HEADERS = { "content-type": "application/x-www-form-urlencoded" };

/** A header that came more than once is joined. */
function header(headers: Answer["headers"], name: string): string | null {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

function tooSlow(host: string, totalMs: number): SourceError {
  const limit = totalMs >= 1000 ? `${Math.round(totalMs / 1000)} s` : `${totalMs} ms`;
  return new SourceError(
    "source.timeout",
    `${host} gave no complete answer within ${limit}; run again later, or set a smaller \`perPage\`.`,
  );
}
