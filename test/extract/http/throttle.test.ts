import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Throttle, type ThrottleOptions } from "../../../src/extract/http/throttle.ts";
import fc from "../../properties.ts";
import {
  atOnce,
  everyNth,
  fixedWindow,
  type Limit,
  type Result,
  randomOf,
  refusedShare,
  silent,
  simulate,
  tokenBucket,
} from "./throttle-world.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

function throttleOf(changes: Partial<ThrottleOptions> = {}): Throttle {
  return new Throttle({ maxPerSecond: null, startPerSecond: null, random: () => 0, ...changes });
}

/** A small network, and once in a while an answer that takes long. */
const steady = (random: () => number) => 5 + random() * 20;
const slow = (random: () => number) => 250 + random() * 100;
const uneven = (random: () => number) => (random() < 0.1 ? 1000 : 10);

/** What was sent at these times was answered, and what was sent at `refusedMs` was refused. */
function learn(
  throttle: Throttle,
  answeredMs: readonly number[],
  refusedMs: number,
  retryAfterMs: number | null,
) {
  const firstMs = answeredMs[0] ?? refusedMs;
  throttle.begin(throttle.turn(firstMs), firstMs);
  for (const sentMs of answeredMs) throttle.answered(sentMs);
  throttle.refused({ sentMs: refusedMs, nowMs: refusedMs, retryAfterMs });
}

/** When so many requests are sent that wait from a moment on; each is sent late by so much. */
function turnsAfter(throttle: Throttle, fromMs: number, count: number, lateMs = 0): number[] {
  let nowMs = fromMs;
  return Array.from({ length: count }, () => {
    const turn = throttle.turn(nowMs);
    nowMs = turn.atMs + (turn.atMs > nowMs ? lateMs : 0);
    assert.ok(throttle.begin(turn, nowMs));
    return nowMs;
  });
}

suite("turns", () => {
  test("nobody waits where neither the configuration nor the service says so", () => {
    const throttle = throttleOf();
    assert.deepEqual(turnsAfter(throttle, 5, 3), [5, 5, 5]);
    assert.equal(throttle.learned, null);
  });

  test("one begins in each interval, in the order of asking, and idle time is not made up for", () => {
    const throttle = throttleOf({ maxPerSecond: 2 });
    assert.deepEqual(turnsAfter(throttle, 0, 3), [0, 500, 1000]);
    assert.deepEqual(turnsAfter(throttle, 5000, 3), [5000, 5500, 6000]);
    assert.equal(throttle.learned, null);
  });

  test("a machine that is late hardly makes up for it: two requests in a row may be one too many", () => {
    const throttle = throttleOf({ maxPerSecond: 1 });
    assert.deepEqual(turnsAfter(throttle, 0, 3, 200), [0, 1200, 2380]);
    const punctual = throttleOf({ maxPerSecond: 1 });
    assert.deepEqual(turnsAfter(punctual, 0, 4, 3), [0, 1003, 2003, 3003]);
  });

  test("a pause takes back a turn that was given away, and then one request goes first", () => {
    const throttle = throttleOf({ maxPerSecond: 100 });
    const before = throttle.turn(0);
    learn(throttle, [0, 1, 2, 3, 4], 10, 2000);
    assert.equal(throttle.begin(before, 11), false);
    const [first = 0, second = 0, third = 0] = turnsAfter(throttle, 20, 3);
    assert.equal(first, 2010);
    assert.ok(second - first >= 250 && third > second);
  });
});

suite("a refusal", () => {
  test("lowers the pace to a little less than was answered, the pause counted in", () => {
    const throttle = throttleOf();
    learn(
      throttle,
      Array.from({ length: 300 }, (_, n) => n * 3),
      1000,
      59_000,
    );
    assert.equal(throttle.learned?.ratePerSecond, 4.75, "95 percent of 300 in a minute");
  });

  test("counts once for all requests that were under way", () => {
    const throttle = throttleOf();
    learn(throttle, [0, 1, 2, 3, 4], 10, 1000);
    const { ratePerSecond } = throttle.learned ?? {};
    for (const sentMs of [11, 12, 13]) throttle.refused({ sentMs, nowMs: 20, retryAfterMs: 1000 });
    assert.ok(Math.abs((throttle.learned?.ratePerSecond ?? 0) - (ratePerSecond ?? 0)) < 0.1);
    assert.equal(throttle.refusals, 4);
    assert.equal(throttle.pausedUntilMs, 1020);
  });

  test("of one that asks for more makes the pause of all longer, and never shorter", () => {
    const throttle = throttleOf();
    learn(throttle, [0], 10, 5000);
    throttle.refused({ sentMs: 5, nowMs: 20, retryAfterMs: 1000 });
    assert.equal(throttle.pausedUntilMs, 5010);
    throttle.refused({ sentMs: 6, nowMs: 30, retryAfterMs: 9000 });
    assert.equal(throttle.pausedUntilMs, 9030);
  });

  test("counts what was let in and is answered only later", () => {
    const throttle = throttleOf();
    learn(throttle, [0], 10, 1000);
    assert.equal(throttle.learned?.ratePerSecond, 0.95);
    for (const sentMs of [1, 2, 3]) throttle.answered(sentMs);
    assert.equal(throttle.learned?.ratePerSecond, 3.76);
  });

  test("does not count time in which the run had nothing to ask", () => {
    const throttle = throttleOf();
    learn(throttle, [0, 60_000, 60_001, 60_002, 60_003], 60_010, 1000);
    assert.equal(throttle.learned?.ratePerSecond, 3.76);
  });

  test("lowers a pace by half at most, and never below one request in ten seconds", () => {
    const throttle = throttleOf({ maxPerSecond: 100 });
    learn(throttle, turnsAfter(throttle, 0, 2), 30, 60_000);
    assert.equal(throttle.learned?.ratePerSecond, 50);
    const silentOne = throttleOf();
    learn(silentOne, [0], 10, HOUR);
    assert.equal(silentOne.learned?.ratePerSecond, 0.1);
  });

  test("before anything was answered says nothing about the rate", () => {
    const throttle = throttleOf();
    for (let nowMs = 0; nowMs < 3 * MINUTE; nowMs = throttle.pausedUntilMs) {
      turnsAfter(throttle, nowMs, 1);
      throttle.refused({ sentMs: nowMs, nowMs, retryAfterMs: 10_000 });
    }
    assert.deepEqual(throttle.learned, { ratePerSecond: null, refused: 18 });
    assert.equal(throttle.slowedTo, null);
  });

  test("without a Retry-After makes a pause below a bound that doubles, until something is answered", () => {
    const throttle = throttleOf({ random: () => 0.5 });
    const pauses: number[] = [];
    let nowMs = 0;
    for (let n = 0; n < 10; n++) {
      throttle.refused({ sentMs: nowMs, nowMs, retryAfterMs: null });
      pauses.push(throttle.pausedUntilMs - nowMs);
      nowMs = throttle.pausedUntilMs;
    }
    assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    throttle.answered(nowMs);
    throttle.refused({ sentMs: nowMs + 1, nowMs: nowMs + 1, retryAfterMs: null });
    assert.equal(throttle.pausedUntilMs - nowMs - 1, 250);
  });
});

suite("the pace", () => {
  test("rises only while requests wait for it", () => {
    const throttle = throttleOf({ startPerSecond: 2 });
    for (let nowMs = 0; nowMs < HOUR; nowMs += 5000) turnsAfter(throttle, nowMs, 1);
    assert.equal(throttle.learned?.ratePerSecond, 2);
    assert.equal(throttle.slowedTo, null);
    turnsAfter(throttle, HOUR, 200);
    assert.ok((throttle.slowedTo ?? 0) > 2.2);
  });

  test("never rises above what the configuration sets", () => {
    const throttle = throttleOf({ startPerSecond: 2, maxPerSecond: 3 });
    turnsAfter(throttle, 0, 2000);
    assert.equal(throttle.learned?.ratePerSecond, 3);
    const known = throttleOf({ startPerSecond: 20, maxPerSecond: 3 });
    assert.deepEqual(turnsAfter(known, 0, 4).map(Math.round), [0, 333, 667, 1000]);
  });
});

/** Within this of what the limit allows, and with few refusals once the limit is known. */
function assertFast({ endMs, seen }: Result, needMs: number, factor: number, share = 0.05): void {
  const late = refusedShare(seen, 30 * SECOND);
  assert.ok(endMs <= needMs * factor, `${endMs} ms, and ${needMs} were needed`);
  assert.ok(late < share, `${(late * 100).toFixed(1)} percent refused`);
}

suite("against limits, in a time of its own", () => {
  for (const [name, latencyMs] of [
    ["small", steady],
    ["large", slow],
    ["uneven", uneven],
  ] as const) {
    test(`token buckets of 1 to 10 requests a second are kept to, and used, with a ${name} latency`, () => {
      fc.assert(
        fc.property(fc.double({ min: 1, max: 10, noNaN: true }), fc.nat(), (rate, seed) => {
          const requests = Math.ceil(rate * 300);
          const lateMs = seed % 50;
          const result = simulate({ limit: tokenBucket(() => rate), requests, latencyMs, lateMs, seed });
          assertFast(result, (requests / rate) * SECOND, 1.2);
        }),
        { numRuns: 60, seed: 22 },
      );
    });

    test(`token buckets that never say for how long are waited for, with a ${name} latency`, () => {
      fc.assert(
        fc.property(fc.double({ min: 1, max: 10, noNaN: true }), fc.nat(), (rate, seed) => {
          const requests = Math.ceil(rate * 300);
          const result = simulate({ limit: silent(tokenBucket(() => rate)), requests, latencyMs, seed });
          assertFast(result, (requests / rate) * SECOND, 1.25);
        }),
        { numRuns: 60, seed: 22 },
      );
    });
  }

  test("B4a: token buckets of 1, 3, 5 and 20 requests a second take at most 1.15 of what the rate needs", () => {
    for (const rate of [1, 3, 5, 20]) {
      for (const requests of [471, 5000]) {
        for (let seed = 0; seed < 10; seed++) {
          const result = simulate({ limit: tokenBucket(() => rate), requests, latencyMs: steady, seed });
          assertFast(result, (requests / rate) * SECOND, 1.15);
        }
      }
    }
  });

  test("a limit of one request a second is learned from one answer and the pause that follows it", () => {
    for (let seed = 0; seed < 20; seed++) {
      let asked = 0;
      // The first request takes most of a second, and the next one is refused for a whole one.
      const latencyMs = (random: () => number) => (asked++ === 0 ? 300 + random() * 600 : steady(random));
      const result = simulate({ limit: tokenBucket(() => 1), requests: 45, connections: 1, latencyMs, seed });
      assertFast(result, 45 * SECOND, 1.15, 0.1);
    }
  });

  test("so are windows of a second, a minute and an hour, whenever they begin", () => {
    const windows = fc.constantFrom(
      { requests: 1, ms: SECOND, count: 300 },
      { requests: 10, ms: SECOND, count: 3000 },
      { requests: 60, ms: MINUTE, count: 300 },
      { requests: 300, ms: MINUTE, count: 1500 },
      { requests: 5000, ms: HOUR, count: 15_000 },
    );
    fc.assert(
      fc.property(windows, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (window, offset, seed) => {
        const limit = fixedWindow(window.requests, window.ms, offset * window.ms);
        const result = simulate({ limit, requests: window.count, latencyMs: steady, seed });
        assertFast(result, (window.count / window.requests) * window.ms, 1.15);
      }),
      { numRuns: 60, seed: 22 },
    );
  });

  test("a limit on requests at the same time is found too", () => {
    for (const most of [1, 2, 3]) {
      const result = simulate({ limit: atOnce(most), requests: 600, latencyMs: slow });
      assertFast(result, (600 * 300) / most, 2);
    }
  });

  test("a service that refuses every fifth request, whatever the rate, is not slowed down for", () => {
    for (const limit of [everyNth(5, 2), everyNth(5, 0)]) {
      const { endMs } = simulate({ limit, requests: 600, latencyMs: steady });
      assert.ok(endMs < 150 * 6 * SECOND, `${endMs} ms, of which 300,000 are pauses`);
    }
  });

  test("a limit that falls in mid-run is kept to, and one that rises is used", () => {
    let nowMs = 0;
    const changing = (perSecond: (nowMs: number) => number): Limit => {
      const bucket = tokenBucket(() => perSecond(nowMs));
      return {
        ask(atMs) {
          nowMs = atMs;
          return bucket.ask(atMs);
        },
      };
    };
    const fallen = simulate({
      limit: changing((atMs) => (atMs < MINUTE ? 20 : 1)),
      requests: 1200 + 240,
      latencyMs: steady,
    });
    assertFast(fallen, 5 * MINUTE, 1.3);
    const risen = simulate({
      limit: changing((atMs) => (atMs < MINUTE ? 1 : 20)),
      requests: 60 + 20 * 300,
      latencyMs: steady,
    });
    assertFast(risen, 6 * MINUTE, 1.6);
  });

  test("a pace that an earlier run had found is begun with, and risen from where it is too low", () => {
    const limit = () => tokenBucket(() => 5);
    const run = (startPerSecond: number) =>
      simulate({ limit: limit(), requests: 600, latencyMs: steady, options: { startPerSecond } });
    const right = run(5);
    assert.ok(
      right.seen.every(({ sentMs, refused }) => !refused || sentMs > 10 * SECOND),
      "no burst to begin with",
    );
    assertFast(right, 120 * SECOND, 1.05);
    assertFast(run(1), 120 * SECOND, 1.6);
    assertFast(run(0.1), 120 * SECOND, 2.6);
    assertFast(run(100), 120 * SECOND, 1.15);
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

test("the numbers of a simulation are from 0 to 1, and the same for the same seed", () => {
  const [one, other] = [randomOf(7), randomOf(7)];
  const drawn = Array.from({ length: 100 }, one);
  assert.ok(drawn.every((each) => each >= 0 && each < 1));
  assert.deepEqual(Array.from({ length: 100 }, other), drawn);
});
