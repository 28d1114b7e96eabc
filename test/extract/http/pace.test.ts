import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Pace, pauseMs } from "../../../src/extract/http/pace.ts";
import fc from "../../properties.ts";
import {
  atNumbers,
  atTimes,
  everyNth,
  fixedWindow,
  type Limit,
  randomOf,
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
    pace.answered();
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

  test("a pace rises only while requests wait for it, slowly from one that was found before, and not above the setting", () => {
    const pace = paceOf({ startPerSecond: 2 });
    for (let nowMs = 0; nowMs < HOUR; nowMs += 5000) turnsAfter(pace, nowMs, 1);
    assert.deepEqual([pace.totals?.ratePerSecond, pace.slowedTo], [2, null]);
    turnsAfter(pace, HOUR, 51);
    assert.equal(pace.slowedTo?.toFixed(2), "2.24");
    turnsAfter(pace, 2 * HOUR, 201);
    assert.ok((pace.slowedTo ?? 0) > 5, "it rises faster and faster");
    const bounded = paceOf({ startPerSecond: 2, maxPerSecond: 3 });
    turnsAfter(bounded, 0, 2000);
    assert.equal(bounded.slowedTo, 3);
  });
});

suite("a refusal", () => {
  const refuse = (pace: Pace, nowMs: number, retryAfterMs: number | null, sentMs = nowMs) =>
    pace.refused(sentMs, nowMs, retryAfterMs);

  test("sets the pace to what was let in, the pause counted in, but not below one in ten seconds", () => {
    const minute = paceOf();
    turnsAfter(minute, 0, 300);
    refuse(minute, 1000, 59_000);
    assert.equal(minute.totals?.ratePerSecond, 5, "300 in a minute");
    const least = paceOf();
    turnsAfter(least, 0, 1);
    refuse(least, 10, HOUR);
    assert.equal(least.totals?.ratePerSecond, 0.1);
  });

  test("takes back what the pace rose by if it comes before nine were let in, and slows the rise if it comes later", () => {
    const pace = paceOf();
    turnsAfter(pace, 0, 10);
    refuse(pace, 0, 5000);
    assert.equal(pace.totals?.ratePerSecond, 2);
    turnsAfter(pace, 5000, 6);
    assert.equal(pace.slowedTo?.toFixed(2), "2.49", "doubles in 16 requests, no longer in four");
    refuse(pace, pace.nextMs, 1000);
    assert.equal(pace.totals?.ratePerSecond, 2);
  });

  test("leaves the next run the rate that was accepted since, and not how far the pace has risen", () => {
    const pace = paceOf();
    turnsAfter(pace, 0, 10);
    refuse(pace, 0, 5000);
    turnsAfter(pace, 5000, 100);
    const { ratePerSecond } = pace.totals ?? {};
    const slowedTo = pace.slowedTo ?? 0;
    assert.ok(
      ratePerSecond && ratePerSecond > 4 && ratePerSecond < slowedTo / 2,
      `${ratePerSecond}, ${slowedTo}`,
    );
  });

  test("that a lower pace did not prevent lifts it", () => {
    const pace = paceOf();
    turnsAfter(pace, 0, 10);
    refuse(pace, 0, 5000);
    for (let refusal = 0; refusal < 2; refusal++) {
      turnsAfter(pace, pace.nextMs, 5);
      refuse(pace, pace.nextMs, 2500);
    }
    assert.equal(pace.totals?.ratePerSecond, null);
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
    pace.answered();
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
  forMs: 0,
  maxRefused: 0.05,
});
const window = (requests: number, ms: number) => ({
  name: `a window of ${requests} requests in ${ms / SECOND} s`,
  limit: (seed: number) => fixedWindow(requests, ms, (ms * seed) / 10),
  perSecond: (requests * SECOND) / ms,
  latencyMs: steady,
  factor: 1.25,
  forMs: 2.5 * ms,
  maxRefused: 0.05,
});

/** What a limit allows is used but for the factor. */
const LIMITS = [
  ...[1, 3, 5, 10, 20, 50].map((perSecond) => bucket(perSecond, "small", steady, 1.15)),
  // So few requests that those it takes to find the limit are a larger share.
  ...[0.2, 0.5].map((perSecond) => ({ ...bucket(perSecond, "small", steady, 1.3), maxRefused: 0.15 })),
  ...[1, 3, 7].map((perSecond) => bucket(perSecond, "large", slow, 1.5)),
  ...[1, 3, 7].map((perSecond) => bucket(perSecond, "uneven", uneven, 2)),
  ...[1, 3, 7].map((perSecond) => {
    const known = bucket(perSecond, "small", steady, 1.3);
    return { ...known, name: `${known.name}, no Retry-After`, limit: () => silent(known.limit()) };
  }),
  window(1, SECOND),
  window(10, SECOND),
  window(60, MINUTE),
  window(100, MINUTE),
  window(300, MINUTE),
  window(1000, HOUR),
  window(5000, HOUR),
];

/** Refused requests of a service that could answer all of them, and the longest time for so many. */
const INDEPENDENT: readonly [name: string, limit: () => Limit, requests: number, mostMs: number][] = [
  ["a refusal of every 100th request", () => everyNth(100, 1), 600, MINUTE],
  ["a refusal of every third request", () => everyNth(3, 1), 300, 5 * MINUTE],
  ["a refusal of every fifth request", () => everyNth(5, 1), 300, 2.5 * MINUTE],
  ["a refusal of every third request, no Retry-After", () => silent(everyNth(3, 1)), 130, MINUTE],
  ["a refusal of every fifth request, no Retry-After", () => silent(everyNth(5, 1)), 130, MINUTE],
];

/** Five requests that are refused in the first minute, with so many seconds in `Retry-After`. */
const EARLY: readonly [name: string, limit: (seconds: number, seed: number) => Limit][] = [
  ...[1, 2, 3, 5, 10, 20].map((step): (typeof EARLY)[number] => {
    const numbers = [1, 2, 3, 4, 5].map((n) => n * step);
    return [`of requests ${numbers}`, (seconds) => atNumbers(numbers, seconds)];
  }),
  ...[0.5, 2, 10].map((n): (typeof EARLY)[number] => [
    `${n} s apart`,
    (seconds) =>
      atTimes(
        [0, 1, 2, 3, 4].map((each) => each * n),
        seconds,
      ),
  ]),
  [
    "among the first sixty requests",
    (seconds, seed) => {
      const random = randomOf(seed + 99);
      return atNumbers(
        Array.from({ length: 5 }, () => 1 + Math.floor(random() * 60)),
        seconds,
      );
    },
  ],
];

suite("against limits, in a time of its own", () => {
  for (const { name, limit, perSecond, latencyMs, factor, forMs, maxRefused } of LIMITS) {
    test(`B4a: ${name} is kept to, and used`, () => {
      for (let seed = 0; seed < 10; seed++) {
        const requests = Math.ceil((perSecond * Math.max(471 * SECOND, forMs)) / SECOND);
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
        assert.ok(late < maxRefused, `${(late * 100).toFixed(1)} percent refused`);
      }
    });
  }

  for (const [name, limit, requests, mostMs] of INDEPENDENT) {
    test(`B4c: ${name}, whatever the pace, does not slow the run down`, () => {
      for (let seed = 0; seed < 10; seed++) {
        const { endMs } = simulate({
          limit: limit(),
          requests,
          latencyMs: steady,
          lateMs: 5 * (seed % 3),
          seed,
        });
        assert.ok(endMs < mostMs, `${endMs} ms with seed ${seed}`);
      }
    });
  }

  for (const [name, limit] of EARLY) {
    test(`B4b: five refusals ${name} do not slow the rest of a run down`, () => {
      for (const seconds of [1, 2])
        for (let seed = 0; seed < 5; seed++) {
          const { endMs } = simulate({
            limit: limit(seconds, seed),
            requests: 400,
            latencyMs: steady,
            lateMs: 5 * (seed % 3),
            seed,
          });
          assert.ok(endMs <= 70 * SECOND, `${endMs} ms with a Retry-After of ${seconds}, seed ${seed}`);
        }
    });
  }

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
