import type { Clock } from "../clock.ts";
import type { Pace } from "../extract/retry.ts";

/**
 * Lets one attempt begin every `1 / perSecond` seconds, in the order of asking, and never makes up for idle time: first
 * ones and repeated ones, of pages, items and lookups alike.
 */
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
