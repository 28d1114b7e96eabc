import type { Clock } from "../clock.ts";
import type { Retry } from "../extract/retry.ts";

/** Resolves when the next attempt may begin; rejects with the signal's reason. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/** Lets one attempt begin every `1 / perSecond` seconds, in the order of asking, and never makes up for idle time. */
export function createPace(perSecond: number, clock: Clock): Pace {
  const intervalMs = 1000 / perSecond;
  let freeMs = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const nowMs = clock.elapsedMs();
    const startMs = Math.max(nowMs, freeMs);
    freeMs = startMs + intervalMs;
    if (startMs > nowMs) await clock.sleep(startMs - nowMs, signal);
  };
}

/** A retry policy whose attempts keep to a pace: first ones and repeated ones, of pages, items and lookups alike. */
export function paced(retry: Retry, pace: Pace): Retry {
  return {
    run: (attempt, signal) =>
      retry.run(async (answered) => {
        await pace(signal);
        return attempt(answered);
      }, signal),
    retries: retry.retries,
  };
}
