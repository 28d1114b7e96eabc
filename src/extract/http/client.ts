/** The client of the read interface: the only code that sends requests to the service. */
import { addAbortListener } from "node:events";
import type { Clock } from "../../common/clock.ts";
import { basicCredentials, redactor, type Secret } from "../../common/secret.ts";
import { VERSION } from "../../common/version.ts";
import { redactAddresses } from "../../raw/personal/addresses.ts";
import { type ConnectionConfig, ConnectionPool } from "./connection-pool.ts";
import { assertAnswered, decodeBytes, serviceMessage } from "./decode.ts";
import { listRequest, type RequestMode, type ServiceRequest, type SettingNames } from "./request.ts";
import type { RetryLoop } from "./retry.ts";
import { SourceError } from "./source-error.ts";
import { type RetryAfter, readHeaders, statusError } from "./status.ts";
import { transportError } from "./transport-error.ts";

export interface HttpClientConfig extends ConnectionConfig {
  readonly token: Secret;
  /** Whether errors quote the service without e-mail addresses. */
  readonly hidesAddresses: boolean;
  readonly settingNames: SettingNames;
  readonly clock: Clock;
  readonly retry: Pick<RetryLoop, "run">;
  readonly onAttempt: AttemptListener;
}

/** Called after each attempt of a request. `status`: `null` without a response. `bytes`: size of the body as it came. */
export type AttemptListener = (status: number | null, bytes: number) => void;

export interface HttpResponse {
  readonly status: number;
  /** The body as it came over the wire, in a buffer of its own that can be moved to a worker thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Size of `body`, which may move to a thread. */
  readonly bytes: number;
  /** SHA-256 of `body`, hexadecimal. */
  readonly sha256: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** When it was sent, in microseconds since 1970 UTC: its `Date`, or this machine's clock without one. */
  readonly observedAt: number;
  /** Whether it has a `Date`. */
  readonly dated: boolean;
  readonly retryAfter: RetryAfter;
  /** From the request to the last byte, of the attempt that succeeded. */
  readonly milliseconds: number;
  /** Attempts that were made, this one included. */
  readonly attempts: number;
}

/** Talks to one origin; the token goes nowhere else. */
export class HttpClient {
  readonly #config: HttpClientConfig;
  readonly #connections: ConnectionPool;
  readonly #redact: (text: string) => string;
  #isCacheReported = false;
  #hasListing = false;
  /** The first request of each mode that was answered. */
  readonly #answered = new Map<RequestMode, ServiceRequest>();

  constructor(config: HttpClientConfig) {
    this.#config = config;
    this.#connections = new ConnectionPool(config);
    const redact = redactor([config.token]);
    this.#redact = config.hidesAddresses ? (text) => redactAddresses(redact(text)) : redact;
  }

  /** Closes all connections, with the requests that they serve. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  /**
   * Sends a request until it gets a response that can be read: status 200, or for a single item 404 and 410 (removed). The
   * retry loop decides about further attempts, also after a damaged body. While `read` waits, for example for a thread,
   * the connection serves other requests.
   *
   * @param read turns the body of a response into a value; throws a `SourceError` if the body is damaged
   * @param onceWithinMs allows one attempt of at most so many milliseconds
   * @throws {SourceError} for every other status and every failure of the network
   */
  async readAs<T>(
    request: ServiceRequest,
    signal: AbortSignal,
    read: (response: HttpResponse) => T | Promise<T>,
    onceWithinMs?: number,
  ): Promise<{ readonly response: HttpResponse; readonly value: T }> {
    let attempts = 0;
    const attempt = async (release: () => void) => {
      attempts += 1;
      const response = await this.#attempt(request, signal, onceWithinMs);
      release();
      try {
        const value = await read(response);
        if (response.status === 200 && !this.#answered.has(request.mode))
          this.#answered.set(request.mode, request);
        return { response, value };
      } catch (error) {
        throw redacted(error, this.#redact);
      }
    };
    const check = (withinMs: number) => this.#check(request, signal, withinMs);
    const isOnce = onceWithinMs !== undefined;
    const { response, value } = await this.#config.retry.run({ attempt, check, isOnce }, signal);
    return { response: { ...response, attempts }, value };
  }

  /** Sends the first request of the mode that was answered, to tell an outage from the failure of `request`. */
  async #check(request: ServiceRequest, signal: AbortSignal, withinMs: number): Promise<void> {
    const before = this.#answered.get(request.mode);
    const isOther = before !== undefined && encoded(before).target !== encoded(request).target;
    const response = await this.#attempt(isOther ? before : FIRST_ITEM, signal, withinMs);
    try {
      if (response.status === 200) assertAnswered(decodeBytes(response).toString());
    } catch (error) {
      throw redacted(error, this.#redact);
    }
  }

  /** One attempt. Throws for each status that cannot be read. */
  async #attempt(
    request: ServiceRequest,
    signal: AbortSignal,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<HttpResponse> {
    const { url, settingNames, limits } = this.#config;
    const response = await this.#send(request, signal, Math.min(limits.totalMs, withinMs));
    const { status, retryAfter } = response;
    const [, page = null] = request.parameters.find(([name]) => name === "page") ?? [];
    const error = statusError(
      {
        ...url,
        path: request.path,
        settingNames,
        status,
        retryAfter: typeof retryAfter === "string" ? this.#redact(retryAfter) : retryAfter,
        message: status === 200 ? "" : this.#redact(serviceMessage(response)),
        isListing: page !== null && (this.#hasListing || Number(page) > 1),
      },
      request.mode,
    );
    if (error !== null) throw error;
    this.#hasListing ||= page !== null;
    return response;
  }

  /** Sends a request once and returns the response, whatever its status. */
  async #send(request: ServiceRequest, signal: AbortSignal, totalMs: number): Promise<HttpResponse> {
    const { url, proxy, settingNames, log, clock, onAttempt } = this.#config;
    signal.throwIfAborted();
    const deadline = new AbortController();
    const tooSlow = `${url.host} sent no complete answer within ${totalMs / 1000} s; run again later, or set a smaller \`perPage\`.`;
    using _timer = setTimeout(() => deadline.abort(new SourceError("source.timeout", tooSlow)), totalMs);
    using _listener = addAbortListener(signal, () => deadline.abort(signal.reason));
    const startedMs = clock.elapsedMs();
    try {
      const wire = await this.#connections.send(this.#dispatchOptions(request), deadline.signal);
      const { headers, ...response } = wire;
      const milliseconds = clock.elapsedMs() - startedMs;
      const { status } = response;
      const bytes = response.body.length;
      this.#reportCache(headers.age);
      log.debug("answer", { method: request.method, path: request.path, status, bytes, milliseconds });
      onAttempt(status, bytes);
      return { ...response, bytes, ...readHeaders(headers, clock.now()), milliseconds, attempts: 1 };
    } catch (thrown) {
      onAttempt(null, 0);
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw transportError(thrown, { host: url.host, settingNames, proxy }, this.#redact);
    }
  }

  /** No `Range` and no cookies. Caches are told to ask the service. */
  #dispatchOptions(request: ServiceRequest) {
    const { url, token } = this.#config;
    const { target, form } = encoded(request);
    const headers = {
      authorization: basicCredentials(token),
      accept: "application/json",
      "accept-encoding": "gzip",
      "cache-control": "no-cache",
      "user-agent": `content-warehouse/${VERSION}`,
      ...(form === null ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    };
    return { method: request.method, path: url.prefix + target, headers, body: form };
  }

  /** Warns once of a response that a cache has had for a while (RFC 9111: `Age` is a whole number of seconds). */
  #reportCache(age: unknown): void {
    if (this.#isCacheReported || !/^\d{1,9}$/.test(String(age)) || Number(age) === 0) return;
    this.#isCacheReported = true;
    this.#config.log.warn(
      `${this.#config.url.host} answers from a cache (age: ${Number(age)} s), although requests forbid it; use a URL without a cache.`,
    );
  }
}

/** A small request that every service can answer. */
const FIRST_ITEM = listRequest({ mode: "basic", page: 1, perPage: 1, columns: [] });

/** An error about a body may quote the service. */
function redacted(error: unknown, redact: (text: string) => string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = redact(error.message);
  error.stack = redact(error.stack ?? "");
  return error;
}

/** `target`: path and query, as in the first line of the request. `form`: body of a POST; `null` for a GET. */
function encoded({ method, path, parameters }: ServiceRequest) {
  const text = new URLSearchParams([...parameters]).toString();
  if (method === "POST") return { target: path, form: text };
  return { target: text === "" ? path : `${path}?${text}`, form: null };
}
