/** An instance that is removed: kills at each operation, who delivers at the same time, and its name again. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { readTable, readTableAt } from "../../../src/targets/lake/delta/read.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/retention.ts";
import { filesOf } from "../../../src/targets/lake/delta/state.ts";
import { historyOf } from "../../../src/targets/lake/history.ts";
import { type Removable, removable, removeInstance } from "../../../src/targets/lake/remove.ts";
import { lakeStatus } from "../../../src/targets/lake/status.ts";
import { vacuumLake } from "../../../src/targets/lake/vacuum.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { many, sweep } from "../../long.ts";
import fc from "../../properties.ts";
import { deliver, on } from "./deliver.ts";
import { type Death, Killed, killedAt, memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { atOnce, type Process, processes } from "./processes.ts";
import { assertNothingMixed, makeRun, mark, SERVICE, seenIn, snapshotsIn, tablesIn } from "./runs.ts";

const { signal } = new AbortController();
const OTHER_SERVICE = { id: "id-2", origin: "https://two.example" };
const RETENTION = { logRetentionDays: 1 };

function placeOf(store: Store, instance = "one") {
  return { store, instance, ...RETENTION };
}

async function remove(store: Store, instance = "one"): Promise<Removable> {
  const place = placeOf(store, instance);
  const found = await removable(place);
  await removeInstance(place, found, { attempt: randomUUID(), atMs: Date.now() }, signal);
  return found;
}

/** Paths of an instance's files in the newest versions, by table. */
async function filesIn(store: Store, instance: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const table of await tablesIn(store)) {
    const state = await readTable(store, table);
    const paths = state === null ? [] : filesOf(state, instance).map(({ path }) => path);
    if (paths.length > 0) found[table] = paths.toSorted();
  }
  return found;
}

const keysBelow = (objects: Objects, prefix: string) =>
  [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();

suite("an instance that is removed from a lake", () => {
  let folder = "";
  /** Two runs of `one`, one of `two`. */
  const begun: Objects = new Map();
  let before2: Awaited<ReturnType<typeof seenOfTwo>>;
  let runs: Record<"a3" | "b3" | "n1" | "n2" | "t2" | "z9", DeliveredRun>;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-remove-")));
    const old = Date.now() - 3 * DAY_MS;
    const store = memoryStore(begun, () => old);
    for (const [sequence, machine] of [
      [1, "a"],
      [2, "a"],
    ] as const)
      await deliver(on(store), await makeRun(folder, { sequence, machine, steady: { content: 2 } }));
    const service = { id: "id-t", origin: "https://t.example" };
    const ofTwo = (sequence: number) => makeRun(folder, { sequence, machine: "t", instance: service });
    await deliver(on(store, "two"), await ofTwo(1));
    before2 = await seenOfTwo(store);
    const again = (sequence: number) =>
      makeRun(folder, { sequence, machine: "n", instance: OTHER_SERVICE, tables: { content: 1, more: 2 } });
    runs = {
      a3: await makeRun(folder, { sequence: 3, machine: "a", tables: { content: 4, tags: 5, fresh: 1 } }),
      b3: await makeRun(folder, { sequence: 3, machine: "b" }),
      n1: await again(1),
      n2: await again(2),
      t2: await ofTwo(2),
      z9: await makeRun(folder, {
        sequence: 9,
        machine: "z",
        instance: { id: "id-9", origin: "https://9" },
        tables: { content: 1 },
      }),
    };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function seenOfTwo(store: Store) {
    return { files: await filesIn(store, "two"), snapshots: await snapshotsIn(store, "two") };
  }

  /** The rows of `one` are gone, and all that is not a row but a mark of the removal, at this number. */
  async function assertRemoved(objects: Objects, number: number): Promise<void> {
    const store = memoryStore(objects);
    assert.deepEqual(await filesIn(store, "one"), {});
    assert.deepEqual(keysBelow(objects, "_published/instance=one/"), [
      `_published/instance=one/00000${number}.json`,
    ]);
    const status = await lakeStatus(store);
    assert.deepEqual(
      status.instances.map(({ instance, removing }) => [instance, removing]),
      [["two", false]],
    );
    assert.equal(await on(store).last(OTHER_SERVICE, signal), null);
    assert.equal(await on(store).taken?.(signal), number);
    assert.deepEqual(await on(store).restorable?.(signal), []);
    await assert.rejects(remove(store), { code: "config.not_found", exitCode: 2 });
  }

  test("leaves all tables in one commit each, and nothing else of the lake changes", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    const versions = await versionsIn(store);
    const removed = await remove(store);
    assert.deepEqual(
      { ...removed, bytes: 0, copyBytes: 0, since: "" },
      {
        ...{ instance: "one", since: "", tables: 4, files: 5, rows: 16, bytes: 0 },
        ...{ copies: 2, copyBytes: 0, previous: 0 },
      },
    );
    await assertRemoved(objects, 3);
    assert.deepEqual(await seenOfTwo(store), before2);
    for (const [table, version] of Object.entries(await versionsIn(store)))
      assert.equal(version, (versions[table] ?? 0) + 1, table);
    for (const [key, { body }] of begun)
      if (!key.startsWith("_published/instance=one/")) assert.deepEqual(objects.get(key)?.body, body, key);
  });

  test("has commits only in tables that have something of it", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    await deliver(on(store, "two"), await makeRun(folder, { ...TWO_ALONE, sequence: 2 }));
    const before = await versionsIn(store);
    await remove(store);
    const after = await versionsIn(store);
    const changed = Object.keys(after).filter((table) => after[table] !== before[table]);
    assert.deepEqual(changed, ["content", "empty", "run_snapshots", "tags"]);
    assert.ok("apart" in after);
  });

  const TWO_ALONE = {
    machine: "u",
    tables: { apart: 3 },
    instance: { id: "id-t", origin: "https://t.example" },
  };

  async function versionsIn(store: Store): Promise<Readonly<Record<string, number>>> {
    const { tables } = await lakeStatus(store);
    return Object.fromEntries(tables.map(({ table, version }) => [table, version]));
  }

  test("can be read in earlier versions, until a vacuum ends them", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    const snapshots = await snapshotsIn(store, "one");
    await remove(store);
    const isThere = async () => {
      for (const { table, version } of snapshots) {
        const files = filesOf(await readTableAt(store, table, version), "one");
        if (!files.every(({ path }) => objects.has(`${table}/${path}`))) return false;
      }
      return true;
    };
    await vacuumLake({ ...placeOf(store), logRetentionDays: 30 }, { allVersions: false, nowMs: Date.now() });
    assert.ok(await isThere());
    await vacuumLake({ ...placeOf(store), logRetentionDays: 30 }, { allVersions: true, nowMs: Date.now() });
    await assert.rejects(isThere(), { code: "target.refused" });
    const left = [...objects.keys()].filter((key) => key.includes("instance=one/"));
    assert.deepEqual(left, ["_published/instance=one/000003.json"]);
    assert.deepEqual(await seenOfTwo(store), before2);
  });

  /** Whoever has the name then begins anew: its runs have their own names and numbers above that of the removal. */
  async function comesBack(store: Store): Promise<void> {
    for (const run of [runs.n1, runs.n2]) {
      await deliver(on(store), run);
      assert.deepEqual((await verifyLake(placeOf(store), undefined)).findings, []);
      assert.equal((await on(store).last(OTHER_SERVICE, signal))?.sequence, run.sequence);
      const { content, more, tags } = await seenIn(store, "one");
      const by = mark("n", run.sequence);
      assert.deepEqual({ content, more, tags }, { content: { [by]: 1 }, more: { [by]: 2 }, tags: {} });
    }
    assert.deepEqual(
      (await snapshotsIn(store, "one")).map(({ sequence, table }) => [sequence, table]),
      [4, 5].flatMap((sequence) => ["content", "more"].map((table) => [sequence, table])),
    );
    await assertNothingMixed(store, "one");
    assert.deepEqual(await seenOfTwo(store), before2);
    await assert.rejects(on(store).last(SERVICE, signal), { code: "target.refused", message: /id-2/ });
  }

  test("gives its name to another ID, which is restored, verified, vacuumed and removed as the first", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    await assert.rejects(deliver(on(store), runs.n1), {
      code: "target.refused",
      message: /"content-warehouse lake remove one"/,
    });
    await remove(store);
    await comesBack(store);
    const restored = await on(store).restorable?.(signal);
    assert.deepEqual(
      restored?.map(({ run }) => run),
      [runs.n2.run, runs.n1.run],
    );
    const directory = await mkdtemp(join(folder, "restored-"));
    await on(store).restore?.(
      runs.n1.run === restored?.[1]?.run ? restored[1] : assert.fail(),
      directory,
      signal,
    );
    await vacuumLake(placeOf(store), { allVersions: true, nowMs: Date.now() });
    assert.deepEqual((await verifyLake(placeOf(store), undefined)).findings, []);
    const of = [...objects.keys()].filter((key) => /^[a-z]\w*\/instance=one\//.test(key));
    assert.ok(
      of.every((key) => /-00000[45]-/.test(key)),
      of.join(" "),
    );
    await remove(store);
    await assertRemoved(objects, 6);
  });

  test("comes back by itself where its runs go on, and then has their names", async () => {
    const store = memoryStore(new Map(begun));
    await remove(store);
    await deliver(on(store), runs.a3);
    assert.equal((await on(store).last(SERVICE, signal))?.sequence, 3);
    assert.deepEqual((await verifyLake(placeOf(store), "3")).findings, []);
    await assert.rejects(on(store).stage(runs.b3), { code: "target.fenced" });
    await assertNothingMixed(store, "one");
  });

  test("is whole or without its rows, table by table, wherever it was killed, and a repeat ends it", async () => {
    const counted = killedAt(memoryStore(new Map(begun)), Number.POSITIVE_INFINITY, "before");
    await remove(counted);
    const whole = await filesIn(memoryStore(begun), "one");
    const states = new Set<string>();
    for (const [at, operation] of sweep([...counted.operations.entries()], 5)) {
      const isLate = ["put", "putNew", "remove"].includes(operation);
      for (const when of ["before", "after", ...(isLate ? (["late"] as const) : [])] as const)
        states.add(await killed(at, when, whole));
    }
    assert.deepEqual([...states].toSorted(), ["removed", "removing", "there"]);
  });

  async function killed(at: number, when: Death, whole: object): Promise<string> {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    const dying = killedAt(store, at, when);
    await assert.rejects(remove(dying), Killed);
    for (const [table, paths] of Object.entries(await filesIn(store, "one")))
      assert.deepEqual(paths, Object.entries(whole).find(([name]) => name === table)?.[1]);
    assert.deepEqual(await seenOfTwo(store), before2);
    const found = (await lakeStatus(store)).instances.find(({ instance }) => instance === "one");
    const state = found === undefined ? "removed" : found.removing ? "removing" : "there";
    if (state === "removing") {
      const message = /is being removed .* "content-warehouse lake remove one" ends that/;
      await assert.rejects(verifyLake(placeOf(store), undefined), { code: "target.fenced", message });
      await assert.rejects(on(store).stage(runs.a3), { code: "target.fenced", message });
      await assert.rejects(deliver(on(store), runs.n1), { code: "target.fenced" });
    }
    if (state !== "removed") await remove(store);
    await assertRemoved(objects, 3);
    assert.deepEqual(await versionsIn(store), await oneMore());
    await dying.arrive();
    assert.deepEqual(await filesIn(store, "one"), {});
    await comesBack(store);
    return state;
  }

  async function oneMore(): Promise<object> {
    const before = await versionsIn(memoryStore(begun));
    return Object.fromEntries(Object.entries(before).map(([table, version]) => [table, version + 1]));
  }

  type Does = "a3" | "b3" | "n1" | "t2" | "remove" | "vacuum" | "vacuum all" | "last";
  type End = "done" | "fenced" | "other service" | "not there" | "killed";

  /** What a process does, and what it ends with; other failures are thrown. */
  async function work(store: Store, { does }: Pick<Process<Does>, "does">): Promise<End> {
    try {
      if (does === "remove") await remove(store);
      else if (does === "last") await on(store).last(null, signal);
      else if (does === "vacuum" || does === "vacuum all")
        await vacuumLake(placeOf(store), {
          allVersions: does === "vacuum all",
          nowMs: Date.now() + 2 * DAY_MS,
        });
      else await deliver(on(store, does === "t2" ? "two" : "one"), runs[does]);
      return "done";
    } catch (thrown) {
      if (thrown instanceof Killed) return "killed";
      const { code, message } = thrown instanceof WarehouseError ? thrown : assert.fail(String(thrown));
      if (code === "target.fenced") return "fenced";
      if (code === "config.not_found" && does === "remove") return "not there";
      if (code === "target.refused" && /and this one is/.test(message)) return "other service";
      throw thrown;
    }
  }

  /** The instance is there, whole, or nothing of it is. */
  async function assertWholeOrGone(store: Store): Promise<"whole" | "gone"> {
    await assertNothingMixed(store, "one");
    if (await on(store).last(null, signal)) {
      assert.deepEqual((await verifyLake(placeOf(store), undefined)).findings, []);
      return "whole";
    }
    assert.deepEqual(await filesIn(store, "one"), {});
    return "gone";
  }

  /** One process does something whole before an operation of another one, counted from 0. */
  async function between(store: Store, [outer, inner]: readonly [Does, Does], at: number) {
    let ended: End = "killed";
    let next = 0;
    const watched = watchedStore(store, async () => {
      if (next++ === at) ended = await work(store, { does: inner });
      return undefined;
    });
    return { outer: await work(watched, { does: outer }), inner: ended };
  }

  async function operationsOf(does: Does): Promise<readonly number[]> {
    const counted = killedAt(memoryStore(new Map(begun)), Number.POSITIVE_INFINITY, "before");
    assert.equal(await work(counted, { does }), "done");
    return counted.operations.map((_, at) => at);
  }

  /** Who works, what is done in the middle of it, and how both can end: what becomes of the instance then. */
  for (const [outer, inner, possible] of [
    ["a3", "remove", ["done, done: gone", "done, done: whole", "fenced, done: gone"]],
    ["remove", "a3", ["done, done: gone", "done, fenced: gone"]],
    ["remove", "n1", ["done, fenced: gone", "done, other service: gone"]],
    ["remove", "t2", ["done, done: gone"]],
    ["t2", "remove", ["done, done: gone"]],
  ] as const) {
    test(`${outer} and in the middle of it ${inner}: one wins, and the other does not know of it`, async () => {
      const seen = new Set<string>();
      for (const at of sweep(await operationsOf(outer), 12)) {
        const store = memoryStore(new Map(begun));
        const ends = await between(store, [outer, inner], at);
        const one = await assertWholeOrGone(store);
        seen.add(`${ends.outer}, ${ends.inner}: ${one}`);
        const two = (await seenIn(store, "two")).content;
        const isDelivered = [outer, inner].includes("t2");
        assert.deepEqual(two, { [mark("t", isDelivered ? 2 : 1)]: 3 });
      }
      assert.deepEqual([...seen].toSorted(), possible);
    });
  }

  test("is fenced from whoever finds the key of a claim free that the removal took away", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    const late = await makeRun(folder, { sequence: 3, machine: "l", tables: { content: 2, late: 1 } });
    const watched = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.endsWith("instance=one/000003.json")) return undefined;
      await deliver(on(store), runs.b3);
      await remove(store);
      assert.ok(!objects.has(key));
      return undefined;
    });
    await assert.rejects(deliver(on(watched), late), { code: "target.fenced" });
    await assertRemoved(objects, 4);
    assert.ok(![...objects.keys()].some((key) => key.startsWith("late/_delta_log/")));
  });

  test("is there, whole, or gone, whoever works on the lake at once, and its name can be given again", async () => {
    const does = processes<Does>("remove", "remove", "a3", "b3", "n1", "t2", "vacuum", "vacuum all", "last");
    await fc.assert(
      fc.asyncProperty(does, async (started) => {
        const objects = new Map(begun);
        const store = memoryStore(objects, () => Date.now() - 3 * DAY_MS);
        const ended = await atOnce(store, started, work);
        await assertNothingMixed(store, "two");
        const isIn = started.some(({ does }, place) => does === "t2" && ended[place] === "done");
        if (isIn) assert.deepEqual((await seenIn(store, "two")).content, { [mark("t", 2)]: 3 });
        if ((await historyOf(store, "one")).removal?.removal !== "begun") await assertWholeOrGone(store);
        const last = await work(store, { does: "remove" });
        assert.ok(["done", "not there"].includes(last), last);
        assert.equal(await assertWholeOrGone(store), "gone");
        await deliver(on(store), runs.z9);
        assert.deepEqual((await seenIn(store, "one")).content, { [mark("z", 9)]: 1 });
        assert.deepEqual(Object.keys(await filesIn(store, "one")).toSorted(), ["content", "run_snapshots"]);
        assert.deepEqual((await verifyLake(placeOf(store), undefined)).findings, []);
        await assertNothingMixed(store, "one");
      }),
      { numRuns: many(4, 120) },
    );
  });
});
