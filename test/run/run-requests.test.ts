import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { WorkQueue } from "../../src/common/threads/work-queue.ts";
import { recordOf } from "../../src/extract/journal.ts";
import { ByteBudget } from "../../src/extract/pages/byte-budget.ts";
import { few, long } from "../long.ts";
import { NEVER } from "../never.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

suite("requests", () => {
  long("at most `concurrency` are under way, of the listings and of single items", async (t) => {
    for (const concurrency of few([3, 1], 1)) {
      const service = await Scripted.start(t, itemsOf(60));
      const config = { concurrency, perPage: 3, details: "all" } as const;
      await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, config });
      assert.equal(service.atOnce, concurrency);
    }
  });

  test("no more than `ratePerSecond` are begun in a second, lookups, single items and repeated ones included", async (t) => {
    const service = await Scripted.start(t, itemsOf(20));
    const clock = new HurriedClock();
    const begun: number[] = [];
    service.script = ({ number }) => {
      begun.push(clock.elapsedMs());
      return number === 5 ? { status: 503 } : undefined;
    };
    const config = {
      ratePerSecond: 4,
      destinations: [{ name: "Site", platform: "External" }],
      details: "events",
      // One after the other, so that the time at the service is the time of asking.
      concurrency: 1,
    } as const;
    await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, clock, config });
    // A lookup, four dynamic pages, two events, four full pages, one page twice, and what shows that the service answers
    // others; no item names a custom field.
    assert.equal(begun.length, 13);
    for (let first = 0; first + 4 < begun.length; first++) {
      assert.ok(
        Math.round((begun[first + 4] ?? 0) - (begun[first] ?? 0)) >= 1000,
        `five within a second: ${begun.join(", ")}`,
      );
    }
  });

  long("without `ratePerSecond` nobody waits", async (t) => {
    const service = await Scripted.start(t, itemsOf(20));
    const clock = new HurriedClock();
    await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, clock });
    assert.deepEqual(clock.slept, []);
  });

  const singly = [
    ["events", ["c-000", "c-010", "c-020"]],
    ["none", []],
    ["all", itemsOf(25).map(({ id }) => id)],
  ] as const;
  for (const [details, wanted] of few(singly, 2)) {
    test(`details: "${details}" asks for ${wanted.length === 25 ? "all" : wanted.length} items singly, each once`, async (t) => {
      const service = await Scripted.start(t, itemsOf(25));
      // The first item is listed on two pages of the dynamic pass.
      service.arrange = (items, { mode, page }) =>
        mode === "dynamic" && page > 1 ? [...items.slice(0, 6), items[0], ...items.slice(7)] : items;
      await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, config: { details } });
      // That one and the one that it pushed out are repaired afterwards: asked for in both shapes.
      const repaired = ["c-000", "c-000", "c-006", "c-006"];
      const seen = wanted.filter((id) => id !== "c-006");
      assert.deepEqual(
        service
          .asked("item")
          .map(({ id }) => id)
          .sort(),
        [...seen, ...repaired].sort(),
      );
    });
  }

  long(
    "events are known where the configuration leaves their body type out of the columns, under another name too",
    async (t) => {
      const service = await Scripted.start(
        t,
        itemsOf(12).map(({ body_type, ...rest }) => ({ ...rest, vendor_body_type: body_type })),
      );
      const config = {
        columns: ["title"],
        aliases: { vendor_body_type: "body_type" },
        details: "events",
      } as const;
      await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, config });
      assert.deepEqual(
        service
          .asked("item")
          .map(({ id }) => id)
          .sort(),
        ["c-000", "c-010"],
      );
      assert.deepEqual(service.asked("list", "dynamic")[0]?.columns, ["title", "vendor_body_type"]);
    },
  );

  test("the lookups are made once in every run", async (t) => {
    const service = await Scripted.start(t, itemsOf(2));
    const out = await temporaryFolder(t);
    const config = { customFields: ["Region"], destinations: [{ name: "Site", platform: "External" }] };
    for (const runs of [1, 2]) {
      await exportFrom({ url: service.url, out, threads: 1, config });
      assert.equal(service.asked("custom_fields").length, runs);
      assert.equal(service.asked("destinations").length, runs);
    }
  });
});

suite("a queue of requests", { timeout: 10_000 }, () => {
  test("does so many tasks at a time, and takes no more than wait", async () => {
    const queue = new WorkQueue(2, NEVER);
    const gates: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const task = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((open) => gates.push(open));
      running -= 1;
    };
    let queued = 0;
    const filling = (async () => {
      for (; queued < 10; queued++) await queue.add(task);
    })();
    for (let turns = 0; turns < 5; turns++) await turn();
    assert.deepEqual([running, queued], [2, 4]);
    while (gates.length > 0) {
      for (const open of gates.splice(0)) open();
      for (let turns = 0; turns < 5; turns++) await turn();
    }
    await filling;
    await queue.done();
    assert.deepEqual([most, queued], [2, 10]);
  });

  test("ends with the first failure of a task or of followed work, and tells everything under way", async () => {
    for (const failing of ["a task", "followed work"]) {
      const queue = new WorkQueue(2, NEVER);
      const heard: unknown[] = [];
      await queue.add(
        () =>
          new Promise((_, reject) => {
            queue.signal.addEventListener("abort", () => {
              heard.push(queue.signal.reason.message);
              reject(queue.signal.reason);
            });
          }),
      );
      const fail = async () => {
        throw new Error("first");
      };
      if (failing === "a task") await queue.add(fail);
      else queue.follow(fail());
      await assert.rejects(queue.done(), { message: "first" });
      await assert.rejects(queue.add(fail), { message: "first" });
      assert.deepEqual(heard, ["first"], failing);
    }
  });

  test("ends with the reason of the signal from outside", async () => {
    const outside = new AbortController();
    const queue = new WorkQueue(1, outside.signal);
    await queue.add(async () => {
      outside.abort(new Error("stop"));
      queue.signal.throwIfAborted();
    });
    await assert.rejects(queue.done(), { message: "stop" });
  });

  test("waits for followed work that follows on itself", async () => {
    const queue = new WorkQueue(1, NEVER);
    const done: string[] = [];
    queue.follow(
      turn().then(() => {
        done.push("one");
        queue.follow(turn().then(() => done.push("two")));
      }),
    );
    await queue.done();
    assert.deepEqual(done, ["one", "two"]);
  });
});

suite("a bound on bytes under way", () => {
  test("lets takers in while there is room, in their order, and one in any case", async () => {
    const budget = new ByteBudget(100);
    const taken: string[] = [];
    const take = (name: string, bytes: number) => budget.take(bytes).then(() => taken.push(name));
    await take("whole", 300);
    const waiting = [take("first", 60), take("second", 60), take("third", 10)];
    await turn();
    assert.deepEqual(taken, ["whole"]);
    budget.give(300);
    await turn();
    assert.deepEqual(taken, ["whole", "first"], "a smaller one does not overtake");
    budget.give(60);
    await Promise.all(waiting);
    assert.deepEqual(taken, ["whole", "first", "second", "third"]);
  });
});

test("the record of a request is small, whatever the answer was", () => {
  const body = new Uint8Array(1_000_000);
  const response = {
    status: 200,
    contentType: "application/json",
    contentEncoding: null,
    date: null,
    ageSeconds: null,
    retryAfterMs: null,
    body,
    sha256: "0".repeat(64),
    milliseconds: 12.5,
    attempts: 2,
  };
  const record = recordOf(response, { mode: "full", pass: 2, page: 7, observedAt: 1, bytes: body.length });
  assert.ok(Object.values(record).every((value) => value === null || typeof value !== "object"));
  assert.deepEqual([record.bytes, record.attempts, record.page], [1_000_000, 2, 7]);
});
