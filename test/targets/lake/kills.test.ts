/** Deliveries that are killed, stopped, or do not hear the answer, at any operation on the store; and who comes next. */
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { DeliveredRun, TargetRun } from "../../../src/pipeline.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/retention.ts";
import { vacuumLake } from "../../../src/targets/lake/vacuum.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { digestOf } from "../../../src/warehouse/verify.ts";
import { many, sweep } from "../../long.ts";
import { until } from "../../until.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import {
  type Death,
  Killed,
  killedAt,
  memoryStore,
  type Objects,
  type Operation,
  watchedStore,
} from "./memory-store.ts";
import {
  assertNothingMixed,
  makeRun,
  mark,
  type RunOptions,
  STEADY,
  seenIn,
  snapshotsIn,
  TABLES,
} from "./runs.ts";

/** What may still be on its way when its process is dead. An upload is of a content that its name has. */
const LATE: ReadonlySet<Operation> = new Set(["putNew", "put"]);

/** Numbers from 0 to 1, the same ones for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function oneOf<One>(some: readonly One[], random: () => number): One {
  return some[Math.floor(random() * some.length)] ?? assert.fail();
}

suite("a delivery that ends early", () => {
  let folder = "";
  /** After the first run. */
  const begun: Objects = new Map();
  let first: DeliveredRun;
  let runs: Record<"a2" | "b2" | "b3" | "c2", DeliveredRun>;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-kills-")));
    const made = (options: RunOptions) => makeRun(folder, { ...options, steady: { content: 2 } });
    first = await made({ sequence: 1, machine: "a" });
    await deliver(on(memoryStore(begun)), first);
    runs = {
      // Without the table `empty`, with one that is new.
      a2: await made({ sequence: 2, machine: "a", tables: { content: 3, tags: 6, more: 2 } }),
      b2: await made({ sequence: 2, machine: "b", tables: { ...TABLES, fresh: 0 } }),
      // As the last, but of another machine: its files of the tables without rows are the same ones.
      c2: await made({ sequence: 2, machine: "c", tables: { ...TABLES, fresh: 0 } }),
      b3: await made({ sequence: 3, machine: "b", tables: { content: 4, tags: 5 } }),
    };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Another machine, with an empty disk, goes on from what the lake has: gives its number. `claimed`: whose run 2 that would be. */
  async function nextMachine(store: Store, claimed: "a" | "b" = "a"): Promise<number> {
    const target = on(store);
    const last = await target.last(runs.b2.instance, runs.b2.signal);
    assert.ok(last !== null);
    if (last.sequence === 2) {
      assert.match(last.run, /^000002-/);
      await assert.rejects(target.stage(runs.c2), { code: "target.fenced" });
    } else {
      await deliver(target, runs.b2);
    }
    const second = last.sequence === 2 ? claimed : "b";
    assert.deepEqual(await seenIn(store, INSTANCE), seenOf(second));
    await deliver(target, runs.b3);
    assert.deepEqual(await seenIn(store, INSTANCE), {
      content: { [mark("b", 3)]: 4, [STEADY]: 2 },
      empty: {},
      tags: { [mark("b", 3)]: 5 },
      ...(second === "a" ? { more: {} } : { fresh: {} }),
    });
    const snapshots = await snapshotsIn(store, INSTANCE);
    assert.deepEqual([...new Set(snapshots.map(({ sequence }) => sequence))], [1, 2, 3]);
    await assertNothingMixed(store, INSTANCE);
    return last.sequence;
  }

  function seenOf(machine: "a" | "b"): object {
    const by = mark(machine, 2);
    const content = { [by]: 3, [STEADY]: 2 };
    if (machine === "a") return { content, empty: {}, more: { [by]: 2 }, tags: { [by]: 6 } };
    return { content, empty: {}, fresh: {}, tags: { [by]: 5 } };
  }

  async function killed(at: number, when: Death): Promise<number> {
    const store = memoryStore(new Map(begun));
    const dying = killedAt(store, at, when);
    await assert.rejects(deliver(on(dying), runs.a2), Killed);
    await assertNothingMixed(store, INSTANCE);
    const wentOnFrom = await nextMachine(store);
    const seen = await seenIn(store, INSTANCE);
    await dying.arrive();
    assert.deepEqual(await seenIn(store, INSTANCE), seen);
    await assertNothingMixed(store, INSTANCE);
    assert.equal((await on(store).last(null, runs.b3.signal))?.sequence, 3);
    return wentOnFrom;
  }

  test("is finished, or leaves nothing, at whatever operation it was killed", async () => {
    const counted = killedAt(memoryStore(new Map(begun)), Number.POSITIVE_INFINITY, "before");
    await deliver(on(counted), runs.a2);
    const wentOnFrom = new Set<number>();
    for (const [at, operation] of sweep([...counted.operations.entries()], 4)) {
      const deaths: Death[] = ["before", "after", ...(LATE.has(operation) ? (["late"] as const) : [])];
      for (const when of deaths) wentOnFrom.add(await killed(at, when));
    }
    assert.deepEqual([...wentOnFrom].toSorted(), [1, 2]);
  });

  test("takes the lake back whole, or not at all, at whatever operation it was killed", async () => {
    const there: Objects = new Map(begun);
    await deliver(on(memoryStore(there)), runs.a2);
    const back = { ...first, isRollback: true, known: [runs.a2, first] };
    const counted = killedAt(memoryStore(new Map(there)), Number.POSITIVE_INFINITY, "before");
    await deliver(on(counted), back);
    const found = new Set<number>();
    for (const [at, operation] of sweep([...counted.operations.entries()], 3)) {
      const deaths: Death[] = ["before", "after", ...(LATE.has(operation) ? (["late"] as const) : [])];
      for (const when of deaths) found.add(await rollbackKilled(there, back, { at, when }));
    }
    assert.deepEqual([...found].toSorted(), [1, 2]);
  });

  /** Gives the number of the run that whoever asks next finds in the lake. */
  async function rollbackKilled(
    there: Objects,
    back: DeliveredRun,
    { at, when }: { readonly at: number; readonly when: Death },
  ): Promise<number> {
    const store = memoryStore(new Map(there));
    const dying = killedAt(store, at, when);
    await assert.rejects(deliver(on(dying), back), Killed);
    await assertNothingMixed(store, INSTANCE);
    const last = (await on(store).last(back.instance, back.signal)) ?? assert.fail();
    const seen = await seenIn(store, INSTANCE);
    assert.deepEqual(seen, last.sequence === 1 ? firstSeen("more") : seenOf("a"));
    assert.equal(last.rollbackOf?.sequence, last.sequence === 1 ? 2 : undefined);
    const snapshots = await snapshotsIn(store, INSTANCE);
    assert.equal(snapshots.at(-1)?.run, last.run);
    // The run that was rolled back comes by no accident, and the rollback is made by whoever repeats it.
    if (last.sequence === 1) await assert.rejects(deliver(on(store), runs.a2), { code: "target.fenced" });
    await deliver(on(store), back);
    assert.deepEqual(await seenIn(store, INSTANCE), firstSeen("more"));
    await deliver(on(store), { ...runs.b3, past: [first] });
    await dying.arrive();
    assert.equal((await on(store).last(null, back.signal))?.sequence, 3);
    await assertNothingMixed(store, INSTANCE);
    return last.sequence;
  }

  test("leaves a run that was rolled back to whole, whatever a vacuum removes of its first delivery", async () => {
    const store = memoryStore(new Map(begun));
    await deliver(on(store), runs.a2);
    const vacuum = () =>
      vacuumLake(
        { store, instance: INSTANCE, logRetentionDays: 1 },
        { allVersions: true, nowMs: Date.now() },
      );
    const staged = await on(store).stage({ ...first, isRollback: true, known: [runs.a2, first] });
    await vacuum();
    await staged.commit();
    await vacuum();
    const place = { store, instance: INSTANCE, logRetentionDays: 1 };
    assert.deepEqual((await verifyLake(place, "1")).findings, []);
    await assertRestored(store, first, first.directory);
  });

  function firstSeen(more: string): object {
    const by = mark("a", 1);
    return { content: { [by]: 3, [STEADY]: 2 }, empty: {}, [more]: {}, tags: { [by]: 5 } };
  }

  test("is repeated until it is made, run after run, and each run that the lake keeps comes back whole", async (t) => {
    const kills = many(4, 200);
    const random = randomFrom(8);
    const store = memoryStore(new Map());
    const directories = new Map<string, string>();
    let killed = 0;
    for (let sequence = 1; killed < kills; sequence++) {
      // A file of `content` comes back every other night, and `empty` never changes.
      const steady = { content: 2 + (sequence % 2), tags: 1 };
      const run = await makeRun(folder, { sequence, machine: "k", steady });
      directories.set(run.run, run.directory);
      for (let made = false; !made; ) {
        const dying = killedAt(store, Math.floor(random() * 110), oneOf(["before", "after", "late"], random));
        try {
          await deliver(on(dying), run);
          made = true;
        } catch (thrown) {
          if (!(thrown instanceof Killed)) throw thrown;
          killed++;
        }
        await dying.arrive();
        if (random() < 0.2) {
          const options = { allVersions: random() < 0.2, nowMs: Date.now() + 40 * DAY_MS };
          await vacuumLake({ store, instance: INSTANCE, logRetentionDays: 1 }, options);
        }
        await assertNothingMixed(store, INSTANCE);
      }
      assert.equal((await on(store).last(null, run.signal))?.run, run.run);
      const restorable = (await on(store).restorable?.(run.signal)) ?? [];
      assert.equal(restorable[0]?.run, run.run);
      for (const kept of restorable) await assertRestored(store, kept, directories.get(kept.run) ?? "");
    }
    t.diagnostic(`${killed} kills, ${directories.size} runs`);
  });

  /** What comes back of a run is what was published, file by file. */
  async function assertRestored(store: Store, run: TargetRun, published: string): Promise<void> {
    const directory = await mkdtemp(join(folder, "restored-"));
    await on(store).restore?.(run, directory, runs.a2.signal);
    const { files } = await readManifest(published);
    for (const { path, sha256 } of files)
      assert.equal((await digestOf(join(directory, path))).sha256, sha256);
    await rm(directory, { recursive: true });
  }

  test("is made once where the answers to its puts are lost", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    // As the store's own second try finds it: there already.
    const deaf = watchedStore(store, async (operation) => (operation === "putNew" ? () => false : undefined));
    await deliver(on(deaf), runs.a2);
    assert.equal(await nextMachine(store), 2);
  });

  test("is refused where it sleeps through two others, and takes its uploads back", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    const sleeper = await on(store).stage(runs.c2);
    assert.equal(await nextMachine(store), 1);
    await assert.rejects(sleeper.commit(), { code: "target.fenced", message: /^memory: has the later run/ });
    const before = new Set(objects.keys());
    await sleeper.abort();
    const removed = before.difference(new Set(objects.keys()));
    assert.ok(removed.size > 0);
    for (const key of removed) assert.match(key, /-000002-|\/runs\/000002-/);
    const stays = (begins: string) => [...objects.keys()].some((key) => key.startsWith(begins));
    assert.ok(stays("fresh/instance=one/fresh-000002"), "a file of both runs stays");
    assert.ok(stays("empty/instance=one/empty-000001"), "a file of the run before stays");
    await assertNothingMixed(store, INSTANCE);
    assert.deepEqual((await on(store).last(null, runs.b3.signal))?.sequence, 3);
  });

  test("takes no file of an earlier run back", async () => {
    const store = memoryStore(new Map(begun));
    const sleeper = await on(store).stage(runs.b3);
    const later = { sequence: 4, machine: "a", tables: { tags: 6 } };
    await deliver(on(store), await makeRun(join(folder, "later"), later));
    await assert.rejects(sleeper.commit(), { code: "target.fenced" });
    await sleeper.abort();
    const first = ((await on(store).restorable?.(runs.b3.signal)) ?? []).at(-1) ?? assert.fail();
    await assertRestored(store, first, join(folder, "a", first.run));
  });

  test("has been finished where it sleeps through two others once it has claimed, and says that it is made", async () => {
    const store = memoryStore(new Map(begun));
    let seen: object | undefined;
    let sleeps = true;
    const sleeper = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.includes("_delta_log/") || !sleeps) return undefined;
      sleeps = false;
      assert.equal(await nextMachine(store), 2);
      seen = await seenIn(store, INSTANCE);
      return undefined;
    });
    await deliver(on(sleeper), runs.a2);
    assert.deepEqual(await seenIn(store, INSTANCE), seen);
    assert.equal((await on(store).last(null, runs.b3.signal))?.sequence, 3);
    await assertNothingMixed(store, INSTANCE);
  });

  test("is refused where another claims its number between its last look and its own claim", async () => {
    const store = memoryStore(new Map(begun));
    const late = watchedStore(store, async (operation, key) => {
      if (operation === "putNew" && key.endsWith("/000002.json")) await deliver(on(store), runs.b2);
      return undefined;
    });
    await assert.rejects(deliver(on(late), runs.c2), {
      code: "target.fenced",
      message: /^memory: has another run/,
    });
    assert.deepEqual(await seenIn(store, INSTANCE), seenOf("b"));
    assert.equal(await nextMachine(store, "b"), 2);
  });

  test("is made, and is the last, whatever stands beside the claims", async () => {
    const store = memoryStore(new Map(begun));
    for (const name of [".DS_Store", "000001 (copy).json", "000001.json~", "9.txt"])
      await store.put(`_published/instance=${INSTANCE}/${name}`, Buffer.alloc(0));
    await deliver(on(store), runs.b2);
    assert.deepEqual(await seenIn(store, INSTANCE), seenOf("b"));
    assert.equal(await nextMachine(store, "b"), 2);
  });

  test("ends where the store does not list a claim that it has", async () => {
    const store = memoryStore(new Map(begun));
    const { list } = store;
    const forgetful: Store = {
      ...store,
      list: async function* (prefix, options) {
        for await (const found of list(prefix, options)) if (!found.key.endsWith("/000001.json")) yield found;
      },
    };
    await assert.rejects(deliver(on(forgetful), runs.b2), {
      code: "target.unavailable",
      message: /^memory: has \S+\/000001\.json and does not list it/,
    });
  });

  test("keeps its copy apart from that of another run of its name", async () => {
    const store = memoryStore(new Map(begun));
    await on(store).stage(runs.c2);
    await deliver(on(store), runs.b2);
    const place = { store, instance: INSTANCE, logRetentionDays: 1 };
    assert.deepEqual((await verifyLake(place, undefined)).findings, []);
  });

  test("keeps what it is about to commit while a vacuum leaves the newest version alone", async () => {
    const store = memoryStore(new Map(begun));
    const vacuumed = watchedStore(store, async (operation) => {
      if (operation !== "putNew") return undefined;
      const options = { allVersions: true, nowMs: Date.now() };
      await vacuumLake({ store, instance: INSTANCE, logRetentionDays: 1 }, options);
      return undefined;
    });
    await deliver(on(vacuumed), runs.a2);
    const place = { store, instance: INSTANCE, logRetentionDays: 1 };
    assert.deepEqual((await verifyLake(place, undefined)).findings, []);
  });

  test("is whole where the files that it has in common with the last run are gone when it claims", async () => {
    const store = memoryStore(new Map(begun));
    const staged = await on(store).stage(runs.b3);
    const other = { sequence: 2, machine: "a", tables: { content: 3, tags: 6 }, steady: { content: 3 } };
    await deliver(on(store), await makeRun(join(folder, "others"), other));
    await vacuumLake(
      { store, instance: INSTANCE, logRetentionDays: 1 },
      { allVersions: true, nowMs: Date.now() },
    );
    await staged.commit();
    const place = { store, instance: INSTANCE, logRetentionDays: 1 };
    const { findings, sequence } = await verifyLake(place, undefined);
    assert.deepEqual([findings, sequence], [[], 3]);
    await assertNothingMixed(store, INSTANCE);
  });

  test("is made after one that was left half-way, which shows nothing any more when it goes on", async () => {
    const store = memoryStore(new Map(begun));
    const place = join(folder, "half");
    // Its table `empty` has the file of the run before and one more; the run after it has the first alone again.
    const half = await makeRun(place, { sequence: 2, machine: "a", steady: { empty: 1 } });
    const next = await makeRun(place, { sequence: 3, machine: "b" });
    let isLost = "";
    let goOn = () => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const sleeping = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.includes("_delta_log/")) return undefined;
      isLost ||= key;
      await waits;
      return undefined;
    });
    const sleeper = deliver(on(sleeping), half);
    await until("it sleeps", () => isLost !== "", { ended: sleeper, everyMs: 0 });
    // A file of its claim is gone, so nobody can finish it.
    const claim = JSON.parse(String(await store.get(`_published/instance=${INSTANCE}/000002.json`)));
    const empty = claim.tables.find(({ name }: { name: string }) => name === "empty");
    const lost = empty.files.find(({ rows }: { rows: number }) => rows === 1);
    await store.remove([`empty/${lost.path}`]);
    await deliver(on(store), next);
    const seen = await seenIn(store, INSTANCE);
    goOn();
    await assert.rejects(sleeper, { code: "target.fenced" });
    assert.deepEqual(await seenIn(store, INSTANCE), seen);
    await assertNothingMixed(store, INSTANCE);
  });

  test("makes nobody who repeats it upload again", async () => {
    const store = memoryStore(new Map(begun));
    const staged = await on(store).stage(runs.a2);
    await staged.abort();
    let puts = 0;
    const counting = watchedStore(store, async (operation, key) => {
      if (operation === "upload" && !key.startsWith("run_snapshots") && (await store.get(key)) === null)
        puts++;
      return undefined;
    });
    await deliver(on(counting), runs.a2);
    assert.equal(puts, 0);
  });
});
