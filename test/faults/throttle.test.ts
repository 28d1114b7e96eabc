import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { silentLog } from "../../src/common/log.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { capture } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import { type ExportOptions, HurriedClock, scriptedWorld } from "../run/running.ts";
import { itemsOf, type Question, type Reply, type Scripted } from "../run/scripted.ts";

/** A request as it was met. */
interface Met {
  readonly atMs: number;
  readonly refused: boolean;
}

interface Limited {
  readonly service: Scripted;
  readonly clock: HurriedClock;
  readonly met: Met[];
  readonly run: (options?: Partial<ExportOptions>) => Promise<RunSummary>;
}

/** A service of 300 items that refuses what `refuse` names a reply for; 60 pages in each listing, and no waiting. */
async function limited(
  t: TestContext,
  refuse: (atMs: number, question: Question) => Reply | undefined,
): Promise<Limited> {
  const { service, exported } = await scriptedWorld(t, itemsOf(300));
  const clock = new HurriedClock();
  const met: Met[] = [];
  service.script = (question) => {
    const atMs = clock.elapsedMs();
    const reply = refuse(atMs, question);
    met.push({ atMs, refused: reply !== undefined });
    return reply;
  };
  // One connection: while a request is under way, no time passes.
  const run = ({ config, ...options }: Partial<ExportOptions> = {}) =>
    exported({
      clock,
      config: { concurrency: 1, ...config },
      ...options,
    });
  return { service, clock, met, run };
}

function tooMany(wait: number | string | null): Reply {
  return { status: 429, ...(wait === null ? {} : { headers: { "retry-after": String(wait) } }) };
}

/** A bucket of one second's requests that is full at first, and whole seconds in `Retry-After`. */
function tokenBucket(perSecond: number): (atMs: number) => Reply | undefined {
  let tokens = perSecond;
  let lastMs = 0;
  return (atMs) => {
    tokens = Math.min(perSecond, tokens + ((atMs - lastMs) / 1000) * perSecond);
    lastMs = atMs;
    if (tokens < 1) return tooMany(Math.max(1, Math.ceil((1 - tokens) / perSecond)));
    tokens -= 1;
    return undefined;
  };
}

for (const perSecond of few([5, 1], 1)) {
  test(`B4a: a token bucket of ${perSecond} a second is kept to and used up`, async (t) => {
    const { clock, met, run } = await limited(t, tokenBucket(perSecond));
    const summary = await run();
    assert.equal(summary.verdict, "complete");
    const answered = met.filter(({ refused }) => !refused).length;
    const needMs = (answered / perSecond) * 1000;
    // A second is what the first pause takes from a run that would need no more than a few.
    assert.ok(clock.elapsedMs() <= 1.15 * needMs + 1000, `${clock.elapsedMs()} ms, ${needMs} needed`);
    const late = met.filter(({ atMs }) => atMs > 30_000);
    const refused = late.filter((each) => each.refused).length;
    assert.ok(refused <= 0.05 * late.length, `${refused} of ${late.length}`);
    const ratePerSecond = summary.found.throttled?.ratePerSecond ?? 0;
    assert.ok(ratePerSecond > 0.8 * perSecond && ratePerSecond < 1.2 * perSecond, String(ratePerSecond));
    const refusals = met.length - answered;
    assert.equal(summary.found.throttled?.refused, refusals);
    const shown = await capture(runsCommand, ["show", "--warehouse", summary.warehouse]);
    const told = `${refusals} refused for their rate, limited to about ${ratePerSecond} a second, `;
    assert.ok(shown.replaceAll(/\s+/g, " ").includes(told), shown);
  });
}

/** Requests that are made evenly, at about this rate, from the first one on. */
function assertSpaced(met: readonly Met[], perSecond: number): void {
  for (const [place, { atMs }] of met.entries()) {
    const gapMs = atMs - (met[place - 1]?.atMs ?? Number.NEGATIVE_INFINITY);
    assert.ok(gapMs >= 800 / perSecond, `${gapMs} ms between requests ${place - 1} and ${place}`);
  }
}

long("B4a: the rate that was found is kept, and the next run begins with it", async (t) => {
  const { met, run } = await limited(t, tokenBucket(3));
  const {
    directory,
    found: { throttled },
  } = await run();
  const manifest = JSON.parse(await readFile(join(directory, "manifest.json"), "utf8"));
  assert.equal(manifest.found.throttled.ratePerSecond, throttled?.ratePerSecond);
  const before = met.length;
  await run();
  assertSpaced(met.slice(before, before + 20), 3);
});

long("B4a: a run that no service holds back keeps no rate", async (t) => {
  const { run } = await limited(t, () => undefined);
  const {
    directory,
    found: { throttled },
  } = await run();
  assert.equal(throttled, null);
  const manifest = JSON.parse(await readFile(join(directory, "manifest.json"), "utf8"));
  assert.equal(manifest.found.throttled, null);
});

long("B4a: a run that is resumed goes on at the rate that it had come to", async (t) => {
  let revoked = 80;
  const bucket = tokenBucket(3);
  const { met, run } = await limited(t, (atMs) => (revoked-- === 0 ? { status: 401 } : bucket(atMs)));
  await failsWith("source.credentials", run());
  const before = met.length;
  assert.equal((await run()).verdict, "complete");
  assertSpaced(met.slice(before, before + 20), 3);
});

for (const seconds of few([null, 10], 1)) {
  test(`B4: a service that refuses everything for three minutes is waited for, ${seconds === null ? "without" : "with"} Retry-After`, async (t) => {
    const { clock, met, run } = await limited(t, (atMs) => (atMs < 180_000 ? tooMany(seconds) : undefined));
    assert.equal((await run()).verdict, "complete");
    assert.ok(met.filter(({ refused }) => refused).length < 30, `${met.length} requests`);
    assert.ok(clock.elapsedMs() < 300_000, `${clock.elapsedMs()} ms`);
  });
}

const WISHES: readonly (readonly [wish: string, seconds: number])[] = [
  ["19.5", 20],
  ["2, 20", 20],
  ["Friday, 20-Nov-26 02:00:20 GMT", 20],
  ["Fri Nov 20 02:00:20 2026", 20],
  // Pauses grow until one of them is long enough.
  ["a while", 8],
];

for (const [wish, seconds] of few(WISHES, 1)) {
  test(`B2: "Retry-After: ${wish}" of a service that begins its wait anew when it is asked too early is understood`, async (t) => {
    let closedUntilMs: number | undefined;
    const { met, run } = await limited(t, (atMs, { number }) => {
      if (number === 40) closedUntilMs = 0;
      if (closedUntilMs === undefined || (closedUntilMs > 0 && atMs >= closedUntilMs)) return undefined;
      closedUntilMs = atMs + seconds * 1000;
      return { ...tooMany(wish), status: 503 };
    });
    const lines: string[] = [];
    const log = { ...silentLog, warn: (line: string) => void lines.push(line) };
    const {
      verdict,
      found: { outages },
    } = await run({ log });
    assert.deepEqual([verdict, outages], ["complete", null]);
    assert.match(
      lines.join("\n"),
      seconds === 20 ? /asks to wait 20 s/ : /Retry-After that cannot be read \(a while\)/,
    );
    const refused = met.filter((each) => each.refused).length;
    assert.ok(seconds === 20 ? refused === 1 : refused < 15, `${refused} refusals`);
  });
}

long(
  "B4: a service that refuses for ever is asked until the deadline, ever more seldom, and the next run goes on",
  async (t) => {
    let open = true;
    const { met, run, clock, service } = await limited(t, (_, { number }) => {
      return open && number <= 50 ? undefined : tooMany(null);
    });
    const { message, exitCode } = await failsWith(
      "source.unavailable",
      run({ config: { deadlineMinutes: 30 } }),
    );
    assert.match(
      message,
      /asks for fewer requests \(429\).*The next retry would be after `deadlineMinutes` \(30\)\.$/,
    );
    assert.equal(exitCode, 21);
    assert.ok(clock.elapsedMs() <= 30 * 60_000);
    const refused = met.filter((each) => each.refused).length;
    assert.ok(refused > 20 && refused < 180, `${refused} refusals in half an hour`);
    open = false;
    service.script = () => undefined;
    assert.equal((await run({ config: { deadlineMinutes: 30 } })).verdict, "complete");
  },
);
