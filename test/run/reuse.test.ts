/** Documents of the run before that stand in for requests for single items. */
import assert from "node:assert/strict";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Log } from "../../src/common/log.ts";
import { silentLog } from "../../src/common/log.ts";
import type { Config } from "../../src/config/config.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { differingTables } from "../differing-tables.ts";
import { failsWith } from "../failing.ts";
import { either, few, long } from "../long.ts";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A service that gives `payment` in single items alone, and whose answers say its time; `now` is that of the runs. */
async function nights(t: TestContext, items: readonly Item[], settings: Partial<Config> = {}) {
  const service = await Scripted.start(t, items);
  const out = await temporaryFolder(t);
  const world = { now: Date.UTC(2026, 10, 20, 2), isStill: false };
  const script = (question: Question): Reply => {
    const headers = {
      date: world.isStill ? "Sat, 21 Nov 2026 02:00:00 GMT" : new Date(world.now).toUTCString(),
    };
    if (question.kind === "item") {
      const found = service.items.find((each) => (each as Item).id === question.id);
      return found === undefined ? { status: 404, headers } : { headers, body: { response: found } };
    }
    if (question.kind !== "list") return { headers, body: [] };
    const listed = service.items.map((each) => {
      const { payment: _, ...rest } = each as Item;
      return rest;
    });
    return { headers, body: listBody(listed, question) };
  };
  service.script = script;
  const run = async (config: Partial<Config> = {}, log: Log = silentLog) => {
    service.questions.length = 0;
    const whole = { details: "all", perPage: 10, ...settings, ...config } as const;
    return exportFrom({ url: service.url, out, config: whole, log, clock: new HurriedClock(world.now) });
  };
  return {
    service,
    script,
    world,
    out,
    run,
    /** IDs that the last run asked for singly. */
    asked: () => [...new Set(service.asked("item").map(({ id }) => id))].sort(),
    edit: (id: string, changes: Readonly<Record<string, unknown>>) => {
      service.items = service.items.map((each) =>
        (each as Item).id === id ? { ...(each as Item), ...changes } : each,
      );
    },
  };
}

const paid = (count: number): Item[] =>
  itemsOf(count).map((item, index) => ({ ...item, payment: index + 0.5 }));

const ALL = paid(20).map(({ id }) => id);

test("what is asked for in the nights of one warehouse", async (t) => {
  const { run, asked, edit, world, service, script } = await nights(t, paid(20));
  await run();
  assert.deepEqual(asked(), ALL);

  await t.test("an item of which the listing says another thing", async () => {
    edit("c-003", { title: "Edited" });
    edit("c-004", { favorite_count: 7, author_details: { id: "u1", tz: "Europe/Vienna" } });
    const { directory } = await run();
    assert.deepEqual(asked(), ["c-003"]);
    const payments = "SELECT count(*), count(payment), count(DISTINCT payment) FROM content";
    assert.deepEqual(await rowsOf(directory, payments), [["20", "20", "20"]]);
    const anew = await run({ rereadDays: 0 });
    assert.deepEqual([anew.found.singleItems.reused, asked()], [0, ALL]);
    assert.deepEqual(await differingTables(directory, anew.directory), []);
    const drift = "FROM run_drift ORDER BY ALL";
    assert.deepEqual(await rowsOf(directory, drift), await rowsOf(anew.directory, drift));
  });

  await t.test("an item whose answer was of another state than its listing, or of that second", async () => {
    edit("c-005", { title: "Edited" });
    edit("c-006", { title: "Edited" });
    edit("c-007", { updated_at: new Date(world.now).toISOString() });
    const others: Readonly<Record<string, object>> = {
      "c-005": { updated_at: "2026-11-01T09:59:59Z" },
      "c-006": { published: true },
    };
    service.script = (question) => {
      const reply = script(question);
      if (question.kind !== "item") return reply;
      const { response } = reply.body as { readonly response: object };
      return { ...reply, body: { response: { ...response, ...others[question.id] } } };
    };
    await run();
    service.script = script;
    world.now += 60_000;
    await run();
    assert.deepEqual(asked(), ["c-005", "c-006", "c-007"]);
  });

  await t.test(
    "G14: each item once in `rereadDays`, by the run's clock, even if the service's stands still",
    async () => {
      await run({ rereadDays: 0 });
      const due: string[] = [];
      for (const half of ["first", "second"]) {
        world.isStill = half === "first";
        world.now += 3.5 * DAY_MS;
        const { singleItems } = (await run()).found;
        assert.ok(asked().length > 2 && asked().length < 18, `${asked().length} in the ${half} half`);
        assert.deepEqual(singleItems, { requested: asked().length, reused: 20 - asked().length });
        due.push(...asked());
      }
      assert.deepEqual(due.sort(), ALL);
    },
  );

  await t.test("all items where the run's clock went back, or the settings are others", async () => {
    world.now -= 4 * DAY_MS;
    await run();
    assert.deepEqual(asked(), ALL);
    for (const settings of either(SETTINGS.slice(-1), SETTINGS)) {
      const { singleItems } = (await run(settings)).found;
      assert.deepEqual([singleItems.reused, asked()], [0, ALL]);
    }
    await run(SETTINGS.at(-1));
    assert.deepEqual(asked(), []);
  });
});

/** In the short form the last. */
const SETTINGS: readonly Partial<Config>[] = [
  { columns: ["id", "title", "updated_at", "payment", "tasks_begin_at"] },
  { personalFields: ["tags"] },
  { aliases: { paid_amount: "payment" } },
  { personalData: { policy: "keep", key: null } },
];

const DAMAGES: Readonly<Record<string, (file: string) => Promise<void>>> = {
  damaged: async (file) => {
    const bytes = await readFile(file);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    await chmod(file, 0o600);
    await writeFile(file, bytes);
  },
  missing: (file) => rm(file),
};

long("nights of one warehouse in which something goes wrong", async (t) => {
  const { run, asked, service, script, out } = await nights(t, paid(20));
  const refused = ["c-001", "c-002"];
  const gone = ["c-003", "c-004", "c-005"];
  const failing = (question: Question) => {
    if (question.kind !== "item") return script(question);
    if (refused.includes(question.id)) return { status: 403 };
    return gone.includes(question.id) ? { status: 404 } : script(question);
  };
  service.script = failing;
  await run();

  await t.test("what failed before is asked for again", async () => {
    const { verdict } = await run();
    assert.deepEqual([verdict, asked()], ["complete", [...refused, ...gone]]);
    service.script = script;
  });

  await t.test("a run that goes on keeps what it reused, and reuses the rest", async () => {
    const asks = [...refused, ...gone];
    service.script = (question) =>
      question.kind === "list" && question.mode === "full" ? { status: 401 } : script(question);
    await failsWith("source.credentials", run());
    assert.deepEqual(asked(), asks);
    service.script = script;
    const { directory, resumed } = await run();
    assert.deepEqual([resumed?.items, asked()], [20, []]);
    assert.deepEqual(await rowsOf(directory, "SELECT count(payment) FROM content"), [["20"]]);
    const { facts } = await readRawFolder(join(directory, "raw"));
    assert.deepEqual([facts.found.singleItems.requested, facts.found.singleItems.reused], [5, 15]);
  });

  for (const [how, damage] of few(Object.entries(DAMAGES), 1)) {
    await t.test(`nothing is reused where a raw file is ${how}, with one warning`, async () => {
      const before = (await currentRun(outputFolder(out))) ?? "";
      const current = join(outputFolder(out).runs, before);
      const { takeIndex } = await readRawFolder(join(current, "raw"));
      const [file = ""] = takeIndex().files.flatMap(({ path }) => (path.includes("/item/") ? [path] : []));
      await chmod(join(current, "raw/item"), 0o700);
      await damage(file);
      const warnings: string[] = [];
      const summary = await run({}, { ...silentLog, warn: (message) => warnings.push(message) });
      assert.equal(summary.verdict, "complete");
      assert.deepEqual(asked(), ALL);
      assert.equal(summary.found.singleItems.reused, 0);
      const { facts } = await readRawFolder(join(summary.directory, "raw"));
      const finding = facts.found.reuseDamage ?? "";
      assert.match(
        finding,
        /^its file raw\/item\/\S+ (has different content than it was published with|is missing or cannot be read)$/,
      );
      const sentence = `Nothing is reused from the run before, and all single items are requested: ${finding}.`;
      assert.deepEqual([warnings, summary.warnings, summary.newWarnings], [[], [sentence], [sentence]]);
    });
  }
});

test("failures count among all items, whether they are requested or reused", async (t) => {
  for (const [how, failure, told] of few(FAILURES, 1)) {
    await t.test(how, async (t) => {
      const { run, asked, script, service } = await nights(t, paid(20));
      const failing = ALL.slice(0, 5);
      service.script = (question) =>
        question.kind === "item" && failing.includes(question.id) ? failure : script(question);
      await run();
      const { verdict } = await run();
      assert.deepEqual([verdict, asked()], ["complete", failing]);
      const { message } = await failsWith("source.rejects", run({ maxRejects: { items: 4, share: 0 } }));
      assert.ok(message.startsWith(`5 of 20 ${told}, limit: 4;`), message);
    });
  }
});

const FAILURES: readonly (readonly [how: string, failure: Reply, told: string])[] = [
  ["gone", { status: 404 }, "listed items returned 404 or 410 when requested singly"],
  [
    "another item in the answer",
    { body: { response: { ...paid(1)[0], id: "other" } } },
    "single-item requests were not answered with the item",
  ],
];
