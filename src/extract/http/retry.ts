/** One loop that sends all requests of a run when the service allows it, and again after failures. */
import PQueue from "p-queue";
import { OutageWatch, sleepUntil } from "./outage.ts";
import { Pace, pauseMs } from "./pace.ts";
import { failureKind, type RetryConfig } from "./retry-rules.ts";
import { SourceError } from "./source-error.ts";

export interface RepeatableRequest<T> {
  /** Sends the request once. `release` gives its connection back: the response is complete, and only read from then on. */
  readonly attempt: (release: () => void) => Promise<T>;
  /** Sends another small request, to find out whether the service answers within so many milliseconds. */
  readonly check: (withinMs: number) => Promise<unknown>;
  /** Retried only after throttling and outages. False unless given. */
  readonly isOnce?: boolean;
}

/** Retries of a run, as a share of its requests so far, ... */
const RETRIES_PER_REQUEST = 0.2;
/** ... or as many as it may use at its beginning. */
const FIRST_RETRIES = 20;

export class RetryLoop {
  readonly #config: RetryConfig;
  readonly pace: Pace;
  readonly outages: OutageWatch;
  readonly #connections: PQueue;
  /** One request waits for its turn at a time, so that each turn depends on all that is known by then. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #requests = 0;
  #retries = 0;

  constructor(config: RetryConfig) {
    this.#config = config;
    this.pace = new Pace(config);
    this.outages = new OutageWatch(config);
    this.#connections = new PQueue({ concurrency: config.connections });
  }

  /**
   * Makes attempts until one succeeds. `attempt` is repeated as a whole: it includes decoding and checking the body.
   *
   * @throws what the last attempt threw, with the reason to give up if more attempts could have helped
   */
  async run<T>(request: RepeatableRequest<T>, signal: AbortSignal): Promise<T> {
    const { attempt, check, isOnce = false } = request;
    this.#requests += 1;
    let failure: SourceError | undefined;
    for (let failed = 0, notBeforeMs = 0; ; ) {
      await sleepUntil(notBeforeMs, this.#config.clock, signal);
      using connection = await this.#connection(signal);
      const sentMs = await this.#turns.add(() => this.#turn(failure, signal, false), { signal });
      try {
        const value = await attempt(() => {
          this.pace.answered();
          connection[Symbol.dispose]();
        });
        this.outages.answered();
        return value;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof SourceError)) throw error;
        failure = error;
      }
      if (this.#isThrottled(failure, sentMs)) continue;
      const outageCheck = (withinMs: number) => this.#check(() => check(withinMs), signal);
      if (await this.outages.wasOut({ failure, sentMs }, outageCheck, signal)) continue;
      if (isOnce) throw failure;
      failed += 1;
      notBeforeMs = this.#nextAttemptMs(failure, failed);
    }
  }

  /** Takes a connection, in the order of the calls. Disposing gives it back. */
  #connection(signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      const untilReleased = () => new Promise<void>((release) => resolve({ [Symbol.dispose]: release }));
      this.#connections.add(untilReleased, { signal }).catch(reject);
    });
  }

  /** Waits until a request may be sent, and returns that moment. `failure`: of its last attempt. */
  async #turn(failure: SourceError | undefined, signal: AbortSignal, isCheck: boolean): Promise<number> {
    const { clock } = this.#config;
    for (let waited = false; ; waited = true) {
      await this.outages.whileOut(signal, isCheck);
      signal.throwIfAborted();
      const nowMs = clock.elapsedMs();
      const { nextMs } = this.pace;
      this.#assertInTime(Math.max(nowMs, nextMs), failure);
      if (nextMs <= nowMs) {
        this.pace.sent(nowMs, waited);
        return nowMs;
      }
      await sleepUntil(nextMs, clock, signal);
    }
  }

  #assertInTime(untilMs: number, failure: SourceError | undefined): void {
    const { deadline } = this.#config;
    if (deadline === null || untilMs <= deadline.atMs) return;
    const { minutes } = deadline;
    if (failure !== undefined)
      throw finalFailure(failure, `The next retry would be after \`deadlineMinutes\` (${minutes}).`);
    const sentence = `The run took longer than \`deadlineMinutes\` (${minutes}) and was stopped; run again to resume it, or raise \`deadlineMinutes\`.`;
    throw new SourceError("source.timeout", sentence, { attemptsAtMost: 1 });
  }

  /** Slows all requests down if the service asks for fewer. Returns whether it does. */
  #isThrottled(failure: SourceError, sentMs: number): boolean {
    const { clock, log } = this.#config;
    if (failure.status === null) return false;
    if (failureKind(failure) !== "throttling") {
      this.pace.answered();
      return false;
    }
    if (this.pace.refusals === 0) log.warn(`${failure.message} All requests slow down.`);
    const retryAfterMs = failure.retryAfterMs || null;
    this.pace.refused(sentMs, clock.elapsedMs(), retryAfterMs);
    this.#assertInTime(this.pace.nextMs, failure);
    return true;
  }

  /** When a request may be retried after so many failed attempts. Throws if it may not. */
  #nextAttemptMs(failure: SourceError, failed: number): number {
    const { clock, random, log } = this.#config;
    this.#takeRetry(failure, failed);
    const { code, status, retryAfterMs } = failure;
    const milliseconds = pauseMs(failed, retryAfterMs, random);
    const untilMs = clock.elapsedMs() + milliseconds;
    this.#assertInTime(untilMs, failure);
    log.warn(`${failure.message} Retrying.`, {
      code,
      ...(status === null ? {} : { status }),
      attempt: failed + 1,
      milliseconds: Math.round(milliseconds),
    });
    return untilMs;
  }

  /** Uses one of the run's retries. */
  #takeRetry(failure: SourceError, failed: number): void {
    if (!failure.retry || !this.#config.retries) throw failure;
    if (failed >= failure.attemptsAtMost)
      throw failed === 1 ? failure : finalFailure(failure, `Gave up after ${failed} attempts.`);
    if (this.#retries >= Math.max(FIRST_RETRIES, Math.floor(this.#requests * RETRIES_PER_REQUEST)))
      throw finalFailure(failure, `${this.#retries} retries used; giving up.`);
    this.#retries += 1;
  }

  async #check(send: () => Promise<unknown>, signal: AbortSignal): Promise<SourceError | null> {
    const sentMs = await this.#turn(undefined, signal, true);
    try {
      await send();
      this.pace.answered();
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceError)) throw error;
      this.#isThrottled(error, sentMs);
      return failureKind(error) === "outage" ? error : null;
    }
  }
}

/** The failure with the reason not to retry it. */
function finalFailure(failure: SourceError, why: string): SourceError {
  const { code, message, status, retryAfterMs } = failure;
  return new SourceError(code, `${message} ${why}`, {
    status,
    retryAfterMs,
    cause: failure,
    attemptsAtMost: 1,
  });
}
