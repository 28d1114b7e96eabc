import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Pace, pauseMs } from "../../../src/extract/http/pace.ts";
import fc from "../../properties.ts";
import {
  everyNth,
  fixedWindow,
  type Limit,
  refusedShare,
  silent,
  simulate,
  tokenBucket,
} from "./pace-world.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

function paceOf(changes: Partial<ConstructorParameters<typeof Pace>[0]> = {}): Pace {
  return new Pace({ maxPerSecond: null, startPerSecond: null, random: () => 0, ...changes });
}

/** A small network, and once in a while an answer that takes long. */
const steady = (random: () => number) => 5 + random() * 20;
const slow = (random: () => number) => 250 + random() * 100;
const uneven = (random: () => number) => (random() < 0.1 ? 1000 : 10);

/** When so many requests are sent that wait from a moment on, and are answered; each is sent late by so much. */
function turnsAfter(pace: Pace, fromMs: number, count: number, lateMs = 0): number[] {
  let nowMs = fromMs;
  return Array.from({ length: count }, () => {
    const waits = pace.nextMs > nowMs;
    nowMs = waits ? pace.nextMs + lateMs : nowMs;
    pace.sent(nowMs, waits);
    pace.answered(nowMs);
    return nowMs;
  });
}

suite("turns", () => {
  test("one begins in each interval, and idle time is not made up for", () => {
    const pace = paceOf({ maxPerSecond: 2 });
    assert.deepEqual(turnsAfter(pace, 0, 3), [0, 500, 1000]);
    assert.deepEqual(turnsAfter(pace, 5000, 3), [5000, 5500, 6000]);
    assert.equal(pace.totals, null);
  });

  test("a pace rises only while requests wait for it, by a tenth and then by more for every hundred, and not above the setting", () => {
    const pace = paceOf({ startPerSecond: 2 });
    for (let nowMs = 0; nowMs < HOUR; nowMs += 5000) turnsAfter(pace, nowMs, 1);
    assert.deepEqual([pace.totals?.ratePerSecond, pace.slowedTo], [2, null]);
    turnsAfter(pace, HOUR, 202);
    assert.equal(pace.slowedTo?.toFixed(2), "2.49");
    const bounded = paceOf({ startPerSecond: 2, maxPerSecond: 3 });
    turnsAfter(bounded, 0, 2000);
    assert.equal(bounded.totals?.ratePerSecond, 3);
  });
});

suite("a refusal", () => {
  const refuse = (pace: Pace, nowMs: number, retryAfterMs: number | null, sentMs = nowMs) =>
    pace.refused(sentMs, nowMs, retryAfterMs);

  test("halves the pace, but not below what was let in, the pause counted in, nor below one in ten seconds", () => {
    const minute = paceOf();
    turnsAfter(minute, 0, 301);
    refuse(minute, 1000, 59_000);
    assert.equal(minute.totals?.ratePerSecond, 4.75, "a little less than 300 in a minute");
    const halved = paceOf({ maxPerSecond: 100 });
    turnsAfter(halved, 0, 2);
    refuse(halved, 30, 60_000);
    assert.equal(halved.totals?.ratePerSecond, 50);
    const least = paceOf();
    turnsAfter(least, 0, 1);
    refuse(least, 10, HOUR);
    assert.equal(least.totals?.ratePerSecond, 0.1);
  });

  test("counts once for all requests that were under way, and only makes their pause longer", () => {
    const pace = paceOf();
    turnsAfter(pace, 0, 5);
    refuse(pace, 10, 5000);
    const { ratePerSecond } = pace.totals ?? {};
    for (const sentMs of [5, 6, 7]) refuse(pace, 20, 1000, sentMs);
    assert.equal(pace.nextMs, 5010);
    refuse(pace, 30, 9000, 8);
    assert.equal(pace.nextMs, 9030);
    assert.deepEqual(pace.totals, { ratePerSecond, refused: 5 });
  });

  test("without a Retry-After makes a pause below a bound that doubles, until something is answered", () => {
    const pace = paceOf({ random: () => 0.5 });
    const pauses: number[] = [];
    for (let nowMs = 0; pauses.length < 9; nowMs = pace.nextMs) {
      refuse(pace, nowMs, null);
      pauses.push(pace.nextMs - nowMs);
    }
    assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
    const nowMs = pace.nextMs;
    pace.answered(nowMs);
    refuse(pace, nowMs + 1, null);
    assert.equal(pace.nextMs - nowMs - 1, 250);
  });

  test("a pause is never shorter than the service asked for, and else anything below a bound that doubles", () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const asking = fc.option(fc.nat(900_000));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), asking, draw, (pauses, asked, random) => {
        const pause = pauseMs(pauses, asked, () => random);
        const bound = Math.min(30_000, 500 * 2 ** (pauses - 1));
        if (asked === null) assert.ok(pause >= 0 && pause < bound);
        else assert.ok(pause >= asked && pause <= Math.max(asked, bound) + 1000);
      }),
    );
  });
});

const bucket = (perSecond: number, name: string, latencyMs: typeof steady, factor: number) => ({
  name: `a token bucket of ${perSecond} a second, ${name} latency`,
  limit: () => tokenBucket(() => perSecond),
  perSecond,
  latencyMs,
  factor,
});
const window = (requests: number, ms: number) => ({
  name: `a window of ${requests} requests in ${ms / SECOND} s`,
  limit: (seed: number) => fixedWindow(requests, ms, (ms * seed) / 10),
  perSecond: (requests * SECOND) / ms,
  latencyMs: steady,
  factor: 1.25,
});

/** What a limit allows is used but for the factor. */
const LIMITS = [
  ...[1, 3, 5, 20].map((perSecond) => bucket(perSecond, "small", steady, 1.15)),
  ...[1, 3, 7].map((perSecond) => bucket(perSecond, "large", slow, 1.5)),
  ...[1, 3, 7].map((perSecond) => bucket(perSecond, "uneven", uneven, 2)),
  ...[1, 3, 7].map((perSecond) => {
    const known = bucket(perSecond, "small", steady, 1.3);
    return { ...known, name: `${known.name}, no Retry-After`, limit: () => silent(known.limit()) };
  }),
  window(1, SECOND),
  window(10, SECOND),
  window(60, MINUTE),
  window(300, MINUTE),
  window(5000, HOUR),
];

suite("against limits, in a time of its own", () => {
  for (const { name, limit, perSecond, latencyMs, factor } of LIMITS) {
    test(`B4a: ${name} is kept to, and used`, () => {
      for (let seed = 0; seed < 10; seed++) {
        const requests = Math.ceil(perSecond * 471);
        const { endMs, seen } = simulate({
          limit: limit(seed),
          requests,
          latencyMs,
          lateMs: 5 * (seed % 3),
          seed,
        });
        const needMs = (requests / perSecond) * SECOND;
        assert.ok(endMs <= needMs * factor, `${endMs} ms, and ${needMs} were needed`);
        const late = refusedShare(seen, 30 * SECOND);
        assert.ok(late < 0.05, `${(late * 100).toFixed(1)} percent refused`);
      }
    });
  }

  test("a service that refuses a few requests, whatever the rate, is not slowed down for", () => {
    const { endMs } = simulate({ limit: everyNth(100, 1), requests: 600, latencyMs: steady });
    assert.ok(endMs < 60 * SECOND, `${endMs} ms, of which 6,000 are pauses`);
    const fifth = simulate({ limit: everyNth(5, 1), requests: 600, latencyMs: steady });
    assert.ok(fifth.endMs < 10 * MINUTE, `${fifth.endMs} ms, of which 150,000 are pauses`);
  });

  test("a limit that falls in mid-run is kept to, and one that rises is found", () => {
    let nowMs = 0;
    const changing = (perSecond: (nowMs: number) => number): Limit => {
      const inner = tokenBucket(() => perSecond(nowMs));
      return {
        ask(atMs) {
          nowMs = atMs;
          return inner.ask(atMs);
        },
      };
    };
    const fallen = changing((atMs) => (atMs < MINUTE ? 20 : 1));
    const { endMs } = simulate({ limit: fallen, requests: 1200 + 240, latencyMs: steady });
    assert.ok(endMs < 2 * 5 * MINUTE, `${endMs} ms`);
    const risen = changing((atMs) => (atMs < MINUTE ? 1 : 20));
    const later = simulate({ limit: risen, requests: 60 + 20 * 300, latencyMs: steady });
    assert.ok(later.endMs < 2.5 * 6 * MINUTE, `${later.endMs} ms`);
  });

  test("a pace that an earlier run had found is begun with", () => {
    const limit = tokenBucket(() => 5);
    const { endMs, seen } = simulate({
      limit,
      requests: 600,
      latencyMs: steady,
      options: { startPerSecond: 5 },
    });
    assert.ok(
      seen.every(({ sentMs, refused }) => !refused || sentMs > 10 * SECOND),
      "no burst to begin with",
    );
    assert.ok(endMs < 1.05 * 120 * SECOND, `${endMs} ms`);
  });

  test("no request is sent before the service allows it", () => {
    const allowed = fc.constantFrom(
      tokenBucket(() => 3),
      fixedWindow(20, MINUTE),
      everyNth(4, 7),
    );
    fc.assert(
      fc.property(allowed, fc.nat(), (inner, seed) => {
        let closedUntilMs = 0;
        let early = 0;
        const underWayMs = 400;
        const limit: Limit = {
          ask(nowMs) {
            // What was under way when the refusal was sent cannot be held back.
            if (nowMs < closedUntilMs && nowMs > closedUntilMs - SECOND + underWayMs) early += 1;
            const seconds = inner.ask(nowMs);
            if (seconds !== null) closedUntilMs = Math.max(closedUntilMs, nowMs + seconds * SECOND);
            return seconds;
          },
        };
        simulate({ limit, requests: 100, latencyMs: slow, seed });
        assert.equal(early, 0);
      }),
      { numRuns: 40, seed: 22 },
    );
  });
});
