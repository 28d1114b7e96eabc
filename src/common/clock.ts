/** Time as an argument, so that tests can control it. */
import { addAbortListener } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970 UTC; jumps when the clock is set. */
  now(): number;
  /** Milliseconds since a fixed moment; never goes back. For durations and deadlines. */
  elapsedMs(): number;
  /** Waits; rejects with the reason of the signal as soon as it is aborted. */
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

/** Milliseconds since 1970 of now, but not before the start: the clock may have been set back. */
export function endMs(startedMs: number, clock: Clock): number {
  return Math.max(startedMs, clock.now());
}

/** Waits for work. Throws the reason of the signal if the work goes on `graceMs` after it was aborted. */
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
