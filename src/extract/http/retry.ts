import PQueue from "p-queue";
import type { Clock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import { isOutage, isThrottling, type Outage } from "./outage.ts";
import { retryPauseMs } from "./pauses.ts";
import { MAX_ATTEMPTS, SourceError } from "./source-error.ts";
import type { Throttle } from "./throttle.ts";
import { ThrottleLog } from "./throttle-log.ts";

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
}

/**
 * When to ask, and when to ask again: whole requests only, later each time, never before the service said so, and never
 * forever. One policy serves all workers of a run, so that a service that asks for fewer requests gets fewer from all of
 * them. What fails while others are answered has a few attempts; an outage is waited for by all, and costs none; being asked
 * to slow down is no failure, and only the deadline ends it.
 */
export interface Retry {
  /**
   * Makes attempts until one succeeds. What `attempt` covers is asked for again as a whole: let it decode and check
   * the body too where that is to count.
   *
   * @throws what the last attempt threw; where more attempts could have helped, with the reason to give up
   */
  run<T>(attempts: Attempts<T>, signal: AbortSignal): Promise<T>;
}

export const RETRY_LIMITS = {
  /** Retries of all requests together: this many (0: what fails is not asked for again), */
  retriesAtMost: 200,
  /** and this share of the requests made so far, */
  retriesPerRequest: 0.2,
  /** but so many are granted to a run that has only begun. */
  retriesToBegin: 20,
};
export type RetryLimits = Readonly<typeof RETRY_LIMITS>;

/** Longest sleep in one go: the log has a line to write meanwhile, and a timer that counts more than 24 days fires at once. */
const MAX_SLEEP_MS = 30_000;

const NO_ANSWER = { status: null, retryAfterMs: null };

export interface RetryOptions {
  /** Requests at the same time. */
  readonly connections: number;
  readonly throttle: Throttle;
  readonly outage: Outage;
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
  return new RunRetry(options);
}

class RunRetry implements Retry {
  readonly #options: RetryOptions;
  #requests = 0;
  /** Attempts beyond the first of each request. */
  #retries = 0;
  readonly #takeConnection: (signal: AbortSignal) => Promise<() => void>;
  readonly #turns = new PQueue({ concurrency: 1 });
  readonly #throttleLog: ThrottleLog;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#takeConnection = createConnections(options.connections);
    this.#throttleLog = new ThrottleLog(options);
  }

  async run<T>({ attempt, check }: Attempts<T>, signal: AbortSignal): Promise<T> {
    const { outage, throttle } = this.#options;
    this.#requests += 1;
    let failed = 0;
    let failure: WarehouseError | undefined;
    for (;;) {
      await outage.over(signal);
      const giveBack = await this.#takeConnection(signal);
      let sentMs: number | null = null;
      try {
        signal.throwIfAborted();
        // One waits for its turn at a time, so that a turn follows from what is known by then.
        const begunMs = await this.#turns.add(() => this.#takeTurn(failure, signal, false), { signal });
        if (begunMs === null) continue;
        sentMs = begunMs;
        const value = await attempt(() => {
          throttle.answered(begunMs);
          giveBack();
        });
        outage.answered();
        return value;
      } catch (error) {
        signal.throwIfAborted();
        if (sentMs === null || !(error instanceof WarehouseError)) throw error;
        this.#learn(error, sentMs);
        failure = error;
      } finally {
        giveBack();
      }
      if (isThrottling(failure) || (await this.#isOver(failure, check, signal))) continue;
      if (!failure.retry) throw failure;
      failed += 1;
      await this.#pauseFor(failure, failed, signal);
    }
  }

  /** `failure`: of the attempt before; undefined: this is the first one. */
  #assertInTime(untilMs: number, failure: WarehouseError | undefined): void {
    const { deadline } = this.#options;
    if (deadline === null || untilMs <= deadline.atMs) return;
    if (failure === undefined) throw overdue(deadline);
    throw gaveUp(failure, `The next retry would be after \`deadlineMinutes\` (${deadline.minutes}).`);
  }

  async #sleepUntil(untilMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let left = untilMs - clock.elapsedMs(); left > 0; left = untilMs - clock.elapsedMs()) {
      await clock.sleep(Math.min(left, MAX_SLEEP_MS), signal);
      this.#throttleLog.note();
    }
  }

  /** Waits for a turn, and for another one where a pause is begun meanwhile. Returns the moment; null: an outage began. */
  async #takeTurn(
    before: WarehouseError | undefined,
    signal: AbortSignal,
    isCheck: boolean,
  ): Promise<number | null> {
    const { clock, outage, throttle } = this.#options;
    for (;;) {
      const turn = throttle.turn(clock.elapsedMs());
      this.#assertInTime(turn.atMs, before);
      await this.#sleepUntil(turn.atMs, signal);
      const nowMs = clock.elapsedMs();
      this.#assertInTime(nowMs, before);
      if (outage.isOut && !isCheck) return null;
      if (throttle.begin(turn, nowMs)) return nowMs;
    }
  }

  /** A refusal spends no attempt and no retry: all requests wait, and go on more slowly. */
  #learn(failure: WarehouseError, sentMs: number): void {
    const { clock, throttle } = this.#options;
    if (!(failure instanceof SourceError) || failure.status === null) return;
    if (!isThrottling(failure)) {
      throttle.answered(sentMs);
      return;
    }
    const nowMs = clock.elapsedMs();
    throttle.refused({ sentMs, nowMs, retryAfterMs: failure.retryAfterMs || null });
    this.#assertInTime(throttle.pausedUntilMs, failure);
    this.#throttleLog.refused(failure.status);
  }

  async #pauseFor(failure: WarehouseError, failed: number, signal: AbortSignal): Promise<void> {
    const { clock, random, limits, log, throttle } = this.#options;
    if (failed >= attemptsAtMost(failure))
      throw failed === 1 ? failure : gaveUp(failure, `Asked ${failed} times.`);
    if (limits.retriesAtMost === 0) throw failure;
    const { status, retryAfterMs } = failure instanceof SourceError ? failure : NO_ANSWER;
    const milliseconds = retryPauseMs(failed, retryAfterMs, random);
    this.#assertInTime(clock.elapsedMs() + milliseconds, failure);
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
    const untilMs = clock.elapsedMs() + milliseconds;
    if (status === 503) throttle.pauseUntil(untilMs);
    await this.#sleepUntil(untilMs, signal);
  }

  /** How the service failed when it was asked for something else; null: it answers. */
  async #checked(ask: () => Promise<unknown>, signal: AbortSignal): Promise<SourceError | null> {
    const giveBack = await this.#takeConnection(signal);
    try {
      const sentMs = await this.#turns.add(() => this.#takeTurn(undefined, signal, true), { signal });
      if (sentMs === null) return null;
      try {
        await ask();
        this.#options.throttle.answered(sentMs);
        return null;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof WarehouseError)) throw error;
        this.#learn(error, sentMs);
        return isOutage(error) ? error : null;
      }
    } finally {
      giveBack();
    }
  }

  async #isOver(
    failure: WarehouseError,
    check: Attempts<unknown>["check"],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!isOutage(failure)) return false;
    const { outage, deadline } = this.#options;
    const ask = (withinMs: number) => this.#checked(() => check(withinMs), signal);
    return await outage.outlasts({ failure, check: ask, signal, deadlineMs: deadline?.atMs ?? null });
  }
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

/** An answer that is cut may come whole the next time; one that is damaged again will stay so. */
function attemptsAtMost(failure: WarehouseError): number {
  if (failure instanceof SourceError) return failure.attemptsAtMost;
  return failure.code === "source.damaged" ? 2 : MAX_ATTEMPTS;
}

function overdue({ minutes }: Deadline): SourceError {
  const sentence =
    `The run was ended because it took longer than ${minutes} minutes; run it again, it goes on from there, or set ` +
    "a longer `deadlineMinutes`.";
  return new SourceError("source.timeout", sentence, { attemptsAtMost: 1 });
}

function gaveUp(failure: WarehouseError, why: string): SourceError {
  const { status, retryAfterMs } = failure instanceof SourceError ? failure : NO_ANSWER;
  const facts = { status, retryAfterMs, cause: failure, attemptsAtMost: 1 };
  return new SourceError(failure.code, `${failure.message} ${why}`, facts);
}
