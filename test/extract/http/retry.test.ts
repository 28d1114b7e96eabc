import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../../src/common/clock.ts";
import { type ErrorCode, WarehouseError } from "../../../src/common/errors.ts";
import { silentLog } from "../../../src/common/log.ts";
import { Outage } from "../../../src/extract/http/outage.ts";
import { retryPauseMs } from "../../../src/extract/http/pauses.ts";
import {
  type Attempt,
  createRetry,
  RETRY_LIMITS,
  type RetryOptions,
} from "../../../src/extract/http/retry.ts";
import { SourceError, type SourceFacts } from "../../../src/extract/http/source-error.ts";
import { Throttle, type ThrottleOptions } from "../../../src/extract/http/throttle.ts";
import { FakeClock } from "../../fake-clock.ts";
import { NEVER } from "../../never.ts";
import fc from "../../properties.ts";

const failure = (code: ErrorCode, facts: SourceFacts = {}) => new SourceError(code, "It failed.", facts);
const status = (code: number, retryAfterMs: number | null = null) =>
  failure("source.unavailable", { status: code, retryAfterMs });

function throttleOf(changes: Partial<ThrottleOptions> = {}): Throttle {
  return new Throttle({ maxPerSecond: null, startPerSecond: null, random: () => 0.5, ...changes });
}

/** Without patience for outages: each failure is its request's own. */
function impatient(clock: Clock): Outage {
  const namedIn = { url: "CONTENT_API_URL", token: "CONTENT_API_TOKEN" };
  const known = { minutes: 0, isKnown: true };
  return new Outage({ host: "host", namedIn, ...known, clock, random: () => 0.5, log: silentLog });
}

/** A policy whose requests have no other to be told from. */
interface Policy {
  readonly run: <T>(attempt: Attempt<T>, signal: AbortSignal) => Promise<T>;
}

function policy(changes: Partial<RetryOptions> = {}): { clock: FakeClock; retry: Policy } {
  const clock = new FakeClock();
  const limits = RETRY_LIMITS;
  const options = {
    connections: 4,
    throttle: throttleOf(),
    outage: impatient(clock),
    clock,
    random: () => 0.5,
    limits,
    deadline: null,
    log: silentLog,
  };
  const retry = createRetry({ ...options, ...changes });
  const check = () => Promise.reject(new Error("nothing is checked"));
  return { clock, retry: { run: (attempt, signal) => retry.run({ attempt, check }, signal) } };
}

/** Runs one request whose attempts fail with these errors in turn and then succeed; when each attempt began. */
async function attemptsOf(failures: readonly Error[], changes: Partial<RetryOptions> = {}, forever = false) {
  let retries = 0;
  const { warn } = changes.log ?? silentLog;
  const counting = (line: string) => {
    if (line.endsWith(" Asking again.")) retries += 1;
    warn(line);
  };
  const { clock, retry } = policy({ ...changes, log: { ...silentLog, warn: counting } });
  const begun: number[] = [];
  const attempt = async () => {
    begun.push(clock.elapsedMs());
    const next = failures[forever ? 0 : begun.length - 1];
    if (next !== undefined) throw next;
    return "answer";
  };
  const outcome = retry.run(attempt, NEVER).catch((error: unknown) => error);
  await clock.run();
  return { begun, outcome: await outcome, retries };
}

test("B5: trouble that passes is waited out, with pauses that grow", async () => {
  const { begun, outcome, retries } = await attemptsOf([status(503), status(502), failure("source.timeout")]);
  assert.equal(outcome, "answer");
  assert.deepEqual(begun, [0, 250, 750, 1750]);
  assert.equal(retries, 3);
});

test("B6: trouble that does not pass ends after six attempts, with what it was", async () => {
  for (const failing of [status(500), status(503), status(503, 0)]) {
    const { begun, outcome } = await attemptsOf([failing], {}, true);
    assert.equal(begun.length, 6);
    assert.ok(outcome instanceof SourceError);
    assert.equal(outcome.message, "It failed. Asked 6 times.");
    assert.deepEqual(
      [outcome.code, outcome.status, outcome.retry],
      ["source.unavailable", failing.status, false],
    );
  }
});

const HOUR_MS = 3_600_000;

test("B1: refusals spend neither attempts nor retries, however many there are", async () => {
  const limits = { ...RETRY_LIMITS, retriesAtMost: 0 };
  const refusals = Array.from({ length: 100 }, (_, n) =>
    n % 2 === 0 ? status(429, 2000) : status(503, 1000),
  );
  const { outcome, retries } = await attemptsOf(refusals, { limits });
  assert.deepEqual([outcome, retries], ["answer", 0]);
});

test("what fails has all its attempts although the service refused some", async () => {
  const { begun, outcome } = await attemptsOf(
    [
      status(429),
      status(500),
      status(429, 1000),
      status(500),
      status(500),
      status(500),
      status(500),
      status(429),
    ],
    {},
  );
  assert.deepEqual([begun.length, outcome], [9, "answer"]);
});

test("what another attempt cannot mend is not asked for again", async () => {
  const codes: ErrorCode[] = [
    "source.credentials",
    "source.tls",
    "source.protocol",
    "source.too_large",
    "config.not_found",
    "disk.io",
    "internal",
  ];
  const errors = [
    ...codes.map((code) => failure(code)),
    new WarehouseError("disk.io", "full"),
    new TypeError("bug"),
  ];
  for (const error of errors) {
    const { begun, outcome } = await attemptsOf([error], {}, true);
    assert.equal(begun.length, 1);
    assert.equal(outcome, error);
  }
});

test("A2, A10: a failure that is worth two attempts gets two", async () => {
  const twice = [
    failure("source.unreachable", { attemptsAtMost: 2 }),
    new WarehouseError("source.damaged", "cut"),
  ];
  for (const error of twice) assert.equal((await attemptsOf([error], {}, true)).begun.length, 2);
});

test("B1: no worker asks again before the service said so", async () => {
  const { clock, retry } = policy({ random: () => 0 });
  const begun: number[] = [];
  let first = true;
  const attempt = async () => {
    begun.push(clock.elapsedMs());
    if (first) {
      first = false;
      await clock.sleep(10, NEVER);
      throw status(429, 2000);
    }
    await clock.sleep(20, NEVER);
  };
  const worker = async () => {
    for (let n = 0; n < 3; n++) await retry.run(attempt, NEVER);
  };
  const workers = Promise.all([worker(), worker(), worker()]);
  await clock.run();
  await workers;
  assert.deepEqual(begun.slice(0, 3), [0, 0, 0], "what was under way at that moment cannot be held back");
  assert.ok(begun.length === 10 && begun.slice(3).every((at) => at >= 2010), begun.join());
});

test("a pause that only one request needs holds nobody else", async () => {
  const { clock, retry } = policy();
  const slow = retry.run(async () => {
    if (clock.elapsedMs() === 0) throw status(500, 5000);
  }, NEVER);
  await turn();
  let otherMs = -1;
  const other = retry.run(async () => {
    otherMs = clock.elapsedMs();
  }, NEVER);
  await clock.run();
  await Promise.all([slow, other]);
  assert.equal(otherMs, 0);
});

test("B1: who waits for its turn by the rate heeds what the service asked for meanwhile, and then the rate", async () => {
  const clock = new FakeClock();
  const { retry } = policy({ clock, random: () => 0, throttle: throttleOf({ maxPerSecond: 1 }) });
  const begun: number[] = [];
  const attempt = async () => {
    begun.push(clock.elapsedMs());
    if (begun.length === 1) throw status(429, 5000);
  };
  const requests = Promise.all([1, 2, 3, 4].map(() => retry.run(attempt, NEVER)));
  await clock.run();
  await requests;
  const [, ...later] = begun;
  assert.equal(later.length, 4);
  for (const [place, at] of later.entries()) {
    assert.ok(at >= 5000 && at >= (later[place - 1] ?? 0) + (place === 0 ? 0 : 1000), begun.join());
  }
});

test("a request that is ended while it waits for a connection waits no longer", {
  timeout: 10_000,
}, async () => {
  const { retry } = policy({ connections: 1 });
  const first = Promise.withResolvers<void>();
  const holding = retry.run(() => first.promise, NEVER);
  const stop = new AbortController();
  const waiting = retry.run(async () => {}, stop.signal);
  stop.abort(new Error("stopped"));
  await assert.rejects(waiting, { message: "stopped" });
  first.resolve();
  await holding;
});

test("B3: an hour is waited out where the deadline allows it, and else the run ends at once", async () => {
  for (const failing of [status(429, HOUR_MS), status(503, HOUR_MS), status(500, HOUR_MS)]) {
    const patient = await attemptsOf([failing], { deadline: { atMs: 2 * HOUR_MS, minutes: 120 } });
    assert.equal(patient.outcome, "answer");
    assert.ok((patient.begun[1] ?? 0) >= HOUR_MS, patient.begun.join());
    const { begun, outcome } = await attemptsOf([failing], { deadline: { atMs: HOUR_MS - 1, minutes: 59 } });
    assert.deepEqual(begun, [0]);
    assert.ok(outcome instanceof SourceError);
    assert.match(outcome.message, /The next retry would be after `deadlineMinutes` \(59\)/);
  }
});

/** Nobody waits; the longest sleep is noted. */
class Jumping implements Clock {
  nowMs = 0;
  longestMs = 0;

  now(): number {
    return this.nowMs;
  }

  elapsedMs(): number {
    return this.nowMs;
  }

  async sleep(milliseconds: number): Promise<void> {
    this.longestMs = Math.max(this.longestMs, milliseconds);
    this.nowMs += milliseconds;
  }
}

test("a pause of weeks is slept in pieces that a timer can count", async () => {
  const clock = new Jumping();
  const { retry } = policy({ clock });
  let begunMs = 0;
  await retry.run(async () => {
    begunMs = clock.elapsedMs();
    if (begunMs === 0) throw status(429, 30 * 24 * HOUR_MS);
  }, NEVER);
  assert.ok(begunMs >= 30 * 24 * HOUR_MS);
  assert.ok(clock.longestMs < 2 ** 31);
});

/** What is told, and when, where the third of 40 requests is refused once and all others are answered. */
async function toldOf(refusal: Error) {
  const clock = new Jumping();
  const told: [atMs: number, line: string][] = [];
  const log = { ...silentLog, warn: (line: string) => told.push([clock.nowMs, line]) };
  const { retry } = policy({ clock, log });
  let asked = 0;
  const ask = () =>
    retry.run(async (answered) => {
      asked += 1;
      if (asked !== 3) answered();
      else throw refusal;
    }, NEVER);
  for (let n = 0; n < 40; n++) await ask();
  return { told, lastedMs: clock.nowMs };
}

test("the log has a line when throttling begins, and one each half minute while it lasts", async () => {
  const { told, lastedMs } = await toldOf(status(429, 300_000));
  const [first, second] = told;
  assert.deepEqual(first, [
    0,
    "The service refuses requests because there are too many: pausing until 00:05:01 UTC, then going on more slowly.",
  ]);
  assert.deepEqual(second, [
    30_000,
    "The service still allows no more requests: pausing until 00:05:01 UTC; 1 request refused so far.",
  ]);
  for (const [place, [atMs]] of told.entries()) {
    assert.ok(place === 0 || atMs - (told[place - 1]?.[0] ?? 0) >= 30_000, String(atMs));
  }
  assert.ok(told.length >= lastedMs / 45_000 && told.length <= 1 + lastedMs / 30_000, `${told.length} lines`);
});

test("the log of a service that is away for a while says so, and nothing of too many requests", async () => {
  const { told } = await toldOf(status(503, 300_000));
  assert.deepEqual(told.slice(0, 2), [
    [
      0,
      "The service is not available for a while, and says for how long: pausing until 00:05:01 UTC, then going on more slowly.",
    ],
    [30_000, "The service is still not available: pausing until 00:05:01 UTC; 1 request refused so far."],
  ]);
});

test("while requests go on more slowly, the log says how fast, and not that more are refused", async () => {
  for (const code of [429, 503]) {
    const { told } = await toldOf(status(code, 300_000));
    const after = told.filter(([atMs]) => atMs > 301_000);
    assert.ok(after.length > 2);
    for (const [, line] of after) {
      assert.match(line, /^Still held to 0\.1\d* requests a second; 1 request refused so far\.$/);
    }
  }
});

test("a rate that is from the run before is told as such, and nothing of refusals before there is one", async () => {
  const clock = new Jumping();
  const told: [level: string, line: string, fields: object | undefined][] = [];
  const log = {
    ...silentLog,
    info: (line: string, fields?: object) => told.push(["info", line, fields]),
    warn: (line: string, fields?: object) => told.push(["warn", line, fields]),
  };
  const { retry } = policy({ clock, log, throttle: throttleOf({ startPerSecond: 0.1 }) });
  const ask = (refusal?: Error) =>
    retry.run(async (answered) => {
      const thrown = refusal;
      refusal = undefined;
      if (thrown !== undefined) throw thrown;
      answered();
    }, NEVER);
  for (let n = 0; n < 20; n++) await ask();
  const [first, ...more] = told;
  assert.match(
    first?.[1] ?? "",
    /^The run before was held back: this one begins with 0\.1\d* requests a second\.$/,
  );
  assert.ok(more.length > 0);
  for (const [, line] of more) assert.match(line, /^Still held to [\d.]+ requests a second\.$/);
  for (const [level, , fields] of told) assert.deepEqual([level, fields], ["info", undefined]);
  told.length = 0;
  await ask(status(429, 5_000));
  const [[level, line, fields] = []] = told;
  assert.deepEqual([level, fields], ["warn", { count: 1 }]);
  assert.match(
    line ?? "",
    /^The service refuses requests because there are too many: pausing until \d\d:\d\d:\d\d UTC/,
  );
});

test("trouble of the service alone is not told of as throttling", async () => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (line: string) => lines.push(line) };
  await attemptsOf([status(503), status(503)], { log });
  assert.deepEqual(lines, ["It failed. Asking again.", "It failed. Asking again."]);
});

test("a run does not wait beyond its deadline", async () => {
  const late = await attemptsOf([status(503, 10_000)], { deadline: { atMs: 10_000, minutes: 1 } });
  assert.deepEqual(late.begun, [0]);
  assert.ok(late.outcome instanceof SourceError && /after `deadlineMinutes`/.test(late.outcome.message));
  assert.equal(
    (await attemptsOf([status(503, 10_000)], { deadline: { atMs: 10_501, minutes: 1 } })).outcome,
    "answer",
  );
});

test("B4: where the deadline falls between a pause and the next turn, the refusal is told, and nobody waits for it", async () => {
  const throttle = throttleOf({ maxPerSecond: 0.1 });
  const { clock, retry } = policy({ throttle, deadline: { atMs: 15_000, minutes: 1 } });
  let asked = 0;
  const ask = () =>
    retry.run(async () => {
      asked += 1;
      if (asked > 1) throw status(429, 1000);
    }, NEVER);
  const outcomes = Promise.allSettled([ask(), ask()]);
  await clock.run();
  const [, outcome] = await outcomes;
  assert.ok(outcome?.status === "rejected" && outcome.reason instanceof SourceError);
  assert.equal(outcome.reason.status, 429);
  assert.match(
    outcome.reason.message,
    /^It failed\. The next retry would be after `deadlineMinutes` \(1\)\.$/,
  );
  assert.deepEqual([asked, clock.elapsedMs()], [2, 10_000]);
});

test("F21: a run whose time is over asks nothing more, whether anything failed or not", async () => {
  const { clock, retry } = policy({ deadline: { atMs: 60_000, minutes: 1 } });
  assert.equal(await retry.run(async () => "answer", NEVER), "answer");
  const asleep = clock.sleep(60_001, NEVER);
  await clock.run();
  await asleep;
  const outcome = await retry.run(async () => "answer", NEVER).catch((error: unknown) => error);
  assert.ok(outcome instanceof SourceError);
  assert.equal(outcome.exitCode, 21);
  assert.match(outcome.message, /longer than 1 minutes; run it again/);
});

test("a run asks again for at most a fifth of its requests, and two hundred times in all", async () => {
  const limits = { ...RETRY_LIMITS, retriesToBegin: 2, retriesAtMost: 4 };
  const { clock, retry } = policy({ limits });
  const outcomes: string[] = [];
  const request = async (fails: boolean) => {
    let asked = 0;
    const done = retry.run(async () => {
      if (fails && asked++ === 0) throw status(500);
    }, NEVER);
    const outcome = done.then(
      () => "answer",
      (error: Error) => error.message,
    );
    await clock.run();
    outcomes.push(await outcome);
  };
  for (let n = 0; n < 3; n++) await request(true);
  assert.deepEqual(outcomes, ["answer", "answer", "It failed. This run has asked again 2 times already."]);
  for (let n = 0; n < 17; n++) await request(false);
  for (let n = 0; n < 3; n++) await request(true);
  assert.deepEqual(outcomes.slice(-3), [
    "answer",
    "answer",
    "It failed. This run has asked again 4 times already.",
  ]);
});

test("a stop ends a pause at once, and nobody asks after it", async () => {
  for (const code of [500, 429]) {
    const stop = new AbortController();
    const { clock, retry } = policy();
    let attempts = 0;
    const attempt = async () => {
      attempts++;
      throw status(code, 60_000);
    };
    const outcomes = Promise.allSettled([retry.run(attempt, stop.signal), retry.run(attempt, stop.signal)]);
    await Promise.resolve();
    stop.abort(new Error("stopped"));
    for (const outcome of await outcomes)
      assert.ok(outcome.status === "rejected" && outcome.reason === stop.signal.reason);
    await clock.run();
    assert.ok(attempts <= 2);
  }
});

test("a pause is never shorter than the service asked for, and else anything below a bound that doubles", () => {
  const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.option(fc.nat(900_000)),
      draw,
      (failed, asked, random) => {
        const pause = retryPauseMs(failed, asked, () => random);
        const bound = Math.min(60_000, 500 * 2 ** (failed - 1));
        if (asked === null) assert.ok(pause >= 0 && pause < bound);
        else assert.ok(pause >= asked && pause <= Math.max(asked, bound) + 1000);
      },
    ),
  );
  const spread = [0, 0.25, 0.99].map((random) => retryPauseMs(3, null, () => random));
  assert.deepEqual(spread, [0, 500, 1980]);
});
