import type { Clock } from "../../common/clock.ts";
import { counted, timeOfDay } from "../../common/figures.ts";
import type { Log } from "../../common/log.ts";
import type { Throttle } from "./throttle.ts";

const EVERY_MS = 30_000;

interface ThrottleLogOptions {
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly log: Log;
}

/** One line when a service begins to hold a run back, and one every half minute for as long as it does. */
export class ThrottleLog {
  readonly #options: ThrottleLogOptions;
  #lastMs: number | null = null;
  #refusalsTold = 0;
  /** By the status of the last refusal: a 503 says nothing of how much was asked. */
  #isAway = false;

  constructor(options: ThrottleLogOptions) {
    this.#options = options;
  }

  /** Called when a request was refused. */
  refused(status: number): void {
    this.#isAway = status === 503;
    this.note();
  }

  /** Called while requests wait. */
  note(): void {
    const { throttle, clock, log } = this.#options;
    const { refusals, slowedTo, pausedUntilMs } = throttle;
    const nowMs = clock.elapsedMs();
    const pauseMs = Math.max(0, pausedUntilMs - nowMs);
    // Trouble of the service makes pauses too, which are told of where they are made.
    const isPaused = refusals > 0 && pauseMs > 0;
    if (refusals === this.#refusalsTold && slowedTo === null && !isPaused) return;
    const begins = refusals > 0 && this.#refusalsTold === 0;
    if (!begins && this.#lastMs !== null && nowMs - this.#lastMs < EVERY_MS) return;
    const until =
      pauseMs === 0 ? null : timeOfDay(clock.now() + Math.ceil(pauseMs / 1000) * 1000, clock.now());
    const sentence = begins ? this.#begins(until) : this.#lasts(until);
    // To be held to the rate of the run before is no trouble.
    if (refusals === 0) log.info(sentence);
    else log.warn(sentence, { count: refusals });
    this.#lastMs = nowMs;
    this.#refusalsTold = refusals;
  }

  /** The rate is not known before the other requests under way are answered. */
  #begins(until: string | null): string {
    const why = this.#isAway
      ? "The service is not available for a while, and says for how long"
      : "The service refuses requests because there are too many";
    const pause = until === null ? "" : `pausing until ${until}, then `;
    return `${why}: ${pause}going on more slowly.`;
  }

  /** `until`: time of day at which the pause ends; null: there is none. */
  #lasts(until: string | null): string {
    const { refusals, learned } = this.#options.throttle;
    const rate = learned?.ratePerSecond ?? null;
    // That run may have had no refusal either: the rate goes from night to night.
    if (this.#lastMs === null)
      return `The run before was held back: this one begins with ${rate} requests a second.`;
    const soFar = refusals === 0 ? "." : `; ${counted(refusals, "request")} refused so far.`;
    if (until !== null) {
      const why = this.#isAway ? "is still not available" : "still allows no more requests";
      return `The service ${why}: pausing until ${until}${soFar}`;
    }
    return `${rate === null ? "Going on with all requests" : `Still held to ${rate} requests a second`}${soFar}`;
  }
}
