/** Checkpoints say what the log says, and what they make superfluous goes in its time. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { putNext } from "../../../../src/targets/lake/delta/commit.ts";
import { cleanLog, readNewer, readTable, writeCheckpoint } from "../../../../src/targets/lake/delta/log.ts";
import type { TableState } from "../../../../src/targets/lake/delta/state.ts";
import { watchedStore } from "../memory-store.ts";
import { stateAt } from "../store-at.ts";
import {
  commit,
  content,
  DAY_MS,
  type LogStore,
  logKey,
  logStore,
  NOW,
  pathOf,
  pathsOf,
  putCommit,
  runOf,
  saying,
  without,
} from "./runs.ts";

/** A removal so many days ago, as another program writes it. */
const removalOf = (path: string, days: number) => ({
  remove: { path, deletionTimestamp: NOW - days * DAY_MS, dataChange: true },
});

suite("a checkpoint", () => {
  test("says what the log says, and is read without it", async () => {
    const store = logStore();
    for (const sequence of [1, 2, 3])
      for (const instance of ["a", "b"]) await commit(store, runOf(instance, sequence));
    const tags = { origin: "theirs", none: null };
    const add = { path: "instance=c/%70art%20x.parquet", size: 5, modificationTime: 6, dataChange: true };
    await putCommit(store, 6, [
      { add: { ...add, partitionValues: { instance: "c" }, tags } },
      { add: { ...add, path: "y", partitionValues: { instance: null }, stats: '{"numRecords":1}' } },
    ]);
    const replayed = await content(store);
    await writeCheckpoint(store, replayed, NOW);
    without(store, ".json");
    assert.deepEqual(saying(await content(store)), saying(replayed));
    assert.equal(await commit(store, runOf("a", 4)), 7);
  });

  test("is due once the last one is 50 versions old, and readers never begin with an earlier one", async () => {
    const store = logStore();
    const early: TableState[] = [];
    for (let sequence = 1; sequence <= 102; sequence++) {
      await commit(store, runOf("a", sequence));
      if (sequence === 1) early.push(await content(store));
    }
    for (const state of early) await writeCheckpoint(store, state, NOW);
    const checkpoints = [...store.objects.keys()].filter((each) => each.endsWith(".parquet"));
    assert.deepEqual(
      checkpoints.toSorted(),
      [0, 50, 100].map((version) => logKey(version, ".checkpoint.parquet")),
    );
    const hint = String(store.objects.get("content/_delta_log/_last_checkpoint")?.body);
    assert.equal(JSON.parse(hint).version, 100);
  });

  test("names removed files as long as the retention or the table wants it", async () => {
    for (const [log, files, kept] of [
      ["interval 1 days", undefined, [5]],
      ["interval 1 days", "interval 2 weeks", [5, 10]],
      ["interval 1 days", "interval 1 days", []],
      ["interval 1 days", "interval 240 hours", [5]],
      ["interval 1 days", "until further notice", [5, 10, 40]],
      ["interval 30 days", "interval 7 days", [5, 10]],
    ] as const) {
      const store = logStore();
      await commit(store, runOf("a", 1));
      const { metaData } = await content(store);
      const configuration = {
        "delta.logRetentionDuration": log,
        ...(files && { "delta.deletedFileRetentionDuration": files }),
      };
      const removals = [5, 10, 40].map((days) => removalOf(String(days), days));
      await putCommit(store, 1, [{ metaData: { ...metaData, configuration } }, ...removals]);
      await writeCheckpoint(store, await content(store), NOW);
      assert.deepEqual([...(await content(store)).removed.keys()], kept.map(String), `${log} ${files}`);
    }
  });

  test("that is interrupted leaves a readable table, wherever that is", async () => {
    for (let step = 0; step < 4; step++) {
      const store = logStore();
      for (const sequence of [1, 2, 3]) await commit(store, runOf("a", sequence));
      const state = await content(store);
      let left = step;
      const dying = watchedStore(store, async () => {
        if (left-- === 0) throw new Error("interrupted");
        return undefined;
      });
      const writing = writeCheckpoint(dying, state, NOW);
      await (step < 3 ? assert.rejects(writing, /interrupted/) : writing);
      assert.deepEqual(saying((await readTable(store, "content")) ?? assert.fail()), saying(state));
      await commit(store, runOf("a", 4));
      assert.deepEqual(pathsOf(await content(store), "a"), [pathOf("a", 4)]);
    }
  });
});

/** A version a day for so many days, the last one today, with checkpoints of these versions. */
async function daily(days: number, checkpoints: readonly number[]): Promise<LogStore> {
  const store = logStore();
  let state: TableState | null = null;
  for (let version = 0; version < days; version++) {
    store.nowMs = NOW - (days - 1 - version) * DAY_MS;
    await putNext(store, state, runOf("a", version + 1), NOW);
    state = state === null ? await content(store) : await readNewer(store, state);
    if (checkpoints.includes(version)) await writeCheckpoint(store, state, NOW);
  }
  return store;
}

const clean = async (store: LogStore) =>
  cleanLog(store, await content(store), { nowMs: NOW, allVersions: false });

suite("cleaning a log", () => {
  test("keeps each version of the retention readable", async () => {
    // Versions 0 to 9 are older than 30 days: the newest checkpoint among them is that of version 8.
    const store = await daily(40, [4, 8, 20]);
    store.objects.set(logKey(3, ".crc"), store.objects.get(logKey(3)) ?? assert.fail());
    const said = async () => {
      const states = [8, 9, 19, 20, 39].map((version) => stateAt(store, "content", version));
      return (await Promise.all(states)).map(saying);
    };
    const before = await said();
    // Eight commits, a checkpoint, and what another program wrote beside a commit.
    assert.equal(await clean(store), 10);
    assert.deepEqual(await said(), before);
    await assert.rejects(stateAt(store, "content", 7), /version 7 of content is gone/);
    assert.equal(await clean(store), 0);
    assert.equal(await commit(store, runOf("a", 41)), 40);
  });

  test("removes nothing without a checkpoint that is older than the retention", async () => {
    assert.equal(await clean(await daily(40, [20])), 0);
  });

  test("leaves a readable table when it is interrupted, wherever that is", async () => {
    const { objects } = await daily(36, [1, 3]);
    // Three commits and a checkpoint go.
    for (let step = 0; step <= 4; step++) {
      const store = logStore();
      for (const [each, object] of objects) store.objects.set(each, object);
      const remove = store.remove.bind(store);
      store.remove = async (keys) => {
        assert.equal(keys.length, 4);
        await remove(keys.slice(0, step));
        throw new Error("interrupted");
      };
      await assert.rejects(clean(store), /interrupted/);
      for (const version of [3, 4, 35]) {
        const state = await stateAt(store, "content", version);
        assert.deepEqual(pathsOf(state, "a"), [pathOf("a", version + 1)]);
      }
    }
  });
});
