/**
 * How fast a service may be asked, learned from its refusals. A refusal halves the pace of all requests, but not below
 * what was let in since the refusal before, the pause counted in: that the service allows. Every 100 requests that had to
 * wait for the pace add a tenth, and while none is refused, each time nearly a third more than before. Where as many
 * requests are let in again, though more slowly, the service counts them, and to slow down does not help. Nothing here
 * waits or reads a clock: instants come in and go out, as milliseconds of a clock that never goes back.
 */

/** No pace is slower, so that a run always moves and learns of a higher limit. */
const MIN_PER_SECOND = 0.1;
const RAISED_EVERY = 100;
const FIRST_RAISE = 0.1;
/** A run begins no slower, whatever an earlier one had come to: the service may allow more by now, and says so if not. */
const MIN_TO_BEGIN = 1;
/**
 * A service counts requests, whatever their pace, if it lets in as many as before its last refusal, at least this many,
 * in so many times the time.
 */
const LEAST_COUNTED = 3;
const LONGER = 1.2;
/** The pace is this share of what was let in, so that a request that comes a few milliseconds early is not refused. */
const MARGIN = 0.95;
/** After so long without a request those before it say nothing of what the service allows. */
const IDLE_MS = 10_000;
/** A service that says nothing, or less than this, is taken to let requests in again after so long. */
const MIN_CLOSED_MS = 1000;
/** A request that is sent late, because the machine is busy, lets the next one follow this much sooner at most. */
const MAX_MADE_UP_MS = 20;
/** What comes on top of a pause that the service asks for, so that several clients do not come back together. */
const SPREAD = 0.25;
const MAX_SPREAD_MS = 1000;

/** The bound of the first pause, which doubles with each that follows. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * How long to wait before a service is asked again: anything below a bound that doubles ("full jitter"), so that workers
 * that failed together do not come back together; and never less than it asks for.
 *
 * @param pauses the one that begins counted in
 */
export function pauseMs(pauses: number, retryAfterMs: number | null, random: () => number): number {
  const pause = random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (pauses - 1));
  if (retryAfterMs === null) return pause;
  return Math.max(retryAfterMs, pause) + random() * Math.min(MAX_SPREAD_MS, retryAfterMs * SPREAD);
}

export interface PaceOptions {
  /** Upper bound of the pace, requests a second; `null`: none. */
  readonly maxPerSecond: number | null;
  /** Pace that an earlier run had found; `null`: none. */
  readonly startPerSecond: number | null;
  /** At least 0, below 1. */
  readonly random: () => number;
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

export class Pace {
  readonly #options: PaceOptions;
  /** What refusals have taught; null: nothing. */
  #learned: number | null;
  #nextMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** When requests began to be counted, how many there were, and whether one of them was let in. */
  #sinceMs = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #isAnswered = false;
  /** Requests that had to wait since the pace is what it is, and what they add to it. */
  #waited = 0;
  #raise = FIRST_RAISE;
  #isSlowed = false;
  /** In a row, without an answer between them. */
  #pauses = 0;
  #refused = 0;
  /** Requests that were let in before the pace was lowered last, and in what time. */
  #before = { count: 0, tookMs: 0 };

  constructor(options: PaceOptions) {
    this.#options = options;
    const { startPerSecond } = options;
    this.#learned = startPerSecond && Math.max(MIN_TO_BEGIN, startPerSecond);
  }

  /** When the next request may be sent: they are evenly spaced, and idle time is not made up for. */
  get nextMs(): number {
    return this.#nextMs;
  }

  get refusals(): number {
    return this.#refused;
  }

  /** Requests a second, where the last one had to wait because the service allows no more; else `null`. */
  get slowedTo(): number | null {
    return this.#learned !== null && this.#isSlowed ? this.#perSecond : null;
  }

  /** `null`: nothing was refused, neither in this run nor in the one that its pace is from. */
  get learned(): Throttled | null {
    if (this.#learned === null && this.#refused === 0) return null;
    const rate = this.#learned === null ? null : this.#perSecond;
    return { ratePerSecond: rate && Number(rate.toPrecision(3)), refused: this.#refused };
  }

  /** A request is sent; one that waited had to be told `nextMs` before. */
  sent(nowMs: number, waited: boolean): void {
    if (nowMs - this.#nextMs > IDLE_MS) {
      this.#sinceMs = nowMs;
      this.#sent = 0;
    }
    this.#sent += 1;
    const perSecond = this.#perSecond;
    const gapMs = perSecond === null ? 0 : 1000 / perSecond;
    this.#nextMs = Math.max(this.#nextMs, waited ? nowMs - MAX_MADE_UP_MS : nowMs) + gapMs;
    this.#isSlowed = waited && gapMs > 0;
    if (this.#isSlowed) this.#waited += 1;
    if (this.#waited < RAISED_EVERY || this.#learned === null) return;
    this.#waited = 0;
    this.#learned *= 1 + this.#raise;
    this.#raise *= 1.3;
  }

  /** A request was let in, whatever became of it then. */
  answered(sentMs: number): void {
    this.#isAnswered = true;
    if (sentMs >= this.#pausedUntilMs) this.#pauses = 0;
  }

  /** Begins a pause, or makes it longer. All refusals of requests that were sent before it have the same cause. */
  refused({ sentMs, nowMs, retryAfterMs }: Refusal): void {
    this.#refused += 1;
    const isFirst = sentMs >= this.#pausedUntilMs;
    if (isFirst) this.#pauses += 1;
    else if (retryAfterMs === null) return;
    const untilMs = nowMs + pauseMs(this.#pauses, retryAfterMs, this.#options.random);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    this.#nextMs = Math.max(this.#nextMs, untilMs);
    if (isFirst) this.#slowDown(nowMs + Math.max(MIN_CLOSED_MS, retryAfterMs ?? 0));
  }

  get #perSecond(): number | null {
    const { maxPerSecond } = this.#options;
    if (this.#learned === null || maxPerSecond === null) return this.#learned ?? maxPerSecond;
    return Math.min(maxPerSecond, this.#learned);
  }

  /** Where nothing was answered since the refusal before, the service says nothing about the pace. */
  #slowDown(untilMs: number): void {
    if (!this.#isAnswered) return;
    // Of those under way some may be refused too: what is too high now is measured again soon, what is too low rises slowly.
    const count = Math.max(1, this.#sent - 1);
    const tookMs = untilMs - this.#sinceMs;
    const letIn = (MARGIN * count * 1000) / tookMs;
    const isCounted =
      count >= LEAST_COUNTED && count === this.#before.count && tookMs > LONGER * this.#before.tookMs;
    const pace = this.#perSecond ?? Number.POSITIVE_INFINITY;
    const lowered = pace === Number.POSITIVE_INFINITY ? letIn : Math.max(pace / 2, Math.min(pace, letIn));
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
