import { HttpError } from "./http-error.ts";

/**
 * Counts the requests of each token: it has a bucket of one second's requests, which fills as time passes. Throws a 429
 * for one too many, which says in how many whole seconds to come again. `now`: milliseconds, as `Date.now` gives them.
 */
export function createRateLimit(perSecond: number, now: () => number): (token: string) => void {
  const capacity = Math.max(1, perSecond);
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (token) => {
    const nowMs = now();
    const bucket = buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    bucket.tokens = Math.min(capacity, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    buckets.set(token, bucket);
    if (bucket.tokens < 1) {
      const seconds = String(Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)));
      throw new HttpError(
        429,
        `Too many requests: this service answers ${perSecond} a second for each token. Ask again in ${seconds} s.`,
        { "retry-after": seconds },
      );
    }
    bucket.tokens -= 1;
  };
}
