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

/** Counts requests, each token by itself. */
export interface RateLimit {
  /** Throws a 429 for one too many, which says in how many whole seconds to come again. */
  take(token: string): void;
}

/** `now`: milliseconds, as `Date.now` gives them. */
export function createRateLimit(spec: RateLimitSpec, now: () => number): RateLimit {
  return spec.per === "second" ? new TokenBuckets(spec.requests, now) : new Windows(spec, now);
}

/** Each token has a bucket of one second's requests that fills as time passes. */
class TokenBuckets implements RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  take(token: string): void {
    const nowMs = this.#now();
    const capacity = Math.max(1, this.#perSecond);
    const bucket = this.#buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    const refilled = bucket.tokens + ((nowMs - bucket.atMs) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(capacity, refilled);
    bucket.atMs = nowMs;
    this.#buckets.set(token, bucket);
    if (bucket.tokens < 1) throw tooMany(this.#perSecond, "second", (1 - bucket.tokens) / this.#perSecond);
    bucket.tokens -= 1;
  }
}

/** Each token has so many requests in every minute or hour of the clock, at any speed. */
class Windows implements RateLimit {
  readonly #spec: RateLimitSpec;
  readonly #now: () => number;
  readonly #counts = new Map<string, { window: number; requests: number }>();

  constructor(spec: RateLimitSpec, now: () => number) {
    this.#spec = spec;
    this.#now = now;
  }

  take(token: string): void {
    const { requests, per } = this.#spec;
    const nowMs = this.#now();
    const window = Math.floor(nowMs / WINDOW_MS[per]);
    const known = this.#counts.get(token);
    const made = known?.window === window ? known.requests : 0;
    if (made >= requests) throw tooMany(requests, per, ((window + 1) * WINDOW_MS[per] - nowMs) / 1000);
    this.#counts.set(token, { window, requests: made + 1 });
  }
}

function tooMany(requests: number, per: RatePeriod, waitSeconds: number): HttpError {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return new HttpError(
    429,
    `Too many requests: this service answers ${requests} ${EACH[per]} for each token. Ask again in ${seconds} s.`,
    { "retry-after": String(seconds) },
  );
}

/** Requests of each token that are under way at the same time. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #underWay = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws a 429 for one too many: it cannot say when another will be done. */
  enter(token: string): void {
    const underWay = this.#underWay.get(token) ?? 0;
    if (underWay >= this.#most)
      throw new HttpError(
        429,
        `Too many requests at the same time: this service answers ${this.#most} for each token.`,
      );
    this.#underWay.set(token, underWay + 1);
  }

  leave(token: string): void {
    const underWay = this.#underWay.get(token) ?? 0;
    if (underWay > 1) this.#underWay.set(token, underWay - 1);
    else this.#underWay.delete(token);
  }
}
