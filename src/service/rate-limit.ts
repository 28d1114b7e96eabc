import { HttpError } from "./http-error.ts";

const WINDOW_MS = { second: 1000, minute: 60_000, hour: 3_600_000 } as const;

const EACH = { second: "a second", minute: "a minute", hour: "an hour" } as const;

export type RatePeriod = keyof typeof WINDOW_MS;

/** So many requests a second, minute or hour for each token. */
export interface RateLimitSpec {
  /** A minute and an hour take whole numbers. */
  readonly requests: number;
  readonly per: RatePeriod;
}

/** Counts a request of a token. Throws a 429 for one too many, which says in how many whole seconds to come again. */
export type RateLimit = (token: string) => void;

/** `now`: milliseconds, as `Date.now` gives them. */
export function createRateLimit(spec: RateLimitSpec, now: () => number): RateLimit {
  return spec.per === "second" ? tokenBuckets(spec.requests, now) : windows(spec, now);
}

/** Each token has a bucket of one second's requests that fills as time passes. */
function tokenBuckets(perSecond: number, now: () => number): RateLimit {
  const capacity = Math.max(1, perSecond);
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (token) => {
    const nowMs = now();
    const bucket = buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    const refilled = bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond;
    bucket.tokens = Math.min(capacity, refilled);
    bucket.atMs = nowMs;
    buckets.set(token, bucket);
    if (bucket.tokens < 1) throw tooMany(perSecond, "second", (1 - bucket.tokens) / perSecond);
    bucket.tokens -= 1;
  };
}

/** Each token has so many requests in every minute or hour of the clock, at any speed. */
function windows({ requests, per }: RateLimitSpec, now: () => number): RateLimit {
  const counts = new Map<string, { window: number; made: number }>();
  return (token) => {
    const nowMs = now();
    const window = Math.floor(nowMs / WINDOW_MS[per]);
    const known = counts.get(token);
    const made = known?.window === window ? known.made : 0;
    if (made >= requests) throw tooMany(requests, per, ((window + 1) * WINDOW_MS[per] - nowMs) / 1000);
    counts.set(token, { window, made: made + 1 });
  };
}

function tooMany(requests: number, per: RatePeriod, waitSeconds: number): HttpError {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return new HttpError(
    429,
    `Too many requests: this service answers ${requests} ${EACH[per]} for each token. Ask again in ${seconds} s.`,
    { "retry-after": String(seconds) },
  );
}

/** Limits each token's requests under way. Throws a 429 for one too many, without `Retry-After`; the result ends one. */
export function createConcurrencyLimit(most: number): (token: string) => () => void {
  const underWay = new Map<string, number>();
  const add = (token: string, change: number) => underWay.set(token, (underWay.get(token) ?? 0) + change);
  return (token) => {
    if ((underWay.get(token) ?? 0) >= most) {
      throw new HttpError(
        429,
        `Too many requests at the same time: this service answers ${most} for each token.`,
      );
    }
    add(token, 1);
    return () => add(token, -1);
  };
}
