/** Sends one request and collects its response as it comes, without a stream, which would cost as much again. */
import { hash } from "node:crypto";
import type { Dispatcher } from "undici";
import { SourceError } from "./source-error.ts";

export interface RequestLimits {
  /** Largest body as it comes over the wire, in bytes. */
  readonly wireBytes: number;
  /** Bytes that are read of the body of a failure; the rest is discarded. */
  readonly failureBytes: number;
  /** Ends the request and its connection. */
  readonly signal: AbortSignal;
  /** Called when a response begins, and before that for each informational one (1xx). */
  readonly onStart: (status: number) => void;
}

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

export interface WireResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The body as it came over the wire, in a buffer of its own that can be moved to a worker thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of `body`, hexadecimal. */
  readonly sha256: string;
}

/**
 * Sends a request and resolves with the response, whatever its status. The status of a failure counts even if its body
 * is cut off.
 *
 * @throws what undici throws, the signal's reason, or `source.too_large`; the connection is closed then
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: RequestLimits,
): Promise<WireResponse> {
  const { promise, ...outcome } = Promise.withResolvers<WireResponse>();
  dispatcher.dispatch(request, new ResponseCollector(limits, outcome));
  return promise;
}

type ResponseOutcome = Omit<PromiseWithResolvers<WireResponse>, "promise">;

class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #limits: RequestLimits;
  readonly #outcome: ResponseOutcome;
  readonly #pieces: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #start: Pick<WireResponse, "status" | "headers"> | undefined;
  #bytes = 0;

  constructor(limits: RequestLimits, outcome: ResponseOutcome) {
    this.#limits = limits;
    this.#outcome = outcome;
    limits.signal.addEventListener("abort", this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#limits.signal.aborted) this.#onAbort();
  }

  onResponseStart(_controller: unknown, status: number, headers: ResponseHeaders): void {
    this.#limits.onStart(status);
    if (status >= 200) this.#start = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    const { wireBytes, failureBytes } = this.#limits;
    const isFailure = this.#isFailure;
    const left = (isFailure ? failureBytes : wireBytes) - this.#bytes;
    this.#pieces.push(piece.length <= left ? piece : piece.subarray(0, left));
    this.#bytes += Math.min(piece.length, left);
    // The rest of a failure's body is not needed; `onResponseError` ignores this reason then.
    if (isFailure ? piece.length >= left : piece.length > left)
      controller.abort(tooLarge(wireBytes, this.#start?.headers));
  }

  onResponseEnd(): void {
    if (this.#start === undefined) throw new TypeError("a response ended before it began");
    // `allocUnsafeSlow` gives a buffer of its own and does not fill it with zeros.
    const body = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    this.#outcome.resolve({ ...this.#start, body, sha256: hash("sha256", body) });
  }

  onResponseError(_controller: unknown, thrown: unknown): void {
    if (this.#isFailure) this.onResponseEnd();
    else this.#outcome.reject(thrown);
  }

  get #isFailure(): boolean {
    return this.#start !== undefined && this.#start.status !== 200;
  }

  /** Ends the request; one that has not started is ended when it starts. */
  #onAbort = (): void => {
    this.#controller?.abort(this.#limits.signal.reason);
  };
}

function tooLarge(limitBytes: number, headers: ResponseHeaders | undefined): SourceError {
  const limit = `${Math.floor(limitBytes / 1024 / 1024)} MB`;
  const announced = headers?.["content-length"];
  const size =
    typeof announced === "string" && /^\d+$/.test(announced) ? ` (${announced} bytes announced)` : "";
  const sentence = `The service sent more than ${limit} at once${size}; set a smaller \`perPage\` in the configuration.`;
  return new SourceError("source.too_large", sentence);
}
