import { addAbortListener } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

/** Time as an argument, so that a test can hold it. */
export interface Clock {
  /** Milliseconds since 1970 UTC. May jump when somebody sets the clock. */
  now(): number;
  /** Milliseconds since any fixed moment. Never goes back: for durations and deadlines. */
  elapsedMs(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    try {
      await delay(milliseconds, undefined, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  },
};

/** The present moment, and never one before the start of what ends now: somebody may have set the clock back. */
export function endMs(startedMs: number, clock: Clock): number {
  return Math.max(startedMs, clock.now());
}

/** What comes of the work; throws the reason of the signal where the work has not ended so many milliseconds after it. */
export async function withGrace<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  graceMs: number,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  using _ending = addAbortListener(signal, () => {
    timer = setTimeout(() => late.reject(signal.reason), graceMs);
  });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
