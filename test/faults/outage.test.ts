import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Log, silentLog } from "../../src/common/log.ts";
import { failsWith } from "../failing.ts";
import { either, few, long } from "../long.ts";
import { type ExportOptions, HurriedClock, scriptedWorld, treeOf } from "../run/running.ts";
import { type Item, itemsOf, type Question, type Reply } from "../run/scripted.ts";

type Bad = Reply | "reset";

const MINUTE_MS = 60_000;
const HTML = { body: "<html>Back soon</html>", headers: { "content-type": "text/html" } };

/** A service of twelve items behind a clock that nobody waits for, and what the log says of it. */
async function worldOf(t: TestContext, items: readonly Item[] = itemsOf(12)) {
  const { service, out, exported } = await scriptedWorld(t, items);
  const clock = new HurriedClock();
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => lines.push(line) };
  const run = (options: Partial<ExportOptions> = {}) => exported({ clock, log, ...options });
  return { service, clock, lines, out, run };
}

const WEB = ({ kind }: Question) =>
  kind === "destinations" ? { body: [{ id: "d", identification: "Web" }] } : undefined;

/** From the first question that `begins` it the service is out for a minute, for everybody. */
function outFor(
  { service, clock }: Pick<Awaited<ReturnType<typeof worldOf>>, "service" | "clock">,
  outage: { readonly begins: (question: Question) => boolean; readonly bad: Bad },
) {
  let untilMs: number | undefined;
  /** Requests that were under way with each that met the outage. */
  const asked: number[] = [];
  service.script = (question) => {
    if (untilMs === undefined && outage.begins(question)) untilMs = clock.elapsedMs() + MINUTE_MS;
    if (untilMs === undefined || clock.elapsedMs() >= untilMs) return WEB(question);
    asked.push(service.underWay);
    return outage.bad;
  };
  return asked;
}

const BAD: Readonly<Record<string, Bad>> = {
  "A5: a reset": "reset",
  "B5: 500": { status: 500 },
  "B5: 502": { status: 502, body: "<html>Bad gateway</html>" },
  "B5: 503": { status: 503 },
  "B5: 504": { status: 504 },
  "B14: a maintenance page": HTML,
  "B5: an error with 200": { body: { error: "The database is restarting." } },
};

/** Where each begins; all but the first after answers of the same run. */
const STAGES: Readonly<Record<string, (question: Question) => boolean>> = {
  "the first request": () => true,
  "the choice of a page size": ({ kind, perPage }) => kind === "list" && perPage > 100,
  "the dynamic listing": ({ kind, mode, page }) => kind === "list" && mode === "dynamic" && page === 2,
  "single items": ({ kind, id }) => kind === "item" && id === "c-004",
  "the full listing": ({ kind, mode, page }) => kind === "list" && mode === "full" && page === 2,
  "the lookup of custom fields": ({ kind }) => kind === "custom_fields",
  "items that are gone": ({ kind, id }) => kind === "item" && id === "c-011",
};

/** Each stage with each fault; in the short form with one. */
const CASES = Object.keys(STAGES).flatMap((stage, place) =>
  either(Object.keys(BAD).slice(place, place + 1), Object.keys(BAD)).map((bad) => ({ stage, bad })),
);

for (const { stage, bad } of few(CASES, 3)) {
  test(`${bad} for a minute, from ${stage} on, is waited for by all and costs nothing`, async (t) => {
    const isSizes = stage === "the choice of a page size";
    const world = await worldOf(t, itemsOf(isSizes ? 300 : 12));
    const { service, lines, run } = world;
    const lookups = { destinations: [{ name: "Web", platform: "External" }], customFields: ["Desk"] };
    const sizes = isSizes ? ({ details: "none", perPage: "auto" } as const) : ({ details: "all" } as const);
    const config = { ...lookups, ...sizes, concurrency: 4 };
    service.script = WEB;
    if (stage === "the first request" || stage === "items that are gone") await run({ config });
    if (stage === "items that are gone") service.items = itemsOf(11);
    const asked = outFor(world, { begins: STAGES[stage] ?? (() => false), bad: BAD[bad] ?? HTML });
    const {
      verdict,
      items: accounting,
      found: { outages },
    } = await run({ config });
    assert.equal(verdict, "complete");
    assert.equal(accounting.loaded, service.items.length);
    assert.equal(outages?.count, 1);
    const { seconds } = outages;
    assert.ok(seconds >= 60 && seconds < 91, `${seconds} s`);
    // What was under way, then one check after another with growing pauses.
    assert.ok(asked.length > 4 && asked.length < 30, `${asked.length} requests`);
    assert.deepEqual(asked.slice(-3), [1, 1, 1]);
    assert.match(lines[0] ?? "", /Waiting for the service until 02:\d\d:\d\d UTC\.$/);
    // The last check that failed may be of the outage's last half second, which is rounded up.
    const told = /it was out for at least (\d+ s|1 min 0 s), and the run waited 1 min \d+ s\.$/.exec(
      lines.at(-1) ?? "",
    );
    assert.ok(told?.[1] === "1 min 0 s" || Number.parseInt(told?.[1] ?? "", 10) > 15, lines.join("\n"));
    assert.ok(lines.length <= 5, lines.join("\n"));
  });
}

test("A1, A22: a service that is stopped and started again is waited for, and one request at a time asks", async (t) => {
  const { service, run, clock, lines } = await worldOf(t, itemsOf(60));
  const port = Number(new URL(service.url).port);
  const stopped = Promise.withResolvers<void>();
  service.script = ({ page, mode }) => {
    if (mode !== "full" || page !== 3) return undefined;
    service.script = () => undefined;
    service.close();
    service.atOnce = 0;
    stopped.resolve();
    return "hang";
  };
  clock.onSleep = async () => {
    await stopped.promise;
    if (clock.elapsedMs() >= MINUTE_MS) await service.listen(port).catch(() => {});
  };
  const {
    verdict,
    found: { outages },
  } = await run({ config: { concurrency: 8 } });
  assert.deepEqual([verdict, outages?.count], ["complete", 1]);
  assert.ok(lines.length <= 5, lines.join("\n"));
});

test("A1: an address that never answered fails after ten seconds, and says to check it", async (t) => {
  const { service, run, clock, out } = await worldOf(t);
  service.close();
  const { message, exitCode } = await failsWith("source.unreachable", run());
  assert.equal(exitCode, 21);
  assert.match(message, /gave no usable answer within 10 s, .+; check the URL \(CONTENT_API_URL\)/);
  assert.ok(clock.elapsedMs() >= 10_000 && clock.elapsedMs() < 11_000, `${clock.elapsedMs()} ms`);
  assert.deepEqual(await treeOf(out), []);
});

for (const [what, personalFields] of few(
  Object.entries({ "an item": [], "a personal field": ["excerpt"] }),
  1,
)) {
  test(`A1, A22: a new address behind a gateway that says 503 is waited for, ${what} being asked for first`, async (t) => {
    const { service, run, clock } = await worldOf(t);
    service.script = () => (clock.elapsedMs() < MINUTE_MS ? { status: 503 } : undefined);
    const {
      verdict,
      found: { outages },
    } = await run({ config: { personalFields } });
    assert.deepEqual([verdict, outages?.count], ["complete", 1]);
  });
}

test("A22: an outage is waited for as long as outageMinutes says, by all together, and the next run goes on", async (t) => {
  const { service, run, clock, lines } = await worldOf(t);
  const config = { details: "all", outageMinutes: 5 } as const;
  let answered = 0;
  service.script = (question) => {
    if (question.kind === "item") answered += 1;
    return answered > 6 ? { status: 502 } : undefined;
  };
  const { message, exitCode } = await failsWith("source.unavailable", run({ config }));
  assert.equal(exitCode, 21);
  assert.match(
    message,
    /^\S+ did not answer for 5 min 0 s \(`outageMinutes` is 5\); run again to resume the run\. Last failure: .+ \(502\)/,
  );
  assert.ok(!message.includes("check the URL"));
  assert.ok(clock.elapsedMs() >= 300_000 && clock.elapsedMs() < 301_000, `${clock.elapsedMs()} ms`);
  assert.ok(lines.length <= 13, lines.join("\n"));
  service.script = () => undefined;
  service.questions.length = 0;
  const { verdict, resumed } = await run({ config });
  assert.equal(verdict, "complete");
  assert.deepEqual(resumed, { pages: 3, items: 6 });
  // The resumed run asks which instance answers.
  assert.equal(service.asked("list", "dynamic").length, 1);
});

test("A22: the deadline bounds an outage too, and is named", async (t) => {
  const { service, run, clock } = await worldOf(t);
  service.script = ({ number }) => (number > 2 ? "reset" : undefined);
  const { message } = await failsWith("source.unreachable", run({ config: { deadlineMinutes: 2 } }));
  assert.match(message, /did not answer for 2 min 0 s \(`deadlineMinutes` is 2\); run again to resume/);
  assert.ok(clock.elapsedMs() < 121_000, `${clock.elapsedMs()} ms`);
});

test("A22: with outageMinutes 0 nothing is waited for beyond the attempts of a request", async (t) => {
  const { service, run } = await worldOf(t);
  service.script = ({ number }) => (number > 2 ? { status: 502 } : undefined);
  const failed = failsWith("source.unavailable", run({ config: { outageMinutes: 0, concurrency: 1 } }));
  assert.match((await failed).message, /Gave up after 6 attempts\.$/);
  assert.equal(service.questions.length, 2 + 6);
});

test("B8: a token that is refused after an outage ends the run with 20", async (t) => {
  const { service, run, clock } = await worldOf(t);
  service.script = ({ number }) => {
    if (number <= 2) return undefined;
    return clock.elapsedMs() < MINUTE_MS ? { status: 502 } : { status: 401 };
  };
  assert.equal((await failsWith("source.credentials", run())).exitCode, 20);
});

test("A20: a service that resets each fourth use of a connection is read without a failure", async (t) => {
  const { service, run, lines, clock } = await worldOf(t, itemsOf(60));
  service.script = ({ use }) => (use === 4 ? "reset" : undefined);
  const {
    verdict,
    found: { outages },
  } = await run({ config: { concurrency: 2 } });
  assert.deepEqual([verdict, outages, clock.elapsedMs()], ["complete", null, 0]);
  assert.equal(lines.length, 1);
  assert.match(lines.join(), /closes kept connections; each request opens a new one from now on\.$/);
  assert.ok(
    service.questions.slice(-5).every(({ use }) => use === 1),
    "connections are kept",
  );
});

long("E5: the only single item of a run that always fails is a reject too", async (t) => {
  const items = itemsOf(3);
  const { service, run } = await worldOf(t, items);
  service.script = ({ kind }) => (kind === "item" ? { status: 500 } : undefined);
  const {
    verdict,
    found: { outages },
  } = await run({ config: { details: "events", concurrency: 1 } });
  assert.deepEqual([verdict, outages, service.asked("item").length], ["complete", null, 6]);
});
