/**
 * Tells an outage of the service from the failure of one request, and waits it out.
 *
 * After a failure that an outage can have, the service is asked for something else that it has given before (the check).
 * If it answers, the failure is the request's own, and costs an attempt. If that fails too, no request was answered in
 * between: the service is out. All requests wait then, the check alone is asked again, and its first answer ends the
 * outage, which has cost no request an attempt.
 */
import { addAbortListener } from "node:events";
import type { Clock } from "../../common/clock.ts";
import { codeOf, type WarehouseError } from "../../common/errors.ts";
import { duration, timeOfDay } from "../../common/figures.ts";
import type { Log } from "../../common/log.ts";
import { pauseMs } from "./pauses.ts";
import type { NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

/** An address that never answered is asked for so long: it is a typo, more likely than an outage. */
const NEVER_ANSWERED_MS = 10_000;
/** For a check: what it asks for was answered before, and is small. */
const MAX_CHECK_MS = 30_000;
/** Between two lines of the log, also where the service fails and answers in turns. */
const LOG_EVERY_MS = 30_000;

/** Statuses of a gateway that does not reach the service, or of a service in maintenance. */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504]);
/** Statuses of a service that is out, or of a gateway that does not reach it. */
const OUT: ReadonlySet<number> = new Set([500, 502, 503, 504, 520, 521, 522, 523, 524]);
const UNANSWERED: ReadonlySet<string> = new Set([
  "source.unreachable",
  "source.timeout",
  // Without a status: a page for people or an error, with status 200.
  "source.unavailable",
]);

/** Whether all requests fail like this in an outage. */
export function isOutage(failure: WarehouseError): failure is SourceError {
  if (!(failure instanceof SourceError) || isThrottling(failure)) return false;
  return failure.status === null ? UNANSWERED.has(failure.code) : OUT.has(failure.status);
}

/** A 429, or a 503 that says when to come again: the service is well, and is asked too often. */
export function isThrottling(failure: WarehouseError): boolean {
  if (!(failure instanceof SourceError)) return false;
  return failure.status === 429 || (failure.status === 503 && (failure.retryAfterMs ?? 0) > 0);
}

export interface OutageOptions {
  readonly host: string;
  readonly namedIn: NamedIn;
  /** So long an outage is waited for; 0: there are none, only requests that fail. */
  readonly minutes: number;
  /** Whether an earlier run had answers from this address. */
  readonly isKnown: boolean;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** The outages of a run, each from the failure that it began with to the answer that ended it. */
export interface OutageTotals {
  readonly count: number;
  readonly seconds: number;
}

/** Makes one request that has to end within so many milliseconds. What it resolves with: null, the service answers; else how it failed. */
export type Check = (withinMs: number) => Promise<SourceError | null>;

export interface Failed {
  readonly failure: SourceError;
  readonly check: Check;
  readonly signal: AbortSignal;
  /** When the run ends, on the clock's `elapsedMs`; null: it has no end. */
  readonly deadlineMs: number | null;
}

/** Between two checks; instants of the clock's `elapsedMs`. */
interface Pause {
  readonly nextMs: number;
  /** When the outage began, and until when it is waited for. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** How a service was waited for. `isThere`: it answered before, or a gateway answers for it. */
interface InVain extends Pick<Pause, "sinceMs"> {
  readonly isThere: boolean;
  readonly isDeadline: boolean;
}

/** What was found out by asking for something else. */
interface Inquiry {
  /** Whether there was an outage. */
  readonly found: Promise<boolean>;
  /** Of the request that asks for all others. */
  readonly signal: AbortSignal;
}

/** One for all requests of a run. */
export class Outage {
  readonly #options: OutageOptions;
  #isKnown: boolean;
  #inquiry: Inquiry | null = null;
  #isOut = false;
  /** Once the service was waited for in vain, nothing is asked any more. */
  #gaveUp: SourceError | null = null;
  #count = 0;
  #totalMs = 0;
  #lastLineMs = Number.NEGATIVE_INFINITY;
  #lines = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
    this.#isKnown = options.isKnown;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  get totals(): OutageTotals | null {
    if (this.#count === 0) return null;
    return { count: this.#count, seconds: Number((this.#totalMs / 1000).toFixed(1)) };
  }

  /** A request was answered with what it asked for. */
  answered(): void {
    this.#isKnown = true;
  }

  /** Resolves when there is no outage (any more). Throws where it was waited for in vain. */
  async over(signal: AbortSignal): Promise<void> {
    if (this.#gaveUp !== null) throw this.#gaveUp;
    while (this.#isOut && this.#inquiry !== null) await this.#outcome(this.#inquiry, signal);
  }

  /**
   * Whether the request failed because the service is out: then it is over by now. One that fails meanwhile waits for the
   * same checks. Throws where the service was waited for in vain.
   */
  async outlasts(failed: Failed): Promise<boolean> {
    if (this.#options.minutes === 0) return false;
    for (;;) {
      if (this.#gaveUp !== null) throw this.#gaveUp;
      this.#inquiry ??= this.#inquire(failed);
      const found = await this.#outcome(this.#inquiry, failed.signal);
      if (found !== undefined) return found;
    }
  }

  /** Undefined: the request that asked was ended, and another one has to. */
  async #outcome({ found, signal: asking }: Inquiry, signal: AbortSignal): Promise<boolean | undefined> {
    try {
      return await unlessAborted(found, signal);
    } catch (thrown) {
      if (!signal.aborted && asking.aborted && thrown === asking.reason) return undefined;
      throw thrown;
    }
  }

  #inquire(failed: Failed): Inquiry {
    const found = this.#ask(failed).finally(() => {
      this.#inquiry = null;
      this.#isOut = false;
    });
    // Who waits for it may be ended first.
    found.catch(() => {});
    return { found, signal: failed.signal };
  }

  async #ask({ failure: first, check, signal, deadlineMs }: Failed): Promise<boolean> {
    const { clock, random } = this.#options;
    const sinceMs = clock.elapsedMs();
    // A gateway that says so knows the service.
    const isThere = this.#isKnown || GATEWAY.has(first.status ?? 0);
    const mostMs = isThere ? this.#options.minutes * 60_000 : NEVER_ANSWERED_MS;
    const untilMs = Math.min(sinceMs + mostMs, deadlineMs ?? Number.POSITIVE_INFINITY);
    let failure: SourceError | null = first;
    const linesBefore = this.#lines;
    for (let pauses = 1; ; pauses++) {
      const leftMs = untilMs - clock.elapsedMs();
      if (leftMs <= 0) throw this.#giveUp(failure, { sinceMs, isThere, isDeadline: untilMs === deadlineMs });
      failure = await check(Math.min(MAX_CHECK_MS, leftMs));
      if (failure === null) return this.#end(sinceMs, this.#lines > linesBefore);
      this.#isOut = true;
      const nowMs = clock.elapsedMs();
      const pause = {
        nextMs: Math.min(nowMs + pauseMs("outage", pauses, random), Math.max(nowMs, untilMs)),
        sinceMs,
        untilMs,
      };
      await this.#pause(pause, failure, signal);
    }
  }

  #end(sinceMs: number, isTold: boolean): boolean {
    if (!this.#isOut) return false;
    const lastedMs = this.#options.clock.elapsedMs() - sinceMs;
    this.#count += 1;
    this.#totalMs += lastedMs;
    if (isTold)
      this.#options.log.warn(
        `${this.#options.host} answers again after ${duration(lastedMs / 1000)}; going on.`,
      );
    return true;
  }

  async #pause(pause: Pause, failure: SourceError, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#tell(pause, failure);
    for (let nowMs = clock.elapsedMs(); nowMs < pause.nextMs; nowMs = clock.elapsedMs()) {
      const lineMs = this.#lastLineMs + LOG_EVERY_MS;
      await clock.sleep(Math.min(pause.nextMs, lineMs) - nowMs, signal);
      this.#tell(pause, failure);
    }
  }

  #tell({ sinceMs, untilMs }: Pause, failure: SourceError): void {
    const { host, clock, log } = this.#options;
    const elapsedMs = clock.elapsedMs();
    if (elapsedMs - this.#lastLineMs < LOG_EVERY_MS) return;
    this.#lastLineMs = elapsedMs;
    this.#lines += 1;
    const nowMs = clock.now();
    const until = timeOfDay(nowMs + untilMs - elapsedMs, nowMs);
    const seconds = (elapsedMs - sinceMs) / 1000;
    const lasted = seconds < 1 ? "" : `, for ${duration(seconds)} so far`;
    log.warn(`${host} does not answer (${reasonOf(failure)})${lasted}; waiting until ${until} at most.`);
  }

  #giveUp(failure: SourceError, { sinceMs, isThere, isDeadline }: InVain): SourceError {
    const { host, namedIn, minutes, clock } = this.#options;
    const waited = duration((clock.elapsedMs() - sinceMs) / 1000);
    const bound = isDeadline
      ? "the time of `deadlineMinutes` is over"
      : `\`outageMinutes\` allows ${minutes} min`;
    const sentence = isThere
      ? `${host} did not answer for ${waited} (${reasonOf(failure)}), and ${bound}; run again: it goes on from there.`
      : `${host} gave no answer that could be read (${reasonOf(failure)}), and no earlier one is known; it was asked for ${waited}: check the URL (${namedIn.url}), and whether the service is up.`;
    // Without a status: it is of no request in particular.
    this.#gaveUp = new SourceError(failure.code, sentence, { cause: failure, attemptsAtMost: 1 });
    return this.#gaveUp;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it takes no connection",
  ENOTFOUND: "no host is known by its name",
  EAI_AGAIN: "its name cannot be looked up",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
  UND_ERR_ABORTED: "the proxy does not reach it",
};

/** Of a failure, in a few words. */
function reasonOf({ status, code, cause }: SourceError): string {
  if (status !== null) return `status ${status}`;
  if (code === "source.timeout") return "no answer in time";
  if (code === "source.unavailable") return "a web page or an error in place of data";
  return REASONS[codeOf(cause) ?? ""] ?? "it closes connections";
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  using _listening = addAbortListener(signal, () => aborted.reject(signal.reason));
  return await Promise.race([work, aborted.promise]);
}
