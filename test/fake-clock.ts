import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../src/common/clock.ts";

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Time that passes only where a test lets it. */
export class FakeClock implements Clock {
  readonly #startedMs = Date.UTC(2026, 10, 20, 2);
  #elapsedMs = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#startedMs + this.#elapsedMs;
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const sleeper = { atMs: this.#elapsedMs + milliseconds, wake: resolve };
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** Lets time pass from one sleeper to the next until nobody sleeps any more. */
  async run(): Promise<void> {
    for (await turn(); this.#sleepers.length > 0; await turn()) {
      this.#sleepers.sort((a, b) => a.atMs - b.atMs);
      const next = this.#sleepers.shift();
      if (next === undefined) return;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.wake();
    }
  }
}
