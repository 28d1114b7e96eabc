import type { Clock } from "../clock.ts";
import { count, counted } from "../figures.ts";
import type { Log } from "../log.ts";
import type { Throttle } from "./throttle.ts";

const EVERY_MS = 30_000;

const HELD_BEFORE = "The service held the run before this one back";

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

  constructor({ throttle, clock, log }: ThrottleLogOptions) {
    this.#throttle = throttle;
    this.#clock = clock;
    this.#log = log;
  }

  /** Called when a request was refused, and while requests wait. */
  note(): void {
    const { refusals, slowedTo } = this.#throttle;
    if (refusals === this.#refusalsTold && slowedTo === null && !this.#isPaused()) return;
    if (this.#lastMs === null)
      this.#tell(refusals === 0 ? HELD_BEFORE : "The service refuses further requests for now");
    else if (this.#clock.elapsedMs() - this.#lastMs >= EVERY_MS)
      this.#tell(`The service still holds this run back (${counted(refusals, "request")} refused so far)`);
  }

  #tell(what: string): void {
    const seconds = this.#pauseSeconds();
    const pause = seconds === 0 ? "" : ` after a pause of ${count(seconds)} s`;
    const { learned, refusals } = this.#throttle;
    const rate = learned?.ratePerSecond ?? null;
    const pace = rate === null ? "" : ` at ${rate} requests a second`;
    this.#log.warn(`${what}; going on${pace}${pause}.`, { count: refusals });
    this.#lastMs = this.#clock.elapsedMs();
    this.#refusalsTold = refusals;
  }

  /** Trouble of the service makes pauses too, which are told of where they are made. */
  #isPaused(): boolean {
    return this.#throttle.refusals > 0 && this.#pauseSeconds() > 0;
  }

  #pauseSeconds(): number {
    return Math.max(0, Math.ceil((this.#throttle.pausedUntilMs - this.#clock.elapsedMs()) / 1000));
  }
}
