import { HttpError } from "./http-error.ts";

/** Requests a second per token: each token has a bucket of one second's requests that fills as time passes. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  /** `now`: milliseconds, as `Date.now` gives them. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Counts a request; one too many is a 429 that says in how many whole seconds to come again. */
  take(token: string): void {
    const nowMs = this.#now();
    const capacity = Math.max(1, this.#perSecond);
    const bucket = this.#buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    const refilled = bucket.tokens + ((nowMs - bucket.atMs) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(capacity, refilled);
    bucket.atMs = nowMs;
    this.#buckets.set(token, bucket);
    if (bucket.tokens < 1) throw this.#tooMany(bucket.tokens);
    bucket.tokens -= 1;
  }

  #tooMany(tokens: number): HttpError {
    const seconds = Math.max(1, Math.ceil((1 - tokens) / this.#perSecond));
    return new HttpError(
      429,
      `Too many requests: this service answers ${this.#perSecond} a second for each token. Ask again in ${seconds} s.`,
      { "retry-after": String(seconds) },
    );
  }
}
