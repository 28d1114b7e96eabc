/**
 * The rate of requests, learned from those that the service refuses.
 *
 * - After a refusal the rate is that of the requests accepted so far, pauses included, if they are nine or more. A refusal
 *   before that only takes back what the rate has risen by.
 * - The rate doubles with every four requests that wait. A refusal makes that four times as many, each request fewer.
 * - A service that accepts less at a lower rate refuses requests for another reason: the rate is lifted for a while.
 *
 * Nothing here waits or reads a clock. All times are milliseconds of a clock that never goes back.
 */

import type { RetryConfig } from "./retry-rules.ts";

/** Lowest rate, so that a run always goes on and finds a higher limit. */
const MIN_PER_SECOND = 0.1;
/** Lowest rate at the start of a run, whatever an earlier run found: the service may allow more by now. */
const MIN_START_PER_SECOND = 1;
/** Requests that wait until the rate has doubled: at first, ... */
const MIN_DOUBLING = 4;
/** ... and after many refusals, or if an earlier run found the rate. */
const MAX_DOUBLING = 400;
/** Factor for that number with each refusal. */
const DOUBLING_GROWTH = 4;
/** The same with each request, so that a run without refusals speeds up. */
const DOUBLING_DECAY = 0.99;
/** Accepted requests before the rate first rises. */
const FIRST_STEADY = 5;
/** Accepted requests that a rate is learned from, ... */
const ENOUGH = 9;
/** ... also while the rate is lifted. */
const ENOUGH_LIFTED = 20;
/** The rate is lifted if the service accepts less than this share of its best. */
const LIFTED_BELOW = 0.75;
/** After this time without a request, earlier ones say nothing about the limit. */
const IDLE_MS = 10_000;
/** Shortest time after which a service that refused a request is taken to accept one again. */
const MIN_CLOSED_MS = 1000;
/** A request that is sent late on a busy machine lets the next one follow sooner by at most this. */
const MAX_CATCH_UP_MS = 20;
/** Random share added to a wait that the service asks for, so that several clients do not return together. */
const SPREAD = 0.25;
const MAX_SPREAD_MS = 1000;

/** Bound of the first pause; it doubles with each further one. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Milliseconds to wait before the next attempt: random below a bound that doubles ("full jitter"), and never less than the
 * service asks for.
 *
 * @param pauses number of pauses so far, this one included
 */
export function pauseMs(pauses: number, retryAfterMs: number | null, random: () => number): number {
  const pause = random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (pauses - 1));
  if (retryAfterMs === null) return pause;
  return Math.max(retryAfterMs, pause) + random() * Math.min(MAX_SPREAD_MS, retryAfterMs * SPREAD);
}

export interface ThrottleTotals {
  /** Requests a second that the service was found to allow; `null`: unknown. */
  readonly ratePerSecond: number | null;
  /** Requests that the service refused. */
  readonly refused: number;
}

export class Pace {
  readonly #config: Pick<RetryConfig, "maxPerSecond" | "startPerSecond" | "random">;
  /** Requests a second that the service is taken to allow; infinite: unknown. */
  #learned: number;
  /** What `#learned` has risen from. */
  #base: number;
  #doubling: number;
  #isLifted = false;
  #nextMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Requests accepted since `#sinceMs`. */
  #accepted = 0;
  #sinceMs = 0;
  /** Highest rate accepted so far, or since the rate was lifted. */
  #best = 0;
  #isSlowed = false;
  /** Pauses in a row, without an answer between them. */
  #pauses = 0;
  #refused = 0;

  constructor(config: Pick<RetryConfig, "maxPerSecond" | "startPerSecond" | "random">) {
    this.#config = config;
    const { startPerSecond } = config;
    this.#learned = Math.max(MIN_START_PER_SECOND, startPerSecond ?? Number.POSITIVE_INFINITY);
    this.#base = this.#learned;
    this.#doubling = startPerSecond === null ? MIN_DOUBLING : MAX_DOUBLING;
  }

  /** When the next request may be sent. Requests are evenly spaced; idle time is not made up for. */
  get nextMs(): number {
    return this.#nextMs;
  }

  get refusals(): number {
    return this.#refused;
  }

  /** Requests a second, if the last one waited because the service allows no more; else `null`. */
  get slowedTo(): number | null {
    return Number.isFinite(this.#learned) && this.#isSlowed ? this.#perSecond : null;
  }

  /** `null`: nothing was refused, neither in this run nor in the one that its rate is from. */
  get totals(): ThrottleTotals | null {
    const isLearned = Number.isFinite(this.#learned);
    if (!isLearned && this.#refused === 0) return null;
    const sinceLearned = (this.#accepted * 1000) / Math.max(1, this.#nextMs - this.#sinceMs);
    const rate = Math.min(this.#perSecond, Math.max(this.#base, sinceLearned));
    const ratePerSecond = isLearned ? Number(rate.toPrecision(3)) : null;
    return { ratePerSecond, refused: this.#refused };
  }

  /** Notes that a request is sent. `waited`: it waited for `nextMs`. */
  sent(nowMs: number, waited: boolean): void {
    if (nowMs - this.#nextMs > IDLE_MS) {
      this.#sinceMs = nowMs;
      this.#accepted = 0;
    }
    const gapMs = 1000 / this.#perSecond;
    this.#nextMs = Math.max(this.#nextMs, waited ? nowMs - MAX_CATCH_UP_MS : nowMs) + gapMs;
    this.#isSlowed = waited && gapMs > 0;
    if (!this.#isSlowed || this.#perSecond < this.#learned) return;
    if (this.#best === 0 && this.#accepted < FIRST_STEADY) return;
    this.#learned *= 2 ** (1 / this.#doubling);
    this.#doubling = Math.max(MIN_DOUBLING, this.#doubling * DOUBLING_DECAY);
  }

  /** Notes that the service accepted a request, whatever its response. */
  answered(): void {
    this.#accepted += 1;
    this.#pauses = 0;
  }

  /**
   * Notes that the service refused a request: starts a pause, or makes it longer. Refusals of requests that were sent
   * before the pause have the same cause. `retryAfterMs`: the wait that the service asks for; `null`: none.
   */
  refused(sentMs: number, nowMs: number, retryAfterMs: number | null): void {
    this.#refused += 1;
    const isFirst = sentMs >= this.#pausedUntilMs;
    if (isFirst) this.#pauses += 1;
    else if (retryAfterMs === null) return;
    const untilMs = nowMs + pauseMs(this.#pauses, retryAfterMs, this.#config.random);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    this.#nextMs = Math.max(this.#nextMs, untilMs);
    if (isFirst && this.#pauses === 1) this.#learn(nowMs + Math.max(MIN_CLOSED_MS, retryAfterMs ?? 0));
  }

  get #perSecond(): number {
    return Math.min(this.#config.maxPerSecond ?? Number.POSITIVE_INFINITY, this.#learned);
  }

  /** Sets the rate from what was accepted before this moment. */
  #learn(untilMs: number): void {
    if (this.#accepted === 0) return;
    const accepted = (this.#accepted * 1000) / (untilMs - this.#sinceMs);
    const lowered = Math.max(MIN_PER_SECOND, Math.min(this.#perSecond, accepted));
    if (this.#accepted < (this.#isLifted ? ENOUGH_LIFTED : ENOUGH)) {
      if (!Number.isFinite(this.#base) && !this.#isLifted) this.#base = lowered;
      this.#learned = Math.min(this.#learned, this.#base);
      return;
    }
    this.#isLifted = accepted < LIFTED_BELOW * this.#best;
    this.#learned = this.#isLifted ? Number.POSITIVE_INFINITY : lowered;
    this.#doubling = this.#isLifted ? MIN_DOUBLING : Math.min(MAX_DOUBLING, this.#doubling * DOUBLING_GROWTH);
    this.#best = this.#isLifted ? 0 : Math.max(this.#best, accepted);
    this.#base = this.#learned;
    this.#sinceMs = this.#pausedUntilMs;
    this.#accepted = 0;
  }
}
