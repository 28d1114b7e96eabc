import type { Clock } from "../../common/clock.ts";
import { count, counted } from "../../common/figures.ts";
import type { Log } from "../../common/log.ts";
import type { Throttle } from "./throttle.ts";

const EVERY_MS = 30_000;

export interface ThrottleLogOptions {
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly log: Log;
}

/** One line when a service begins to hold a run back, and one every half minute for as long as it does. */
export class ThrottleLog {
  readonly #throttle: Throttle;
  readonly #clock: Clock;
  readonly #log: Log;
  #lastMs: number | null = null;
  #refusalsTold = 0;
  /** Of the last refusal. */
  #status: number | null = null;

  constructor({ throttle, clock, log }: ThrottleLogOptions) {
    this.#throttle = throttle;
    this.#clock = clock;
    this.#log = log;
  }

  /** Called when a request was refused. */
  refused(status: number): void {
    this.#status = status;
    this.note();
  }

  /** Called while requests wait. */
  note(): void {
    const { refusals, slowedTo } = this.#throttle;
    if (refusals === this.#refusalsTold && slowedTo === null && !this.#isPaused()) return;
    if (refusals > 0 && this.#refusalsTold === 0) this.#tell(this.#begins());
    else if (this.#lastMs === null) this.#tell(this.#heldBefore());
    else if (this.#clock.elapsedMs() - this.#lastMs >= EVERY_MS) this.#tell(this.#lasts());
  }

  /** To be held to the rate of the run before is no trouble. */
  #tell(sentence: string): void {
    const { refusals } = this.#throttle;
    if (refusals === 0) this.#log.info(sentence);
    else this.#log.warn(sentence, { count: refusals });
    this.#lastMs = this.#clock.elapsedMs();
    this.#refusalsTold = refusals;
  }

  /** That run may have had no refusal either: the rate goes from night to night. */
  #heldBefore(): string {
    return `The run before was held back: this one begins with ${this.#perSecond} requests a second.`;
  }

  /** The rate is not known before the other requests under way are answered. */
  #begins(): string {
    const why = this.#isAway()
      ? "The service is not available for a while, and says for how long"
      : "The service refuses requests because there are too many";
    return `${why}: pausing ${count(this.#pauseSeconds())} s, then going on more slowly.`;
  }

  #lasts(): string {
    const { refusals } = this.#throttle;
    if (refusals === 0) return `${this.#state()}.`;
    return `${this.#state()}; ${counted(refusals, "request")} refused so far.`;
  }

  #state(): string {
    const seconds = this.#pauseSeconds();
    if (seconds === 0) return this.#goesOn();
    const why = this.#isAway()
      ? "The service is still not available"
      : "The service still allows no more requests";
    return `${why}: pausing ${count(seconds)} s more`;
  }

  #goesOn(): string {
    const rate = this.#perSecond;
    return rate === null ? "Going on with all requests" : `Still held to ${rate} requests a second`;
  }

  /** A 503 says nothing of how much was asked. */
  #isAway(): boolean {
    return this.#status === 503;
  }

  get #perSecond(): number | null {
    return this.#throttle.learned?.ratePerSecond ?? null;
  }

  /** Trouble of the service makes pauses too, which are told of where they are made. */
  #isPaused(): boolean {
    return this.#throttle.refusals > 0 && this.#pauseSeconds() > 0;
  }

  #pauseSeconds(): number {
    return Math.max(0, Math.ceil((this.#throttle.pausedUntilMs - this.#clock.elapsedMs()) / 1000));
  }
}
