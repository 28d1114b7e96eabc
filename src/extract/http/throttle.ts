/**
 * How fast a service may be asked, learned from its refusals. Nothing here waits or reads a clock: instants come in and
 * go out, as milliseconds of a clock that never goes back.
 *
 * A refusal pauses all requests for as long as the service says, or for a time that doubles. Then requests go on evenly,
 * a little below the rate at which answers came, the pause counted in: over windows and token buckets alike that is the
 * rate that the service allows. From there the pace follows a cubic curve, as TCP CUBIC does: soon back to where the
 * limit was, slowly past it, faster the longer nothing is refused. So a limit is met seldom, and a higher one is found.
 */
import { Futility } from "./futility.ts";
import { pauseMs } from "./pauses.ts";

/** No pace is slower, so that a run always moves and learns of a higher limit. */
const MIN_PER_SECOND = 0.1;
/** Share of the limit at which requests go on after a pause. */
const BACK_AT = 0.95;
/** One congestion leaves this share of a pace at least: few answers may measure far less than the service allows. */
const MIN_LEFT = 0.5;
/** The pace is back at the limit in half the time that the congestion took to come, or will last, within these bounds. */
const MIN_RETURN_MS = 30_000;
const MAX_RETURN_MS = 600_000;
/** Sooner where little is known of the limit. */
const FIRST_RETURN_MS = 10_000;
/** A service that says nothing, or less than this, is taken to let requests in again after so long. */
const MIN_CLOSED_MS = 1000;
/** Answers whose times are kept. */
const MAX_KEPT = 10_000;
/** So many measurements count, the highest of them: any may be too low, and hardly one is too high. */
const MEASUREMENTS = 3;
/** Of fewer answers than this, at the first congestion, the pause says more than the time in which they came. */
const FEW_ANSWERS = 5;
/** The first request after a pause goes alone for so long: if it is refused, the others are spared. */
const ALONE_MS = 250;
/** A request that is sent late, because the machine is busy, lets the next one follow this much sooner at most. */
const MAX_MADE_UP_MS = 20;
/** What comes on top of a pause that the service sets, so that several clients do not come back together. */
const SPREAD = 0.25;
const MAX_SPREAD_MS = 1000;

export interface ThrottleOptions {
  /** Upper bound of the pace, requests a second; `null`: none. */
  readonly maxPerSecond: number | null;
  /** Pace that an earlier run had found; `null`: none. */
  readonly startPerSecond: number | null;
  /** At least 0, below 1. */
  readonly random: () => number;
}

/** When the next request may be sent, unless a pause is begun before. */
export interface Turn {
  readonly atMs: number;
  readonly epoch: number;
  readonly waitsForPace: boolean;
}

export interface Refusal {
  readonly sentMs: number;
  readonly nowMs: number;
  /** What the service asks for, from now on; `null`: it does not say. */
  readonly retryAfterMs: number | null;
}

/** What a run learned of its service. */
export interface Throttled {
  /** Requests a second that the run had come to; `null`: the refusals told nothing about that. */
  readonly ratePerSecond: number | null;
  readonly refused: number;
}

/** The pace, which is `limit` when `progressMs` is `returnMs`. */
interface Curve {
  readonly limit: number;
  readonly returnMs: number;
  /** How long requests have waited for the pace. */
  progressMs: number;
}

/** From the end of a pause to the first refusal of a request that was sent after it. */
interface Cycle {
  readonly startMs: number;
  /** Requests let in. */
  answered: number;
  /** When the latest of them were sent. */
  sentMs: number[];
}

/** A refusal, with all that follow from the same cause. */
interface Congestion {
  readonly cycle: Cycle;
  /** When the refused request was sent. */
  readonly atMs: number;
  /** Pace of that moment, if requests waited for it. */
  readonly pace: number | null;
  /** When the service lets requests in again, as far as it says. */
  untilMs: number;
}

export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #futility = new Futility();
  #curve: Curve | null = null;
  #cycle: Cycle | null = null;
  #congestion: Congestion | null = null;
  /** Answers a second, of the last congestions; the latest first. */
  readonly #measured: number[] = [];
  #epoch = 0;
  #nextTurnMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #goesAlone = false;
  #waitsForPace = false;
  /** Pauses in a row without an answer between them. */
  #pauses = 0;
  #refused = 0;

  constructor(options: ThrottleOptions) {
    this.#options = options;
    if (options.startPerSecond !== null) this.#curve = atLimit(options.startPerSecond);
  }

  /**
   * When the next request may be sent: they are evenly spaced, and idle time is not made up for. Who asks waits, and then
   * begins or asks again, before anybody else asks.
   */
  turn(nowMs: number): Turn {
    const atMs = Math.max(nowMs, this.#nextTurnMs);
    this.#waitsForPace = this.#pace() !== null && atMs > Math.max(nowMs, this.#pausedUntilMs);
    return { atMs, epoch: this.#epoch, waitsForPace: this.#waitsForPace };
  }

  /** Whether the request is sent now: not if a pause was begun since it had its turn. */
  begin(turn: Turn, nowMs: number): boolean {
    if (turn.epoch !== this.#epoch) return false;
    this.#cycle ??= newCycle(nowMs);
    const pace = this.#pace();
    const gapMs = pace === null ? 0 : 1000 / pace;
    const spaceMs = this.#goesAlone ? Math.max(gapMs, ALONE_MS) : gapMs;
    this.#nextTurnMs = Math.max(turn.atMs, nowMs - MAX_MADE_UP_MS) + spaceMs;
    this.#goesAlone = false;
    if (turn.waitsForPace) this.#raise(gapMs);
    return true;
  }

  /** No request is sent before then. */
  pauseUntil(untilMs: number): void {
    if (untilMs <= this.#pausedUntilMs) return;
    this.#pausedUntilMs = untilMs;
    this.#nextTurnMs = Math.max(this.#nextTurnMs, untilMs);
    this.#epoch += 1;
  }

  /** A request was let in, whatever became of it then. */
  answered(sentMs: number): void {
    const cycle = this.#cycle;
    if (cycle === null) return;
    if (sentMs >= cycle.startMs) {
      this.#pauses = 0;
      count(cycle, sentMs);
    } else if (this.#congestion !== null) {
      // It was under way when another one was refused.
      count(this.#congestion.cycle, sentMs);
      this.#slowDown(this.#congestion);
    }
  }

  /** Begins a pause, or makes it longer. Refusals of requests that were sent before it are part of its congestion. */
  refused(refusal: Refusal): void {
    const { sentMs, retryAfterMs } = refusal;
    const cycle = this.#cycle ?? newCycle(sentMs);
    this.#refused += 1;
    if (sentMs >= cycle.startMs) this.#congest(refusal, cycle);
    else if (retryAfterMs !== null) this.#pause(refusal, retryAfterMs);
  }

  get pausedUntilMs(): number {
    return this.#pausedUntilMs;
  }

  /** Requests a second, where the last one had to wait because the service allows no more; else `null`. */
  get slowedTo(): number | null {
    return this.#curve !== null && this.#waitsForPace ? this.#pace() : null;
  }

  get refusals(): number {
    return this.#refused;
  }

  /** `null`: nothing was refused, neither in this run nor in the one that its pace is from. */
  get learned(): Throttled | null {
    const pace = this.#curve === null ? null : this.#pace();
    if (pace === null && this.#refused === 0) return null;
    return { ratePerSecond: pace === null ? null : Number(pace.toPrecision(3)), refused: this.#refused };
  }

  #pace(): number | null {
    const { maxPerSecond } = this.#options;
    if (this.#curve === null) return maxPerSecond;
    return Math.min(maxPerSecond ?? Number.POSITIVE_INFINITY, paceOf(this.#curve));
  }

  /** Only a pace that requests wait for may rise: else it would be anything after a while. */
  #raise(gapMs: number): void {
    const { maxPerSecond } = this.#options;
    if (this.#curve === null || (maxPerSecond !== null && paceOf(this.#curve) >= maxPerSecond)) return;
    this.#curve.progressMs += gapMs;
  }

  /** Of a request that was sent after the last pause. Where none was let in since, that congestion goes on. */
  #congest(refusal: Refusal, cycle: Cycle): void {
    this.#pauses += 1;
    if (cycle.answered > 0 || this.#congestion === null) {
      const { sentMs } = refusal;
      const pace = this.#waitsForPace ? this.#pace() : null;
      this.#congestion = { cycle, atMs: sentMs, pace, untilMs: sentMs };
      this.#measured.unshift(0);
      this.#measured.length = Math.min(this.#measured.length, MEASUREMENTS);
    }
    const unasked = pauseMs("request", this.#pauses, this.#options.random);
    this.#pause(refusal, Math.max(refusal.retryAfterMs ?? 0, unasked));
    this.#goesAlone = true;
  }

  #pause({ sentMs, nowMs, retryAfterMs }: Refusal, leastMs: number): void {
    const spreadMs = Math.min(MAX_SPREAD_MS, (retryAfterMs ?? 0) * SPREAD);
    const untilMs = nowMs + leastMs + this.#options.random() * spreadMs;
    if (untilMs <= this.#pausedUntilMs) return;
    this.pauseUntil(untilMs);
    this.#cycle = newCycle(untilMs);
    if (this.#congestion === null) return;
    this.#congestion.untilMs = sentMs + Math.max(retryAfterMs ?? 0, MIN_CLOSED_MS);
    this.#slowDown(this.#congestion);
  }

  /**
   * Lowers the pace once for a congestion: a pause that becomes longer, or an answer that comes late, only makes the
   * measurement better.
   */
  #slowDown(congestion: Congestion): void {
    const { cycle, atMs, pace, untilMs } = congestion;
    if (cycle.answered === 0) return;
    const few = this.#measured.length === 1 && cycle.answered < FEW_ANSWERS;
    const measured = Math.max(measure(congestion), few ? 1000 / (untilMs - atMs) : 0);
    this.#measured[0] = measured;
    const futile = this.#futility.judge({ cycle, pace, measured, answered: cycle.answered });
    if (futile !== null) {
      this.#curve = atLimit(futile);
      return;
    }
    const limit = Math.min(Math.max(...this.#measured), pace ?? Number.POSITIVE_INFINITY);
    const least = Math.max(MIN_PER_SECOND, MIN_LEFT * (pace ?? 0)) / BACK_AT;
    const soonestMs = this.#measured.length === 1 ? FIRST_RETURN_MS : MIN_RETURN_MS;
    const lastedMs = untilMs - (pace === null ? atMs : cycle.startMs);
    const returnMs = Math.min(MAX_RETURN_MS, Math.max(soonestMs, lastedMs / 2));
    this.#curve = { limit: Math.max(least, limit), returnMs, progressMs: 0 };
  }
}

function newCycle(startMs: number): Cycle {
  return { startMs, answered: 0, sentMs: [] };
}

function count(cycle: Cycle, sentMs: number): void {
  cycle.answered += 1;
  cycle.sentMs.push(sentMs);
  if (cycle.sentMs.length > 2 * MAX_KEPT) cycle.sentMs = cycle.sentMs.slice(-MAX_KEPT);
}

function atLimit(limit: number): Curve {
  return { limit, returnMs: FIRST_RETURN_MS, progressMs: FIRST_RETURN_MS };
}

function paceOf({ limit, returnMs, progressMs }: Curve): number {
  return limit * (1 + (1 - BACK_AT) * ((progressMs - returnMs) / returnMs) ** 3);
}

/**
 * Answers a second up to the end of the pause, counted from the moment that gives the most of them: before it the run may
 * have had little to ask.
 */
function measure({ cycle, untilMs }: Congestion): number {
  const latestFirst = cycle.sentMs.toSorted((a, b) => b - a);
  return latestFirst.reduce(
    (most, sentMs, index) => Math.max(most, ((index + 1) * 1000) / (untilMs - sentMs)),
    0,
  );
}
