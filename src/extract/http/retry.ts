import { addAbortListener } from "node:events";
import PQueue from "p-queue";
import type { Clock } from "../../common/clock.ts";
import { duration, timeOfDay } from "../../common/figures.ts";
import type { Log } from "../../common/log.ts";
import { Pace, pauseMs, type Throttled } from "./pace.ts";
import type { NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

/**
 * Makes one request, with a connection that is its own until it calls `answered`, or ends: what is done with an answer
 * that has come whole holds up no other request.
 */
export type Attempt<T> = (answered: () => void) => Promise<T>;

/** A request, and how to find out whether the service answers others. */
export interface Attempts<T> {
  readonly attempt: Attempt<T>;
  /** Asks once for something else, which has to come within so many milliseconds. */
  readonly check: (withinMs: number) => Promise<unknown>;
  /** Whether what fails is not asked for again, but for an outage and a refusal. False unless given. */
  readonly isOnce?: boolean;
}

export const RETRY_LIMITS = {
  /** Retries of all requests together: this many (0: what fails is not asked for again), */
  retriesAtMost: 200,
  /** and this share of the requests made so far, */
  retriesPerRequest: 0.2,
  /** but so many are granted to a run that has only begun. */
  retriesToBegin: 20,
};

/** An address that never answered is asked for so long: it is a typo, more likely than an outage. */
const NEVER_ANSWERED_MS = 10_000;
/** For a check: what it asks for was answered before, and is small. */
const MAX_CHECK_MS = 30_000;
/** Between two lines on outages: a service may fail and answer in turns. */
const LOG_EVERY_MS = 30_000;
/** Longest sleep in one go: a timer that counts more than 24 days fires at once. */
const MAX_SLEEP_MS = 3_600_000;

export interface RetryOptions {
  /** Requests at the same time. */
  readonly connections: number;
  /** Upper bound of the pace, requests a second; `null`: none. */
  readonly maxPerSecond: number | null;
  /** Pace that an earlier run had found; `null`: none. */
  readonly startPerSecond: number | null;
  /** So long a service that is out is waited for; 0: there are no outages, only requests that fail. */
  readonly outageMinutes: number;
  /** Whether an earlier run had answers from this address. */
  readonly isKnown: boolean;
  /** For people: the host, and where its address is said. */
  readonly host: string;
  readonly namedIn: NamedIn;
  readonly limits: Readonly<typeof RETRY_LIMITS>;
  /** No attempt begins later. `null`: there is no end. */
  readonly deadline: Deadline | null;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** When a run is over, whatever it still has to ask. */
export interface Deadline {
  /** On the clock's `elapsedMs`, which goes on while the machine is busy with something else. */
  readonly atMs: number;
  /** The time that was given, for people. */
  readonly minutes: number;
}

/** The outages of a run, each from the failure that it began with to the answer that ended it. */
export interface OutageTotals {
  readonly count: number;
  readonly seconds: number;
}

/**
 * When to ask, and when to ask again: whole requests only, later each time, never before the service said so, and never
 * forever. One loop serves all requests of a run. To be asked to slow down is no failure: all go on more slowly. After a
 * failure that an outage can have, the service is asked for something else (the check). If it answers, the failure is
 * the request's own, and costs one of its attempts. If not, nothing succeeded in between: the service is out. All wait
 * then, the check alone is made again, and its first answer ends the outage, which has cost no request an attempt.
 */
export class Retry {
  readonly #options: RetryOptions;
  readonly #pace: Pace;
  readonly #connections: PQueue;
  /** One waits for its turn at a time, so that a turn follows from what is known by then. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #requests = 0;
  /** Attempts beyond the first of each request. */
  #retries = 0;
  #isKnown: boolean;
  /** Finds out whether the service is out, and waits until it is not; then whether it was. */
  #inquiry: Promise<boolean> | null = null;
  #isOut = false;
  /** Once the service was waited for in vain, nothing is asked any more. */
  #gaveUp: SourceError | null = null;
  #outages = 0;
  #outMs = 0;
  /** When the last outage was over. */
  #overMs = Number.NEGATIVE_INFINITY;
  #lastLineMs = Number.NEGATIVE_INFINITY;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#pace = new Pace(options);
    this.#connections = new PQueue({ concurrency: options.connections });
    this.#isKnown = options.isKnown;
  }

  /**
   * Makes attempts until one succeeds. What `attempt` covers is asked for again as a whole: let it decode and check
   * the body too where that is to count.
   *
   * @throws what the last attempt threw; where more attempts could have helped, with the reason to give up
   */
  async run<T>({ attempt, check, isOnce = false }: Attempts<T>, signal: AbortSignal): Promise<T> {
    this.#requests += 1;
    let failure: SourceError | undefined;
    for (let failed = 0, notBeforeMs = 0; ; ) {
      await this.#sleepUntil(notBeforeMs, signal);
      using connection = await this.#connection(signal);
      const sentMs = await this.#turns.add(() => this.#turn(failure, signal, false), { signal });
      try {
        const value = await attempt(() => {
          this.#pace.answered(sentMs);
          connection[Symbol.dispose]();
        });
        this.#isKnown = true;
        return value;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof SourceError)) throw error;
        failure = error;
      }
      if (this.#isRefused(failure, sentMs) || (await this.#wasOut(failure, sentMs, check, signal))) continue;
      if (isOnce || !failure.retry) throw failure;
      failed += 1;
      notBeforeMs = this.#nextAttemptMs(failure, failed);
    }
  }

  /** `null`: nothing was refused, neither in this run nor in the one that its pace is from. */
  get throttled(): Throttled | null {
    return this.#pace.learned;
  }

  /** Requests a second, where requests wait because the service allows no more; else `null`. */
  get slowedTo(): number | null {
    return this.#pace.slowedTo;
  }

  get outages(): OutageTotals | null {
    if (this.#outages === 0) return null;
    return { count: this.#outages, seconds: Number((this.#outMs / 1000).toFixed(1)) };
  }

  /** Resolves, in the order of asking, with what gives the connection back. */
  #connection(signal: AbortSignal): Promise<Disposable> {
    return new Promise((taken, refused) => {
      const held = () => new Promise<void>((given) => taken({ [Symbol.dispose]: given }));
      this.#connections.add(held, { signal }).catch(refused);
    });
  }

  /**
   * Waits until a request may be sent, and returns that moment. A check alone does not wait for the end of an outage.
   *
   * @param before failure of the attempt before; undefined: this is the first one
   */
  async #turn(before: SourceError | undefined, signal: AbortSignal, isCheck: boolean): Promise<number> {
    const { clock } = this.#options;
    for (let waited = false; ; waited = true) {
      if (this.#gaveUp !== null) throw this.#gaveUp;
      signal.throwIfAborted();
      if (this.#isOut && !isCheck) await unlessAborted(this.#inquiry, signal);
      const nowMs = clock.elapsedMs();
      const { nextMs } = this.#pace;
      this.#assertInTime(Math.max(nowMs, nextMs), before);
      if (nextMs <= nowMs) {
        this.#pace.sent(nowMs, waited);
        return nowMs;
      }
      await clock.sleep(Math.min(nextMs - nowMs, MAX_SLEEP_MS), signal);
    }
  }

  async #sleepUntil(untilMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let left = untilMs - clock.elapsedMs(); left > 0; left = untilMs - clock.elapsedMs())
      await clock.sleep(Math.min(left, MAX_SLEEP_MS), signal);
  }

  #assertInTime(untilMs: number, failure: SourceError | undefined): void {
    const { deadline } = this.#options;
    if (deadline === null || untilMs <= deadline.atMs) return;
    if (failure === undefined) throw overdue(deadline);
    throw gaveUp(failure, `The next retry would be after \`deadlineMinutes\` (${deadline.minutes}).`);
  }

  /** A refusal spends no attempt and no retry: all requests wait, and go on more slowly. */
  #isRefused(failure: SourceError, sentMs: number): boolean {
    const { clock, log } = this.#options;
    if (failure.status === null) return false;
    if (!isThrottling(failure)) {
      this.#pace.answered(sentMs);
      return false;
    }
    if (this.#pace.refusals === 0) log.warn(`${failure.message} All requests go on more slowly.`);
    const retryAfterMs = failure.retryAfterMs || null;
    this.#pace.refused({ sentMs, nowMs: clock.elapsedMs(), retryAfterMs });
    this.#assertInTime(this.#pace.nextMs, failure);
    return true;
  }

  /** When the request may be made again, of which so many attempts have failed. */
  #nextAttemptMs(failure: SourceError, failed: number): number {
    const { clock, random, limits, log } = this.#options;
    if (failed >= failure.attemptsAtMost)
      throw failed === 1 ? failure : gaveUp(failure, `Asked ${failed} times.`);
    if (limits.retriesAtMost === 0) throw failure;
    const { status, retryAfterMs } = failure;
    const milliseconds = pauseMs(failed, retryAfterMs, random);
    const untilMs = clock.elapsedMs() + milliseconds;
    this.#assertInTime(untilMs, failure);
    const share = Math.max(limits.retriesToBegin, Math.floor(this.#requests * limits.retriesPerRequest));
    if (this.#retries >= Math.min(limits.retriesAtMost, share))
      throw gaveUp(failure, `This run has asked again ${this.#retries} times already.`);
    this.#retries += 1;
    log.warn(`${failure.message} Asking again.`, {
      code: failure.code,
      ...(status === null ? {} : { status }),
      attempt: failed + 1,
      milliseconds: Math.round(milliseconds),
    });
    return untilMs;
  }

  /**
   * Whether the request failed because the service was out: then it answers again by now. One that fails meanwhile waits
   * for the same checks. Throws where the service was waited for in vain.
   */
  async #wasOut(
    failure: SourceError,
    sentMs: number,
    check: Attempts<unknown>["check"],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!isOutage(failure) || this.#options.outageMinutes === 0) return false;
    // Its answer came in the last outage, and was read only now.
    if (sentMs < this.#overMs) return true;
    this.#inquiry ??= this.#inquire({ failure, sentMs }, check, signal).finally(() => {
      this.#inquiry = null;
      this.#isOut = false;
    });
    return (await unlessAborted(this.#inquiry, signal)) ?? false;
  }

  async #inquire(
    first: { readonly failure: SourceError; readonly sentMs: number },
    check: Attempts<unknown>["check"],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock, random, deadline, outageMinutes } = this.#options;
    const sinceMs = clock.elapsedMs();
    // A gateway that says so knows the service.
    const isThere = this.#isKnown || GATEWAY.has(first.failure.status ?? 0);
    const mostMs = isThere ? outageMinutes * 60_000 : NEVER_ANSWERED_MS;
    const untilMs = Math.min(sinceMs + mostMs, deadline?.atMs ?? Number.POSITIVE_INFINITY);
    let { failure } = first;
    let outUntilMs = sinceMs;
    try {
      for (let pauses = 1; ; pauses++) {
        const leftMs = untilMs - clock.elapsedMs();
        if (leftMs <= 0) {
          this.#gaveUp = this.#inVain(failure, {
            sinceMs: first.sentMs,
            isThere,
            isDeadline: untilMs === deadline?.atMs,
          });
          throw this.#gaveUp;
        }
        const askedMs = clock.elapsedMs();
        const failed = await this.#checked(() => check(Math.min(MAX_CHECK_MS, leftMs)), signal);
        if (failed === null) break;
        failure = failed;
        outUntilMs = askedMs;
        if (!this.#isOut)
          this.#tell(`${failure.message} The service is asked again ${this.#until(untilMs)}.`);
        this.#isOut = true;
        const nextMs = clock.elapsedMs() + pauseMs(pauses, null, random);
        await this.#sleepUntil(Math.min(nextMs, untilMs), signal);
      }
    } catch (thrown) {
      // The request that asks for all was ended: the others are made again, and one of them asks on.
      if (signal.aborted && thrown === signal.reason) return true;
      throw thrown;
    }
    if (!this.#isOut) return false;
    this.#overMs = clock.elapsedMs();
    const lastedMs = this.#overMs - sinceMs;
    this.#outages += 1;
    this.#outMs += lastedMs;
    const out = duration((outUntilMs - sinceMs) / 1000);
    this.#tell(
      `${this.#options.host} answers again: it was out for at least ${out}, and the run waited ${duration(lastedMs / 1000)}.`,
    );
    return true;
  }

  /** How the service failed when it was asked for something else; null: it answers. */
  async #checked(ask: () => Promise<unknown>, signal: AbortSignal): Promise<SourceError | null> {
    const sentMs = await this.#turn(undefined, signal, true);
    try {
      await ask();
      this.#pace.answered(sentMs);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceError)) throw error;
      this.#isRefused(error, sentMs);
      return isOutage(error) ? error : null;
    }
  }

  #tell(line: string): void {
    const { clock, log } = this.#options;
    if (clock.elapsedMs() - this.#lastLineMs < LOG_EVERY_MS) return;
    this.#lastLineMs = clock.elapsedMs();
    log.warn(line);
  }

  #until(untilMs: number): string {
    const nowMs = this.#options.clock.now();
    return `until ${timeOfDay(nowMs + untilMs - this.#options.clock.elapsedMs(), nowMs)} at most`;
  }

  #inVain(
    failure: SourceError,
    { sinceMs, isThere, isDeadline }: { sinceMs: number; isThere: boolean; isDeadline: boolean },
  ): SourceError {
    const { host, namedIn, outageMinutes, clock } = this.#options;
    const waited = duration((clock.elapsedMs() - sinceMs) / 1000);
    const bound = isDeadline
      ? "the time of `deadlineMinutes` is over"
      : `\`outageMinutes\` allows ${outageMinutes} min`;
    const sentence = isThere
      ? `${host} did not answer for ${waited}, and ${bound}; run again: it goes on from there.`
      : `${host} gave no answer that could be read in ${waited}, and no earlier one is known; check the URL (${namedIn.url}), and whether the service is up.`;
    // Without a status: it is of no request in particular.
    return new SourceError(failure.code, `${sentence} At last: ${failure.message}`, {
      cause: failure,
      attemptsAtMost: 1,
    });
  }
}

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
function isOutage(failure: SourceError): boolean {
  if (isThrottling(failure)) return false;
  return failure.status === null ? UNANSWERED.has(failure.code) : OUT.has(failure.status);
}

/** A 429, or a 503 that says when to come again: the service is well, and is asked too often. */
function isThrottling({ status, retryAfterMs }: SourceError): boolean {
  return status === 429 || (status === 503 && (retryAfterMs ?? 0) > 0);
}

function overdue({ minutes }: Deadline): SourceError {
  const sentence =
    `The run was ended because it took longer than ${minutes} minutes; run it again, it goes on from there, or set ` +
    "a longer `deadlineMinutes`.";
  return new SourceError("source.timeout", sentence, { attemptsAtMost: 1 });
}

function gaveUp(failure: SourceError, why: string): SourceError {
  const { status, retryAfterMs } = failure;
  const facts = { status, retryAfterMs, cause: failure, attemptsAtMost: 1 };
  return new SourceError(failure.code, `${failure.message} ${why}`, facts);
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function unlessAborted<Result>(
  work: Promise<Result> | null,
  signal: AbortSignal,
): Promise<Result | null> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  using _listening = addAbortListener(signal, () => aborted.reject(signal.reason));
  return await Promise.race([work, aborted.promise]);
}
