/**
 * The rate of requests, learned from those that the service refuses.
 *
 * - A refusal halves the rate, but not below the rate at which requests were accepted since the refusal before.
 * - Every 100 requests that wait add a tenth; as long as none is refused, each step is nearly a third larger.
 * - A service that accepts the same number of requests at a lower rate counts requests: slowing down does not help.
 *
 * Nothing here waits or reads a clock. All times are milliseconds of a clock that never goes back.
 */

import type { RetryConfig } from "./retry-rules.ts";

/** Lowest rate, so that a run always goes on and finds a higher limit. */
const MIN_PER_SECOND = 0.1;
const RAISED_EVERY = 100;
const FIRST_RAISE = 0.1;
/** Lowest rate at the start of a run, whatever an earlier run found: the service may allow more by now. */
const MIN_START_PER_SECOND = 1;
/** A service counts requests if it accepts as many as before, at least this many, ... */
const MIN_COUNTED = 3;
/** ... in this multiple of the time. */
const COUNTED_TIME = 1.2;
/** Share of the accepted rate that is used, so that a request a few milliseconds early is not refused. */
const MARGIN = 0.95;
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
  /** Requests a second that refusals have shown to be allowed; `null`: unknown. */
  #learned: number | null;
  #nextMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Requests since `#sinceMs`, and whether one of them was answered. */
  #sinceMs = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #isAnswered = false;
  /** Requests that waited since the last change of the rate, and the next raise. */
  #waited = 0;
  #raise = FIRST_RAISE;
  #isSlowed = false;
  /** Pauses in a row, without an answer between them. */
  #pauses = 0;
  #refused = 0;
  /** Requests that were accepted before the rate was last lowered, and in what time. */
  #before = { count: 0, tookMs: 0 };

  constructor(config: Pick<RetryConfig, "maxPerSecond" | "startPerSecond" | "random">) {
    this.#config = config;
    const { startPerSecond } = config;
    this.#learned = startPerSecond && Math.max(MIN_START_PER_SECOND, startPerSecond);
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
    return this.#learned !== null && this.#isSlowed ? this.#perSecond : null;
  }

  /** `null`: nothing was refused, neither in this run nor in the one that its rate is from. */
  get totals(): ThrottleTotals | null {
    if (this.#learned === null && this.#refused === 0) return null;
    const rate = this.#learned === null ? null : this.#perSecond;
    return { ratePerSecond: rate && Number(rate.toPrecision(3)), refused: this.#refused };
  }

  /** Notes that a request is sent. `waited`: it waited for `nextMs`. */
  sent(nowMs: number, waited: boolean): void {
    if (nowMs - this.#nextMs > IDLE_MS) {
      this.#sinceMs = nowMs;
      this.#sent = 0;
    }
    this.#sent += 1;
    const perSecond = this.#perSecond;
    const gapMs = perSecond === null ? 0 : 1000 / perSecond;
    this.#nextMs = Math.max(this.#nextMs, waited ? nowMs - MAX_CATCH_UP_MS : nowMs) + gapMs;
    this.#isSlowed = waited && gapMs > 0;
    if (this.#isSlowed) this.#waited += 1;
    if (this.#waited < RAISED_EVERY || this.#learned === null) return;
    this.#waited = 0;
    this.#learned *= 1 + this.#raise;
    this.#raise *= 1.3;
  }

  /** Notes that the service accepted a request, whatever its response. */
  answered(sentMs: number): void {
    this.#isAnswered = true;
    if (sentMs >= this.#pausedUntilMs) this.#pauses = 0;
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
    if (isFirst) this.#slowDown(nowMs + Math.max(MIN_CLOSED_MS, retryAfterMs ?? 0));
  }

  get #perSecond(): number | null {
    const { maxPerSecond } = this.#config;
    if (this.#learned === null || maxPerSecond === null) return this.#learned ?? maxPerSecond;
    return Math.min(maxPerSecond, this.#learned);
  }

  /** Lowers the rate, unless nothing was answered since the refusal before. */
  #slowDown(untilMs: number): void {
    if (!this.#isAnswered) return;
    // Some requests under way may be refused too. A rate that is too high is corrected soon, one that is too low slowly.
    const count = Math.max(1, this.#sent - 1);
    const tookMs = untilMs - this.#sinceMs;
    const accepted = (MARGIN * count * 1000) / tookMs;
    const isCounted =
      count >= MIN_COUNTED && count === this.#before.count && tookMs > COUNTED_TIME * this.#before.tookMs;
    const pace = this.#perSecond ?? Number.POSITIVE_INFINITY;
    const lowered =
      pace === Number.POSITIVE_INFINITY ? accepted : Math.max(pace / 2, Math.min(pace, accepted));
    if (!isCounted) {
      this.#learned = Math.max(MIN_PER_SECOND, lowered);
      this.#before = { count, tookMs };
    }
    this.#sinceMs = this.#pausedUntilMs;
    this.#sent = 0;
    this.#isAnswered = false;
    this.#waited = 0;
    this.#raise = FIRST_RAISE;
  }
}
