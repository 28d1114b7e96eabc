/** Laws of commits to one table by several processes at once, in every order of their operations and with lost answers. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { asWarehouseError, WarehouseError } from "../../../../src/common/errors.ts";
import { type Action, parseActions } from "../../../../src/targets/lake/delta/actions.ts";
import { shortenLog, writeCheckpoint } from "../../../../src/targets/lake/delta/checkpoint.ts";
import { type CommitTiming, commitReplacement } from "../../../../src/targets/lake/delta/commit.ts";
import { readTable, readTableAt } from "../../../../src/targets/lake/delta/read.ts";
import { filesOf, sequenceOf } from "../../../../src/targets/lake/delta/state.ts";
import type { Store } from "../../../../src/targets/store/store.ts";
import { many } from "../../../long.ts";
import fc from "../../../properties.ts";
import { watchedStore } from "../memory-store.ts";
import { type Answer, type LogStore, logStore } from "./memory-store.ts";
import { content, NEVER, pathsOf, runOf } from "./runs.ts";

const RUNS = many(60, 2000);
const INSTANCES = ["a", "b", "c"] as const;

const RETENTION = { nowMs: Date.UTC(2026, 10, 20), retentionMs: 24 * 60 * 60 * 1000 };

/** A process that delivers runs of one instance, one after the other. */
const deliverer = fc.record({
  instance: fc.constantFrom(...INSTANCES),
  from: fc.integer({ min: 1, max: 3 }),
  count: fc.integer({ min: 1, max: 3 }),
});

const answer = fc.constantFrom<Answer>("told", "taken for another's", "stored, lost", "not stored, lost");

interface Delivered {
  readonly instance: string;
  readonly sequence: number;
  /** Null: a later run was there. */
  readonly version: number | null;
}

async function deliver(
  store: Store,
  { instance, from, count }: { instance: string; from: number; count: number },
  timing: CommitTiming,
): Promise<Delivered[]> {
  const delivered: Delivered[] = [];
  for (let sequence = from; sequence < from + count; sequence++) {
    delivered.push({ instance, sequence, version: await untilAnswered(store, instance, sequence, timing) });
  }
  return delivered;
}

/** Again after each answer that was lost, as the next attempt would. */
async function untilAnswered(store: Store, instance: string, sequence: number, timing: CommitTiming) {
  for (;;) {
    try {
      return await commitReplacement(store, runOf(instance, sequence), NEVER, timing);
    } catch (thrown) {
      if (asWarehouseError(thrown).code !== "target.unavailable") throw thrown;
    }
  }
}

/** Rewrites an instance's files as OPTIMIZE of other programs does, or gives up. */
async function optimize(store: Store, instance: string): Promise<void> {
  const state = await readTable(store, "content");
  if (state === null) return;
  const actions = filesOf(state, instance).flatMap(({ path, add }) => [
    { remove: { path: add.path, deletionTimestamp: 1, dataChange: false } },
    { add: { ...add, path: path.replace(/\.parquet$/, "-optimized.parquet"), dataChange: false } },
  ]);
  const text = actions.map((each) => JSON.stringify(each)).join("\n");
  const key = `content/_delta_log/${String(state.version + 1).padStart(20, "0")}.json`;
  await store.putNew(key, Buffer.from(text)).catch(() => false);
}

/** Commits of the log by version, which have no gap. */
function commitsOf(store: LogStore): (readonly Action[])[] {
  const keys = [...store.objects.keys()].filter((key) => key.endsWith(".json")).toSorted();
  return keys.map((key, version) => {
    assert.equal(key, `content/_delta_log/${String(version).padStart(20, "0")}.json`);
    return parseActions(String(store.objects.get(key)?.body));
  });
}

/** Checks that each run is in one version, in the order of their numbers. Gives the last number of each instance. */
function lastSequences(commits: readonly (readonly Action[])[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const { txn } of commits.flat()) {
    if (!txn) continue;
    assert.ok(
      txn.version > (last.get(txn.appId) ?? 0),
      `run ${txn.version} of ${txn.appId} after a later one`,
    );
    last.set(txn.appId, txn.version);
  }
  return last;
}

/** Number of the run that a file is of, whoever rewrote it. */
function sequenceIn(path: string): number {
  return Number(/content-(\d{6})/.exec(path)?.[1]);
}

async function assertRunAt(store: Store, { instance, sequence, version }: Delivered): Promise<void> {
  if (version === null) {
    assert.ok((sequenceOf(await content(store), instance) ?? 0) > sequence);
    return;
  }
  const paths = pathsOf(await readTableAt(store, "content", version), instance);
  assert.deepEqual(paths.map(sequenceIn), [sequence], `version ${version}`);
}

suite("several processes that commit to one table", () => {
  test("leave each run in one version, and the last run of each instance", async () => {
    let conflicts = 0;
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(deliverer, { minLength: 2, maxLength: 4 }),
      fc.array(fc.constantFrom(...INSTANCES), { maxLength: 2 }),
      fc.array(answer, { maxLength: 6 }),
      async (scheduler, deliverers, optimized, answers) => {
        const left = [...answers];
        const turn = (operation: string) => scheduler.schedule(Promise.resolve(), operation);
        const store = logStore({ turn, answer: () => left.shift() ?? "told" });
        const sleep = async () => {
          conflicts += 1;
          await turn("sleep");
        };
        const clock = { now: () => store.nowMs, elapsedMs: () => 0, sleep };
        const working = Promise.all([
          Promise.all(deliverers.map((each) => deliver(store, each, { clock, random: () => 1 }))),
          Promise.all(optimized.map((instance) => optimize(store, instance))),
        ]);
        const [delivered] = await scheduler.waitFor(working);

        const last = lastSequences(commitsOf(store));
        const after = logStore();
        for (const [key, object] of store.objects) after.objects.set(key, object);
        const state = await content(after);
        for (const { instance, from, count } of deliverers) {
          assert.ok((last.get(instance) ?? 0) >= from + count - 1);
          assert.deepEqual(pathsOf(state, instance).map(sequenceIn), [last.get(instance)]);
        }
        assert.equal(state.files.size, last.size);
        for (const each of delivered.flat()) await assertRunAt(after, each);
      },
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    assert.ok(conflicts > 0, "no two met");
  });

  for (const answered of ["told", "taken for another's", "stored, lost"] as const) {
    test(`lose no run that is put where the log has just been shortened, and is ${answered}`, async () => {
      const store = logStore();
      await commitReplacement(store, runOf("a", 1), NEVER);
      let isAsleep = false;
      const sleeper = watchedStore(store, async (operation) => {
        if (operation !== "putNew" || isAsleep) return undefined;
        isAsleep = true;
        for (const instance of ["b", "c"]) await commitReplacement(store, runOf(instance, 1), NEVER);
        assert.equal(await shortenLog(store, await content(store), RETENTION), 2);
        if (answered !== "stored, lost") return () => answered === "told";
        return () => {
          throw new WarehouseError("target.unavailable", "The answer was lost.");
        };
      });
      const version = await untilAnswered(sleeper, "a", 2, TIMING);
      assert.equal(version, 3);
      await assertRunAt(store, { instance: "a", sequence: 2, version });
      const state = await content(store);
      assert.deepEqual([...state.files.keys()].map(sequenceIn).toSorted(), [1, 1, 2]);
    });
  }

  test("read a table in whose log another leaves the newest version alone in between", async () => {
    const store = logStore();
    for (const sequence of [1, 2, 3]) await commitReplacement(store, runOf("a", sequence), NEVER);
    let isShort = false;
    const reader = watchedStore(store, async (operation, key) => {
      if (operation !== "get" || !key.endsWith(".json") || isShort) return undefined;
      isShort = true;
      await shortenLog(store, await content(store), RETENTION);
      return undefined;
    });
    assert.deepEqual(pathsOf(await content(reader), "a").map(sequenceIn), [3]);
  });

  test("find a run of which only a checkpoint knows, in a version that has it", async () => {
    const store = logStore();
    for (const instance of INSTANCES) {
      for (const sequence of [1, 2]) await deliver(store, { instance, from: sequence, count: 1 }, TIMING);
    }
    await writeCheckpoint(store, await content(store), RETENTION);
    for (const key of store.objects.keys()) if (key.endsWith(".json")) store.objects.delete(key);
    for (const instance of INSTANCES) {
      const version = await commitReplacement(store, runOf(instance, 2), NEVER);
      assert.equal(version, 5);
      await assertRunAt(store, { instance, sequence: 2, version });
      assert.equal(await commitReplacement(store, runOf(instance, 1), NEVER), null);
    }
  });
});

const TIMING: CommitTiming = {
  clock: { now: () => RETENTION.nowMs, elapsedMs: () => 0, sleep: async () => undefined },
  random: () => 1,
};
