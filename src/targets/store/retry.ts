import { systemClock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";

/** Sleeps so many milliseconds; rejects with the signal's reason once that is aborted. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;

export const sleepWithJitter: Sleep = (milliseconds, signal) =>
  systemClock.sleep(milliseconds * Math.random(), signal);

/** Tries again, half a minute in all, what throws `target.unavailable`. An aborted signal ends it with its reason. */
export async function retried<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal,
  sleep: Sleep,
): Promise<Result> {
  for (let failures = 0; ; failures++) {
    try {
      signal.throwIfAborted();
      return await attempt();
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const isWorthIt = thrown instanceof WarehouseError && thrown.retry;
      if (!isWorthIt || failures + 1 === MAX_ATTEMPTS) throw thrown;
    }
    await sleep(Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS), signal);
  }
}
