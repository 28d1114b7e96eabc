/** How long to wait before a service is asked again. */

/** Bounds of the first pause and of all: the bound doubles with each pause that follows. */
const BOUNDS = {
  /** After a request that failed (a 503, an answer that did not come), and after refusals (429). */
  request: { firstMs: 500, mostMs: 60_000 },
  /** Between two checks whether an outage is over. */
  outage: { firstMs: 1000, mostMs: 30_000 },
};

/** Spread over which workers come back after a pause that the service asked for. */
const SPREAD_MS = 1000;

/** Anything up to the bound ("full jitter"), so that workers that failed together do not come back together. */
export function pauseMs(after: keyof typeof BOUNDS, pauses: number, random: () => number): number {
  const { firstMs, mostMs } = BOUNDS[after];
  return random() * Math.min(mostMs, firstMs * 2 ** (pauses - 1));
}

/** The same for a request of which so many attempts failed: what the service asks for is a floor, the spread lies above it. */
export function retryPauseMs(failed: number, retryAfterMs: number | null, random: () => number): number {
  const pause = pauseMs("request", failed, random);
  return retryAfterMs === null ? pause : Math.max(retryAfterMs, pause) + random() * SPREAD_MS;
}
