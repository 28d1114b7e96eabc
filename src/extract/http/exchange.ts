/** One request and its answer, whole: collected as it comes, without a stream, which would cost as much again. */
import { hash } from "node:crypto";
import type { Dispatcher } from "undici";
import { SourceError } from "./source-error.ts";

export interface Caps {
  /** Largest body as it comes over the wire, in bytes. */
  readonly wireBytes: number;
  /** What is read of the body of a failure, in bytes; the rest is not waited for. */
  readonly failureBytes: number;
}

export interface ExchangeOptions {
  readonly caps: Caps;
  /** Of this exchange alone: ends it, and with it its connection. */
  readonly signal: AbortSignal;
  /** Called when an answer begins, and before it for each informational one (1xx). */
  readonly onStart: (status: number) => void;
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** As it came over the wire, in a buffer of its own that can be moved to a worker thread. Of a failure: as much as came, up to the cap. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of `body`, hexadecimal. */
  readonly sha256: string;
}

/**
 * Sends a request and resolves with the answer, whatever its status. Rejects with what undici throws, the signal's
 * reason, or `source.too_large`; then the connection is gone. So it is after a failure whose body was cut. The status of
 * a failure counts, whatever becomes of its body.
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ExchangeOptions,
): Promise<Answer> {
  const { promise, ...outcome } = Promise.withResolvers<Answer>();
  dispatcher.dispatch(request, new Exchange(options, outcome));
  return promise;
}

type Outcome = Omit<PromiseWithResolvers<Answer>, "promise">;

class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #outcome: Outcome;
  readonly #pieces: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #start: Pick<Answer, "status" | "headers"> | undefined;
  #bytes = 0;

  constructor(options: ExchangeOptions, outcome: Outcome) {
    this.#options = options;
    this.#outcome = outcome;
    options.signal.addEventListener("abort", this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#options.signal.aborted) this.#onAbort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#options.onStart(status);
    if (status >= 200) this.#start = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    const { wireBytes, failureBytes } = this.#options.caps;
    const failed = this.#failed;
    const room = (failed ? failureBytes : wireBytes) - this.#bytes;
    this.#pieces.push(piece.length <= room ? piece : piece.subarray(0, room));
    this.#bytes += Math.min(piece.length, room);
    // Of a failure enough has come then, and this reason is told to nobody.
    if (failed ? piece.length >= room : piece.length > room)
      controller.abort(tooLarge(wireBytes, this.#start?.headers));
  }

  onResponseEnd(): void {
    if (this.#start === undefined) throw new TypeError("an answer ended before it began");
    // Into a buffer that is not filled with zeros before.
    const body = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    this.#outcome.resolve({ ...this.#start, body, sha256: hash("sha256", body) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, thrown: unknown): void {
    if (this.#failed) this.onResponseEnd();
    else this.#outcome.reject(thrown);
  }

  get #failed(): boolean {
    return this.#start !== undefined && this.#start.status !== 200;
  }

  /** Before the request has begun there is nothing to end: it is ended when it does. */
  #onAbort = (): void => {
    this.#controller?.abort(this.#options.signal.reason);
  };
}

function tooLarge(capBytes: number, headers: Headers | undefined): SourceError {
  const cap = `${Math.floor(capBytes / 1024 / 1024)} MB`;
  const announced = headers?.["content-length"];
  const size =
    typeof announced === "string" && /^\d+$/.test(announced) ? ` (${announced} bytes announced)` : "";
  return new SourceError(
    "source.too_large",
    `The service sent more than ${cap} at once${size}; set a smaller \`perPage\` in the configuration.`,
  );
}
