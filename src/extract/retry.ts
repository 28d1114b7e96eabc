import PQueue from "p-queue";
import type { Clock } from "../clock.ts";
import { WarehouseError } from "../errors.ts";
import type { Log } from "../log.ts";
import { ATTEMPTS_AT_MOST, SourceError } from "./source-error.ts";

/**
 * Makes one request, with a connection that is its own until it calls `answered`, or ends: what is done with an answer
 * that has come whole holds up no other request.
 */
export type Attempt<T> = (answered: () => void) => Promise<T>;

/**
 * When to ask, and when to ask again: whole requests only, later each time, never before the service said so, and never
 * forever. One policy serves all workers of a run, so that a service that asks for fewer requests gets fewer from all of
 * them.
 */
export interface Retry {
  /**
   * Makes attempts until one succeeds. What `attempt` covers is asked for again as a whole: let it decode and check
   * the body too where that is to count.
   *
   * @throws what the last attempt threw; where more attempts could have helped, with the reason to give up
   */
  run<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T>;
  /** Attempts beyond the first of each request, so far. */
  retries(): number;
}

export interface RetryLimits {
  /** Longest pause before the second attempt; it doubles with each that follows. */
  readonly firstPauseMs: number;
  readonly pauseAtMostMs: number;
  /** A service that asks for a longer pause is left alone: the run ends. */
  readonly retryAfterAtMostMs: number;
  /** Retries of all requests together: this many, */
  readonly retriesAtMost: number;
  /** and this share of the requests made so far, */
  readonly retriesPerRequest: number;
  /** but so many are granted to a run that has only begun. */
  readonly retriesToBegin: number;
}

export const RETRY_LIMITS: RetryLimits = {
  firstPauseMs: 500,
  pauseAtMostMs: 60_000,
  retryAfterAtMostMs: 15 * 60_000,
  retriesAtMost: 200,
  retriesPerRequest: 0.2,
  retriesToBegin: 20,
};

/** Spread over which workers come back after a pause that the service asked for. */
const SPREAD_MS = 1000;

/** Resolves when it is an attempt's turn; rejects with the signal's reason. */
export type Pace = (signal: AbortSignal) => Promise<void>;

export interface RetryOptions {
  /** Requests at the same time. */
  readonly connections: number;
  /** `null`: attempts are sent at once. */
  readonly pace: Pace | null;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly limits: RetryLimits;
  /** No attempt begins later. `null`: there is no end. */
  readonly deadline: Deadline | null;
  readonly log: Log;
}

/** When a run is over, whatever it still has to ask. */
export interface Deadline {
  /** On the clock's `elapsedMs`, which goes on while the machine is busy with something else. */
  readonly atMs: number;
  /** The time that was given, for people. */
  readonly minutes: number;
}

export function createRetry(options: RetryOptions): Retry {
  const { clock, random, limits, log } = options;
  const budget = createBudget(limits);
  const gate = createGate(clock);
  const takeConnection = createConnections(options.connections);

  function isOver(pause: number): boolean {
    return options.deadline !== null && clock.elapsedMs() + pause > options.deadline.atMs;
  }

  function pauseAfter(failure: WarehouseError, failed: number): number {
    if (failed >= attemptsAtMost(failure))
      throw failed === 1 ? failure : gaveUp(failure, `Asked ${failed} times.`);
    const askedMs = failure instanceof SourceError ? failure.retryAfterMs : null;
    if (askedMs !== null && askedMs > limits.retryAfterAtMostMs) {
      const most = Math.round(limits.retryAfterAtMostMs / 60_000);
      throw gaveUp(failure, `That is longer than a run waits (${most} minutes).`);
    }
    const pause = pauseMs(failed, askedMs, random, limits);
    if (isOver(pause)) throw gaveUp(failure, "The time of this run is over before it may be asked again.");
    if (!budget.take()) throw gaveUp(failure, `This run has asked again ${budget.taken()} times already.`);
    return pause;
  }

  /** Who waited for a connection or its turn heeds what the service asked for meanwhile, and waits for another turn. */
  async function mayBegin(signal: AbortSignal): Promise<void> {
    do {
      await gate.pass(signal);
      await options.pace?.(signal);
    } while (gate.isClosed());
    if (options.deadline !== null && isOver(0)) throw overdue(options.deadline);
  }

  async function run<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
    budget.request();
    for (let failed = 1; ; failed++) {
      const giveBack = await takeConnection(signal);
      try {
        await mayBegin(signal);
        return await attempt(giveBack);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof WarehouseError) || !error.retry) throw error;
        const milliseconds = pauseAfter(error, failed);
        const status = error instanceof SourceError ? error.status : null;
        log.warn(`${error.message} Asking again.`, {
          code: error.code,
          ...(status === null ? {} : { status }),
          attempt: failed + 1,
          milliseconds: Math.round(milliseconds),
        });
        if (status === 429 || status === 503) gate.close(milliseconds);
        giveBack();
        await clock.sleep(milliseconds, signal);
      } finally {
        giveBack();
      }
    }
  }

  return { run, retries: budget.taken };
}

/** Resolves, in the order of asking, with what gives the connection back. */
function createConnections(count: number): (signal: AbortSignal) => Promise<() => void> {
  const queue = new PQueue({ concurrency: count });
  return (signal) =>
    new Promise((taken, refused) => {
      const held = () => new Promise<void>((given) => taken(given));
      queue.add(held, { signal }).catch(refused);
    });
}

/**
 * How long to wait after so many failures: anything up to a bound that doubles ("full jitter"), so that workers that
 * failed together do not come back together. What the service asks for is a floor, and the spread lies above it.
 *
 * @param failed attempts that have failed, from 1
 */
export function pauseMs(
  failed: number,
  retryAfterMs: number | null,
  random: () => number,
  limits: RetryLimits,
): number {
  const jitter = random() * Math.min(limits.pauseAtMostMs, limits.firstPauseMs * 2 ** (failed - 1));
  return retryAfterMs === null ? jitter : Math.max(retryAfterMs, jitter) + random() * SPREAD_MS;
}

/** An answer that is cut may come whole the next time; one that is damaged again will stay so. */
function attemptsAtMost(failure: WarehouseError): number {
  if (failure instanceof SourceError) return failure.attemptsAtMost;
  return failure.code === "source.damaged" ? 2 : ATTEMPTS_AT_MOST;
}

function overdue({ minutes }: Deadline): SourceError {
  const sentence =
    `The run was ended because it took longer than ${minutes} minutes; run it again, it goes on from there, or set ` +
    "a longer `deadlineMinutes`.";
  return new SourceError("source.timeout", sentence, { attemptsAtMost: 1 });
}

function gaveUp(failure: WarehouseError, why: string): SourceError {
  const known = failure instanceof SourceError ? { retryAfterMs: failure.retryAfterMs } : {};
  const status = failure instanceof SourceError && failure.status !== null ? { status: failure.status } : {};
  return new SourceError(failure.code, `${failure.message} ${why}`, {
    ...known,
    ...status,
    cause: failure,
    attemptsAtMost: 1,
  });
}

interface Budget {
  request(): void;
  /** One retry, if there is one left. */
  take(): boolean;
  taken(): number;
}

function createBudget(limits: RetryLimits): Budget {
  let requests = 0;
  let taken = 0;
  return {
    request: () => {
      requests++;
    },
    take: () => {
      const share = Math.max(limits.retriesToBegin, Math.floor(requests * limits.retriesPerRequest));
      if (taken >= Math.min(limits.retriesAtMost, share)) return false;
      taken++;
      return true;
    },
    taken: () => taken,
  };
}

interface Gate {
  /** Nobody passes for so long. */
  close(milliseconds: number): void;
  isClosed(): boolean;
  pass(signal: AbortSignal): Promise<void>;
}

function createGate(clock: Clock): Gate {
  let opensMs = Number.NEGATIVE_INFINITY;
  return {
    close: (milliseconds) => {
      opensMs = Math.max(opensMs, clock.elapsedMs() + milliseconds);
    },
    isClosed: () => clock.elapsedMs() < opensMs,
    pass: async (signal) => {
      signal.throwIfAborted();
      for (let left = opensMs - clock.elapsedMs(); left > 0; left = opensMs - clock.elapsedMs()) {
        await clock.sleep(left, signal);
      }
    },
  };
}
