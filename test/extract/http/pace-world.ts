/** A run and a service that refuses, in a time of their own: no clock, no network. */
import { Pace } from "../../../src/extract/http/pace.ts";

/** What a limit says of a request: `null` lets it in, a number refuses it. */
export interface Limit {
  /** @returns whole seconds of a `Retry-After`; 0: refused without one; null: let in */
  ask(nowMs: number): number | null;
}

/** Fills evenly, with `burst` seconds' requests at most, as `serve --rate-limit 5` does. */
export function tokenBucket(perSecond: () => number, burstSeconds = 1): Limit {
  let tokens = Math.max(1, perSecond() * burstSeconds);
  let atMs = 0;
  return {
    ask(nowMs) {
      const rate = perSecond();
      tokens = Math.min(Math.max(1, rate * burstSeconds), tokens + ((nowMs - atMs) / 1000) * rate);
      atMs = nowMs;
      if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / rate));
      tokens -= 1;
      return null;
    },
  };
}

/** So many requests in each second, minute or hour of the clock. */
export function fixedWindow(requests: number, windowMs: number, offsetMs = 0): Limit {
  let window = -1;
  let count = 0;
  return {
    ask(nowMs) {
      const current = Math.floor((nowMs + offsetMs) / windowMs);
      if (current !== window) count = 0;
      window = current;
      if (count >= requests)
        return Math.max(1, Math.ceil(((current + 1) * windowMs - nowMs - offsetMs) / 1000));
      count += 1;
      return null;
    },
  };
}

/** Every n-th request is refused, whatever the rate. */
export function everyNth(n: number, seconds: number): Limit {
  let asked = 0;
  return {
    ask() {
      asked += 1;
      return asked % n === 0 ? seconds : null;
    },
  };
}

/** Refuses the requests with these numbers, counted from 1. */
export function atNumbers(numbers: readonly number[], seconds: number): Limit {
  let asked = 0;
  return {
    ask() {
      asked += 1;
      return numbers.includes(asked) ? seconds : null;
    },
  };
}

/** Refuses the first request after each of these times. */
export function atTimes(times: readonly number[], seconds: number): Limit {
  let refusals = 0;
  return {
    ask(nowMs) {
      if (nowMs < (times[refusals] ?? Number.POSITIVE_INFINITY) * 1000) return null;
      refusals += 1;
      return seconds;
    },
  };
}

/** Refuses as another limit does, but never says for how long. */
export function silent(limit: Limit): Limit {
  return { ...limit, ask: (nowMs) => (limit.ask(nowMs) === null ? null : 0) };
}

export interface World {
  readonly limit: Limit;
  readonly requests: number;
  readonly latencyMs: (random: () => number) => number;
  readonly connections?: number;
  /** By so much a timer may fire late. */
  readonly lateMs?: number;
  readonly seed?: number;
  readonly options?: Partial<ConstructorParameters<typeof Pace>[0]>;
}

export interface Seen {
  readonly sentMs: number;
  readonly refused: boolean;
}

export interface Result {
  readonly endMs: number;
  readonly seen: readonly Seen[];
}

/** Deterministic numbers from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes all requests over so many connections, each refused one again, as the retry policy does. */
export function simulate({
  limit,
  requests,
  latencyMs,
  connections = 4,
  lateMs = 0,
  seed = 1,
  options = {},
}: World): Result {
  const random = randomOf(seed);
  const pace = new Pace({ maxPerSecond: null, startPerSecond: null, random, ...options });
  const queue: { atMs: number; act: () => void }[] = [];
  const seen: Seen[] = [];
  let nowMs = 0;
  let left = requests;
  const at = (atMs: number, act: () => void) => queue.push({ atMs, act });
  /** Requests that wait for a turn, one at a time; the number of those behind the first. */
  let behind = -1;
  const begin = () => {
    behind += 1;
    if (behind === 0) takeTurn();
  };
  const takeTurn = (waited = false) => {
    if (pace.nextMs > nowMs) return at(pace.nextMs + random() * lateMs, () => takeTurn(true));
    pace.sent(nowMs, waited);
    send();
    behind -= 1;
    if (behind >= 0) at(nowMs, () => takeTurn());
  };
  const send = () => {
    const sentMs = nowMs;
    const took = latencyMs(random);
    at(sentMs + Math.min(took / 2, 20), () => {
      const seconds = limit.ask(nowMs);
      seen.push({ sentMs, refused: seconds !== null });
      if (seconds === null) at(sentMs + took, answered);
      else at(sentMs + took, () => refused(sentMs, seconds));
    });
  };
  const answered = () => {
    pace.answered();
    next();
  };
  const refused = (sentMs: number, seconds: number) => {
    const retryAfterMs = seconds === 0 ? null : seconds * 1000;
    pace.refused(sentMs, nowMs, retryAfterMs);
    begin();
  };
  const next = () => {
    if (left === 0) return;
    left -= 1;
    begin();
  };
  for (let n = 0; n < connections; n++) next();
  while (queue.length > 0) {
    let first = 0;
    for (const [i, { atMs }] of queue.entries()) if (atMs < (queue[first]?.atMs ?? 0)) first = i;
    const [{ atMs, act }] = queue.splice(first, 1) as [{ atMs: number; act: () => void }];
    nowMs = Math.max(nowMs, atMs);
    act();
  }
  return { endMs: nowMs, seen };
}

/** Share of the refused among the requests that were sent from a moment on. */
export function refusedShare(seen: readonly Seen[], fromMs: number): number {
  const late = seen.filter(({ sentMs }) => sentMs >= fromMs);
  return late.length === 0 ? 0 : late.filter(({ refused }) => refused).length / late.length;
}
