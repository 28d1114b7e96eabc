import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCode, WarehouseError } from "../../../src/common/errors.ts";
import { silentLog } from "../../../src/common/log.ts";
import type { RepeatableRequest } from "../../../src/extract/http/retry.ts";
import type { RetryConfig } from "../../../src/extract/http/retry-rules.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import { FakeClock } from "../../fake-clock.ts";
import { NEVER } from "../../never.ts";
import { retryOf } from "../loopback.ts";

const failure = (code: ErrorCode, facts: ConstructorParameters<typeof SourceError>[2] = {}) =>
  new SourceError(code, "It failed.", facts);
const status = (code: number, retryAfterMs: number | null = null) =>
  failure("source.unavailable", { status: code, retryAfterMs });

/** A policy whose requests have no other to be told from. */
interface Policy {
  readonly run: <T>(attempt: RepeatableRequest<T>["attempt"], signal: AbortSignal) => Promise<T>;
}

function policy(changes: Partial<RetryConfig> = {}): { clock: FakeClock; retry: Policy } {
  const clock = new FakeClock();
  const retry = retryOf({ clock, ...changes });
  const check = () => Promise.reject(new Error("nothing is checked"));
  return { clock, retry: { run: (attempt, signal) => retry.run({ attempt, check }, signal) } };
}

/** Runs one request whose attempts fail with these errors in turn and then succeed; when each attempt began. */
async function attemptsOf(failures: readonly Error[], changes: Partial<RetryConfig> = {}, forever = false) {
  let retries = 0;
  const { warn } = changes.log ?? silentLog;
  const counting = (line: string) => {
    if (line.endsWith(" Retrying.")) retries += 1;
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
    assert.equal(outcome.message, "It failed. Gave up after 6 attempts.");
    assert.deepEqual(
      [outcome.code, outcome.status, outcome.retry],
      ["source.unavailable", failing.status, false],
    );
  }
});

const HOUR_MS = 3_600_000;

test("B1: refusals spend neither attempts nor retries, however many there are", async () => {
  const refusals = Array.from({ length: 100 }, (_, n) =>
    n % 2 === 0 ? status(429, 2000) : status(503, 1000),
  );
  const { outcome, retries } = await attemptsOf(refusals, { retries: false });
  assert.deepEqual([outcome, retries], ["answer", 0]);
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
  const twice = [failure("source.unreachable", { attemptsAtMost: 2 }), failure("source.damaged")];
  for (const error of twice) assert.equal((await attemptsOf([error], {}, true)).begun.length, 2);
});

async function refusedOnce(connections: number): Promise<void> {
  const { clock, retry } = policy({ random: () => 0, connections });
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
  // What was under way at that moment cannot be held back.
  const underWay = Array(Math.min(3, connections)).fill(0);
  assert.deepEqual(begun.slice(0, underWay.length), underWay);
  assert.ok(begun.length === 10 && begun.slice(underWay.length).every((at) => at >= 2010), begun.join());
}

test("B1: no worker asks again before the service said so, nor what waits for a connection", async () => {
  for (const connections of [1, 4]) await refusedOnce(connections);
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

test("B4: where the deadline falls between a pause and the next turn, the refusal is told, and nobody waits for it", async () => {
  const { clock, retry } = policy({ maxPerSecond: 0.1, deadline: { atMs: 15_000, minutes: 1 } });
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
  assert.match(outcome.message, /longer than `deadlineMinutes` \(1\) and was stopped; run again/);
});

test("a run asks again for at most a fifth of its requests, or twenty times", async () => {
  const { clock, retry } = policy();
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
    return outcome;
  };
  for (let n = 0; n < 20; n++) assert.equal(await request(true), "answer");
  assert.equal(await request(true), "It failed. 20 retries used; giving up.");
  for (let n = 0; n < 83; n++) await request(false);
  assert.equal(await request(true), "answer");
  assert.equal(await request(true), "It failed. 21 retries used; giving up.");
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
