/** Outages: tells one from the failure of a single request, and waits until the service answers again. */
import { addAbortListener } from "node:events";
import type { Clock } from "../../common/clock.ts";
import { duration } from "../../common/figures.ts";
import { pauseMs } from "./pace.ts";
import { failureKind, type RetryConfig } from "./retry-rules.ts";
import { SourceError } from "./source-error.ts";

/** The wait for an address that has never answered: a typo is more likely than an outage. */
const NEVER_ANSWERED_MS = 10_000;
/** Statuses of a gateway that knows the service and does not reach it, or of a service in maintenance. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);
/** Timeout of a check, which is a request that was answered before. */
const MAX_CHECK_MS = 30_000;
/** Shortest time between two lines of the log about outages. */
const LOG_EVERY_MS = 30_000;
/** Longest sleep in one go: a timer of more than 24 days fires at once. */
const MAX_SLEEP_MS = 3_600_000;

/** The outages of a run, each from its first failure to the answer that ended it. */
export interface OutageTotals {
  readonly count: number;
  readonly seconds: number;
}

/** Sends a small request. Returns the failure that an outage can have, or `null` if the service answers. */
type OutageCheck = (withinMs: number) => Promise<SourceError | null>;

/** A failure that an outage can have, and when its request was sent. */
interface FirstFailure {
  readonly failure: SourceError;
  readonly sentMs: number;
}

export class OutageWatch {
  readonly #config: RetryConfig;
  #isKnown: boolean;
  /** The check under way; resolves with whether the service was out. */
  #inquiry: Promise<boolean> | null = null;
  #isOut = false;
  /** The failure of every request once the run has given up on the service. */
  #gaveUp: SourceError | null = null;
  #count = 0;
  #waitedMs = 0;
  #lastEndMs = Number.NEGATIVE_INFINITY;
  #lastLogMs = Number.NEGATIVE_INFINITY;

  constructor(config: RetryConfig) {
    this.#config = config;
    this.#isKnown = config.isKnown;
  }

  get totals(): OutageTotals | null {
    if (this.#count === 0) return null;
    return { count: this.#count, seconds: Number((this.#waitedMs / 1000).toFixed(1)) };
  }

  /** Notes that the service has answered. */
  answered(): void {
    this.#isKnown = true;
  }

  /** Waits while the service is out, unless for a check. Throws if the run has given up on the service. */
  async whileOut(signal: AbortSignal, isCheck: boolean): Promise<void> {
    if (this.#gaveUp !== null) throw this.#gaveUp;
    if (this.#isOut && !isCheck) await unlessAborted(this.#inquiry, signal);
  }

  /**
   * Returns whether a request failed because the service was out; then the service answers again. All requests that fail
   * meanwhile wait for the same checks. Throws if the service was waited for in vain.
   */
  async wasOut(first: FirstFailure, check: OutageCheck, signal: AbortSignal): Promise<boolean> {
    if (failureKind(first.failure) !== "outage" || this.#config.outageMinutes === 0) return false;
    // The request was sent before the last outage ended; its response was read only now.
    if (first.sentMs < this.#lastEndMs) return true;
    this.#inquiry ??= this.#inquire(first, check, signal).finally(() => {
      this.#inquiry = null;
      this.#isOut = false;
    });
    return (await unlessAborted(this.#inquiry, signal)) ?? false;
  }

  async #inquire(first: FirstFailure, check: OutageCheck, signal: AbortSignal): Promise<boolean> {
    const { clock, host } = this.#config;
    const startMs = clock.elapsedMs();
    let lastFailureMs: number;
    try {
      lastFailureMs = await this.#waitForAnswer(first, check, signal);
    } catch (thrown) {
      // The request that sends the checks was cancelled. The others are retried, and one of them sends the next checks.
      if (signal.aborted && thrown === signal.reason) return true;
      throw thrown;
    }
    if (!this.#isOut) return false;
    this.#lastEndMs = clock.elapsedMs();
    const waitedMs = this.#lastEndMs - startMs;
    this.#count += 1;
    this.#waitedMs += waitedMs;
    const out = duration((lastFailureMs - startMs) / 1000);
    this.#log(
      `${host} answers again: it was out for at least ${out}, and the run waited ${duration(waitedMs / 1000)}.`,
    );
    return true;
  }

  /** Checks the service with growing pauses until it answers. Returns when the last check that failed was sent. */
  async #waitForAnswer(first: FirstFailure, check: OutageCheck, signal: AbortSignal): Promise<number> {
    const { clock, random, deadline, outageMinutes, host, settingNames } = this.#config;
    const startMs = clock.elapsedMs();
    const isThere = this.#isKnown || GATEWAY_STATUSES.has(first.failure.status ?? 0);
    const maxMs = isThere ? outageMinutes * 60_000 : NEVER_ANSWERED_MS;
    const untilMs = Math.min(startMs + maxMs, deadline?.atMs ?? Number.POSITIVE_INFINITY);
    let { failure } = first;
    let lastFailureMs = startMs;
    for (let pauses = 1; ; pauses++) {
      const leftMs = untilMs - clock.elapsedMs();
      if (leftMs <= 0) {
        const since = duration((clock.elapsedMs() - first.sentMs) / 1000);
        const limit =
          untilMs === deadline?.atMs
            ? `\`deadlineMinutes\` is ${deadline.minutes}`
            : `\`outageMinutes\` is ${outageMinutes}`;
        const sentence = isThere
          ? `${host} did not answer for ${since} (${limit}); run again to resume the run.`
          : `${host} gave no usable answer within ${since}, and none in an earlier run; check the URL (${settingNames.url}), and whether the service is up.`;
        // Without a status, because it concerns no request in particular.
        const facts = { cause: failure, attemptsAtMost: 1 };
        this.#gaveUp = new SourceError(failure.code, `${sentence} Last failure: ${failure.message}`, facts);
        throw this.#gaveUp;
      }
      const sentMs = clock.elapsedMs();
      const failed = await check(Math.min(MAX_CHECK_MS, leftMs));
      if (failed === null) return lastFailureMs;
      failure = failed;
      lastFailureMs = sentMs;
      const until = new Date(clock.now() + untilMs - clock.elapsedMs()).toISOString().slice(11, 19);
      if (!this.#isOut) this.#log(`${failure.message} Waiting for the service until ${until} UTC.`);
      this.#isOut = true;
      const nextMs = clock.elapsedMs() + pauseMs(pauses, null, random);
      await sleepUntil(Math.min(nextMs, untilMs), clock, signal);
    }
  }

  #log(line: string): void {
    const { clock, log } = this.#config;
    if (clock.elapsedMs() - this.#lastLogMs < LOG_EVERY_MS) return;
    this.#lastLogMs = clock.elapsedMs();
    log.warn(line);
  }
}

/** Sleeps until a moment on the clock's `elapsedMs`. */
export async function sleepUntil(untilMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let leftMs = untilMs - clock.elapsedMs(); leftMs > 0; leftMs = untilMs - clock.elapsedMs())
    await clock.sleep(Math.min(leftMs, MAX_SLEEP_MS), signal);
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function unlessAborted<Result>(
  work: Promise<Result> | null,
  signal: AbortSignal,
): Promise<Result | null> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  using _listener = addAbortListener(signal, () => aborted.reject(signal.reason));
  return await Promise.race([work, aborted.promise]);
}
