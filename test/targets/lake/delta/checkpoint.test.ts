/** Checkpoints say what the log says, and what they make superfluous goes in its time. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  cleanLog,
  keepLogShort,
  VERSIONS_PER_CHECKPOINT,
  writeCheckpoint,
} from "../../../../src/targets/lake/delta/checkpoint.ts";
import { putNext } from "../../../../src/targets/lake/delta/commit.ts";
import { readNewer, readTable } from "../../../../src/targets/lake/delta/read.ts";
import type { TableState } from "../../../../src/targets/lake/delta/state.ts";
import { long } from "../../../long.ts";
import { stateAt } from "../store-at.ts";
import { type LogStore, logStore } from "./memory-store.ts";
import { commit, content, pathOf, pathsOf, putCommit, runOf } from "./runs.ts";
import { saying } from "./saying.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 20);

function key(version: number, suffix: string): string {
  return `content/_delta_log/${String(version).padStart(20, "0")}${suffix}`;
}

/** A removal so many days ago, as another program writes it. */
const removalOf = (path: string, days: number) => ({
  remove: { path, deletionTimestamp: NOW - days * DAY_MS, dataChange: true },
});

suite("a checkpoint", () => {
  test("says what the log says, and is read without it", async () => {
    const store = logStore();
    for (const sequence of [1, 2, 3]) {
      for (const instance of ["a", "b"]) await commit(store, runOf(instance, sequence));
    }
    const tags = { origin: "theirs", none: null };
    const add = { path: "instance=c/%70art%20x.parquet", size: 5, modificationTime: 6, dataChange: true };
    await putCommit(store, 6, [
      { add: { ...add, partitionValues: { instance: "c" }, tags } },
      { add: { ...add, path: "y", partitionValues: { instance: null }, stats: '{"numRecords":1}' } },
    ]);
    const replayed = await content(store);
    await writeCheckpoint(store, replayed, NOW);
    for (const each of store.objects.keys()) if (each.endsWith(".json")) store.objects.delete(each);
    const read = await content(store);
    assert.equal(read.checkpoint, 6);
    assert.deepEqual(saying(read), saying(replayed));
    assert.equal(await commit(store, runOf("a", 4)), 7);
  });

  test("is due each so many versions, and once one was left out", async () => {
    const store = logStore();
    const checkpoints = () => [...store.objects.keys()].filter((each) => each.endsWith(".parquet"));
    for (let sequence = 1; sequence <= 2 * VERSIONS_PER_CHECKPOINT + 1; sequence++) {
      const version = await commit(store, runOf("a", sequence));
      await keepLogShort(store, "content", { version, nowMs: NOW });
    }
    assert.deepEqual(checkpoints(), [key(50, ".checkpoint.parquet"), key(100, ".checkpoint.parquet")]);
    const hint = String(store.objects.get("content/_delta_log/_last_checkpoint")?.body);
    assert.equal(JSON.parse(hint).version, 100);

    for (const each of checkpoints()) store.objects.delete(each);
    store.objects.delete("content/_delta_log/_last_checkpoint");
    const version = await commit(store, runOf("a", 1000));
    await keepLogShort(store, "content", { version, nowMs: NOW });
    assert.deepEqual(checkpoints(), [key(version, ".checkpoint.parquet")]);
  });

  test("never has readers begin with an earlier one", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    const early = await content(store);
    await commit(store, runOf("a", 2));
    await writeCheckpoint(store, await content(store), NOW);
    await writeCheckpoint(store, early, NOW);
    const hint = String(store.objects.get("content/_delta_log/_last_checkpoint")?.body);
    assert.equal(JSON.parse(hint).version, 1);
  });

  test("names removed files as long as the retention or the table wants it", async () => {
    for (const [interval, kept] of [
      [undefined, ["5 days"]],
      ["interval 2 weeks", ["5 days", "10 days"]],
      ["interval 1 days", []],
      ["interval 240 hours", ["5 days"]],
      ["until further notice", ["5 days", "10 days", "40 days"]],
    ] as const) {
      const store = logStore();
      await commit(store, runOf("a", 1));
      const { metaData } = await content(store);
      const log = { "delta.logRetentionDuration": "interval 1 days" };
      const configuration =
        interval === undefined ? log : { ...log, "delta.deletedFileRetentionDuration": interval };
      await putCommit(store, 1, [
        { metaData: { ...metaData, configuration } },
        removalOf("5 days", 5),
        removalOf("10 days", 10),
        removalOf("40 days", 40),
      ]);
      const state = await content(store);
      await writeCheckpoint(store, state, NOW);
      assert.deepEqual([...(await content(store)).removed.keys()], kept, interval);
    }
    const store = logStore();
    await commit(store, runOf("a", 1));
    await putCommit(store, 1, [removalOf("20 days", 20), removalOf("40 days", 40)]);
    await writeCheckpoint(store, await content(store), NOW);
    assert.deepEqual([...(await content(store)).removed.keys()], ["20 days"]);
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

/** Number of files that a cleaning removes. */
async function cleaned(store: LogStore): Promise<number> {
  const before = store.objects.size;
  await cleanLog(store, await content(store), NOW);
  return before - store.objects.size;
}

suite("cleaning a log", () => {
  test("keeps each version of the retention readable", async () => {
    // Versions 0 to 9 are older than 30 days: the newest checkpoint among them is that of version 8.
    const store = await daily(40, [4, 8, 20]);
    store.objects.set(key(3, ".crc"), store.objects.get(key(3, ".json"))!);
    const before = new Map<number, unknown>();
    for (const version of [8, 9, 19, 20, 39])
      before.set(version, saying(await stateAt(store, "content", version)));
    // Eight commits, a checkpoint, and what another program wrote beside a commit.
    assert.equal(await cleaned(store), 10);
    for (const [version, said] of before)
      assert.deepEqual(saying(await stateAt(store, "content", version)), said);
    await assert.rejects(stateAt(store, "content", 7), /version 7 of content is gone/);
    assert.equal(await cleaned(store), 0);
    assert.equal(await commit(store, runOf("a", 41)), 40);
  });

  long("removes nothing without a checkpoint that is older than the retention", async () => {
    assert.equal(await cleaned(await daily(40, [])), 0);
    assert.equal(await cleaned(await daily(40, [20])), 0);
    assert.equal(await cleaned(await daily(20, [5])), 0);
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
      await assert.rejects(cleanLog(store, await content(store), NOW), /interrupted/);
      for (const version of [3, 4, 35]) {
        const state = await stateAt(store, "content", version);
        assert.deepEqual(pathsOf(state, "a"), [pathOf("a", version + 1)]);
      }
      assert.equal((await content(store)).version, 35);
    }
  });
});

test("a checkpoint that is interrupted leaves a readable table, wherever that is", async () => {
  for (let step = 0; step < 4; step++) {
    let left = Number.POSITIVE_INFINITY;
    const store = logStore(() => {
      left -= 1;
      if (left < 0) throw new Error("interrupted");
    });
    for (const sequence of [1, 2, 3]) await commit(store, runOf("a", sequence));
    const state = await content(store);
    left = step;
    const writing = writeCheckpoint(store, state, NOW);
    await (step < 3 ? assert.rejects(writing, /interrupted/) : writing);
    left = Number.POSITIVE_INFINITY;
    assert.deepEqual(saying((await readTable(store, "content"))!), saying(state));
    await commit(store, runOf("a", 4));
    assert.deepEqual(pathsOf(await content(store), "a"), [pathOf("a", 4)]);
  }
});
