/** A table that another program gave what we do not write waits alone, and is brought up to date once that is gone. */
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { integer, text } from "../../../src/tables/declare.ts";
import { deliver as deliverTo } from "../../../src/targets/deliver.ts";
import { commitText, metaDataLine } from "../../../src/targets/lake/delta/actions.ts";
import { commitKey } from "../../../src/targets/lake/delta/log-files.ts";
import { readTable } from "../../../src/targets/lake/delta/read.ts";
import { lakeStatus } from "../../../src/targets/lake/status.ts";
import { vacuumLake } from "../../../src/targets/lake/vacuum.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { sweep } from "../../long.ts";
import { until } from "../../until.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { Killed, killedAt, memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { assertNothingMixed, makeRun, mark, type RunOptions, seenIn, snapshotsIn } from "./runs.ts";

const { signal } = new AbortController();
const place = (store: Store) => ({ store, instance: INSTANCE, logRetentionDays: 30 });

const VECTORS = {
  minReaderVersion: 3,
  minWriterVersion: 7,
  readerFeatures: ["deletionVectors"],
  writerFeatures: ["deletionVectors", "invariants", "appendOnly"],
};
/** As Spark leaves it when the feature is dropped. */
const DROPPED = {
  minReaderVersion: 1,
  minWriterVersion: 7,
  writerFeatures: ["invariants", "appendOnly", "checkpointProtection"],
};
const ROWS = { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ["rowTracking"] };

/** Another program changes a table, as far as its log goes. */
async function put(store: Store, table: string, action: object): Promise<void> {
  for (let version = 0; ; version++)
    if (await store.putNew(commitKey(table, version), Buffer.from(commitText([action])))) return;
}

const waits = { code: "target.waits", message: /^Only content waits\. The table content of the lake has / };

suite("a table that another program made unwritable", () => {
  let folder = "";
  const begun: Objects = new Map();
  /** `content` and `tags` differ in each run; `empty` never does. */
  let runs: readonly DeliveredRun[] = [];
  const run = (sequence: number) => runs[sequence - 1] ?? assert.fail();

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-waiting-")));
    const made = [];
    for (const sequence of [1, 2, 3, 4]) made.push(await makeRun(folder, { sequence, machine: "a" }));
    runs = made;
    await deliver(on(memoryStore(begun)), run(1));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function blocked(protocol: object = VECTORS) {
    const store = memoryStore(new Map(begun));
    await put(store, "content", { protocol });
    return store;
  }

  async function snapshotOf(store: Store, sequence: number) {
    const rows = (await snapshotsIn(store, INSTANCE)).filter((row) => row.sequence === sequence);
    return rows.map(({ table, missing }) => [table, missing]);
  }

  const seen = (content: number, tags: number) => ({
    content: { [mark("a", content)]: 3 },
    empty: {},
    tags: { [mark("a", tags)]: 5 },
  });

  test("waits alone; run_snapshots names it, and has no version of it that a reader could take for the run", async () => {
    const store = await blocked(ROWS);
    await assert.rejects(deliver(on(store), run(2)), waits);
    assert.deepEqual(await seenIn(store, INSTANCE), seen(1, 2));
    assert.deepEqual(await snapshotOf(store, 1), [
      ["content", null],
      ["empty", null],
      ["tags", null],
    ]);
    assert.deepEqual(await snapshotOf(store, 2), [
      ["empty", '["content"]'],
      ["tags", '["content"]'],
    ]);
    await assertNothingMixed(store, INSTANCE);
  });

  for (const protocol of [VECTORS, ROWS]) {
    test(`waits for nights, and the next one has it whole again: ${protocol.writerFeatures[0]}`, async () => {
      const store = await blocked(protocol);
      for (const sequence of [2, 3]) await assert.rejects(deliver(on(store), run(sequence)), waits);
      await put(store, "content", { protocol: DROPPED });
      await deliver(on(store), run(4));
      assert.deepEqual(await seenIn(store, INSTANCE), seen(4, 4));
      const missing = async (sequence: number) => (await snapshotOf(store, sequence))[0];
      assert.deepEqual(await missing(2), ["empty", '["content"]']);
      assert.deepEqual(
        await missing(3),
        ["content", null],
        "it was the last one when the table could be written",
      );
      assert.deepEqual(await missing(4), ["content", null]);
      await assertNothingMixed(store, INSTANCE);
      assert.deepEqual((await verifyLake(place(store), undefined)).findings, []);
    });
  }

  test("gets the run by delivering it again, and not before that helps", async () => {
    const store = await blocked();
    const options = { elapsedMs: () => 0, signal };
    const again = async () => {
      const [delivery] = await deliverTo([on(store)], run(2), options);
      return [delivery?.state, delivery?.failure?.code];
    };
    assert.deepEqual(await again(), ["failed", "target.waits"]);
    assert.deepEqual(await again(), ["failed", "target.waits"]);
    assert.match((await on(store).last(null, signal))?.waits ?? "", waits.message);
    await put(store, "content", { protocol: DROPPED });
    const { run: name, sequence, sha256 } = run(2);
    assert.deepEqual(await on(store).last(null, signal), { run: name, sequence, sha256 });
    assert.deepEqual(await again(), ["present", undefined]);
    assert.deepEqual(await seenIn(store, INSTANCE), seen(2, 2));
    assert.deepEqual(
      (await snapshotOf(store, 2)).map(([table]) => table),
      ["content", "empty", "tags"],
    );
    await assertNothingMixed(store, INSTANCE);
  });

  test("gets files again that a vacuum of others took while it waited", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    await put(store, "content", { protocol: VECTORS });
    await assert.rejects(deliver(on(store), run(2)), waits);
    const lost = [...objects.keys()].filter((key) => key.startsWith("content/instance=one/content-000002"));
    await store.remove(lost);
    await put(store, "content", { protocol: DROPPED });
    assert.match(
      (await on(store).last(null, signal))?.waits ?? "",
      /is missing, so the delivery .* repeat it/,
    );
    const [delivery] = await deliverTo([on(store)], run(2), { elapsedMs: () => 0, signal });
    assert.equal(delivery?.state, "delivered");
    assert.deepEqual(await seenIn(store, INSTANCE), seen(2, 2));
    await deliver(on(store), run(3));
    assert.deepEqual(await seenIn(store, INSTANCE), seen(3, 3));
    await assertNothingMixed(store, INSTANCE);
  });

  test("waits also where its rows are those that it has, as a check says that does not know them", async () => {
    const store = memoryStore(new Map(begun));
    await put(store, "empty", { protocol: ROWS });
    await assert.rejects(deliver(on(store), run(2)), { message: /^Only empty waits\. / });
    assert.deepEqual(await snapshotOf(store, 2), [
      ["content", '["empty"]'],
      ["tags", '["empty"]'],
    ]);
    await put(store, "empty", { protocol: DROPPED });
    await deliver(on(store), run(3));
    assert.deepEqual((await snapshotOf(store, 3)).length, 3);
    await assertNothingMixed(store, INSTANCE);
  });

  test("waits where it has a column of another type, and where the run has it no more", async () => {
    const store = memoryStore(new Map(begun));
    const made = (options: RunOptions) => makeRun(join(folder, "types"), options);
    const more = (column: typeof text | typeof integer) => ({
      more: [column("extra", { comment: "More." })],
    });
    const other = { sequence: 1, machine: "b", tables: { more: 1 }, columns: more(text) };
    await deliver(on(store, "other"), await made(other));
    const tables = { more: 1, tags: 5 };
    const second = { sequence: 2, machine: "a", tables, columns: more(integer) };
    await put(store, "content", { protocol: ROWS });
    await assert.rejects(deliver(on(store), await made(second)), {
      code: "target.waits",
      message:
        /^Only content and more wait\. .*rowTracking.* The table more of the lake has the column extra as string/,
    });
    assert.deepEqual(await snapshotOf(store, 2), [["tags", '["content","more"]']]);
    const waitsNow = async () => (await on(store).last(null, signal))?.waits ?? "";
    assert.match(await waitsNow(), /^Only content and more wait\. /);
    await put(store, "content", { protocol: DROPPED });
    const status = await lakeStatus(store);
    assert.deepEqual(
      status.waiting.map(({ table, why }) => [
        table,
        / (does not have the last run|has the column extra)/.exec(why)?.[1],
      ]),
      [
        ["content", "does not have the last run"],
        ["more", "has the column extra"],
      ],
    );
    assert.match(await waitsNow(), /^Only more waits\. /);
    assert.deepEqual((await snapshotsIn(store, "other")).length, 1);
  });

  test("keeps all waiting where all are so, and then has the run", async () => {
    const store = memoryStore(new Map(begun));
    for (const table of ["content", "empty", "tags"]) await put(store, table, { protocol: VECTORS });
    await assert.rejects(deliver(on(store), run(2)), { message: /^Only content, empty and tags wait\. / });
    assert.deepEqual(await snapshotOf(store, 2), []);
    for (const table of ["content", "empty", "tags"]) await put(store, table, { protocol: DROPPED });
    assert.equal((await on(store).last(null, signal))?.waits, undefined);
    assert.deepEqual((await snapshotOf(store, 2)).length, 3);
    await assertNothingMixed(store, INSTANCE);
  });

  test("never shows an earlier run, whoever wakes up late", async () => {
    const store = memoryStore(new Map());
    const made = (sequence: number, steady: Record<string, number>) =>
      makeRun(join(folder, "late"), { sequence, machine: "a", tables: { tags: 5, content: 0 }, steady });
    // The third has the files of the first again; the second, which waits, has one more.
    await deliver(on(store), await made(1, {}));
    await put(store, "content", { protocol: ROWS });
    let asleep = true;
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await assert.rejects(deliver(on(store), await made(2, { content: 2 })), waits);
    await put(store, "content", { protocol: DROPPED });
    const sleeping = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.startsWith("content/_delta_log/")) return undefined;
      asleep = false;
      await woken;
      return undefined;
    });
    const late = on(sleeping).last(null, signal);
    await until("it sleeps", () => !asleep, { ended: late, everyMs: 0 });
    await put(store, "content", { protocol: ROWS });
    const third = await made(3, {});
    await assert.rejects(deliver(on(store), third), waits);
    await put(store, "content", { protocol: DROPPED });
    await deliver(on(store), third);
    const before = await seenIn(store, INSTANCE);
    wake();
    assert.equal((await late)?.sequence, 3);
    assert.deepEqual(await seenIn(store, INSTANCE), before);
    await assertNothingMixed(store, INSTANCE);
  });

  /** A delivery that claimed its run and fell asleep; `wake` gives how it ended. */
  async function asleepIn(store: Store, delivered: DeliveredRun) {
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    const { promise: isAsleep, resolve: fallAsleep } = Promise.withResolvers<void>();
    const sleeping = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.includes("/_delta_log/")) return undefined;
      fallAsleep();
      await woken;
      return undefined;
    });
    const delivery = deliverTo([on(sleeping)], delivered, { elapsedMs: () => 0, signal });
    await isAsleep;
    return async () => {
      resolve();
      return (await delivery)[0]?.failure;
    };
  }

  for (const { waitsStill, code, message } of [
    { waitsStill: true, code: "target.waits", message: waits.message },
    { waitsStill: false, code: "target.fenced", message: /went on to a later run, because .* was changed/ },
  ]) {
    test(`lets no delivery that wakes up after a later one say that it has the run: ${code}`, async () => {
      const store = memoryStore(new Map(begun));
      const wake = await asleepIn(store, run(2));
      await put(store, "content", { protocol: ROWS });
      await assert.rejects(deliver(on(store), run(3)), waits);
      if (!waitsStill) await put(store, "content", { protocol: DROPPED });
      assert.equal((await on(store).last(null, signal))?.waits === undefined, !waitsStill);
      const failure = await wake();
      assert.equal(failure?.code, code);
      assert.match(failure?.message ?? "", message);
      assert.deepEqual(await seenIn(store, INSTANCE), seen(waitsStill ? 1 : 3, 3));
    });
  }

  test("is named, and nothing else, by whoever finishes a delivery that was killed at any operation", async () => {
    const counted = killedAt(await blocked(ROWS), Number.POSITIVE_INFINITY, "before");
    await assert.rejects(deliver(on(counted), run(2)), waits);
    for (const at of sweep([...counted.operations.keys()], 8)) {
      const store = await blocked(ROWS);
      await assert.rejects(deliver(on(killedAt(store, at, "after")), run(2)), Killed);
      await assertNothingMixed(store, INSTANCE);
      const last = await on(store).last(null, signal);
      if (last?.sequence === 2) assert.match(last.waits ?? "", waits.message);
      await assert.rejects(deliver(on(store), run(3)), waits);
      await put(store, "content", { protocol: DROPPED });
      await deliver(on(store), run(4));
      assert.deepEqual(await seenIn(store, INSTANCE), seen(4, 4));
      await assertNothingMixed(store, INSTANCE);
    }
  });

  test("is said to wait, and not to be damaged", async () => {
    const objects = new Map(begun);
    const store = memoryStore(objects);
    await put(store, "content", { protocol: VECTORS });
    await put(store, "tags", { protocol: ROWS });
    const { findings, waits: blocked } = await verifyLake(place(store), undefined);
    assert.deepEqual(findings, []);
    assert.equal(blocked.length, 2);
    await assert.rejects(deliver(on(store), run(2)), { message: /^Only content and tags wait\. / });
    const status = await lakeStatus(store);
    assert.deepEqual(status.damaged, []);
    assert.deepEqual(
      status.waiting.map(({ table }) => table),
      ["content", "tags"],
    );
    assert.deepEqual(
      status.instances.map(({ finished, missing }) => [finished, missing]),
      [[true, ["content", "tags"]]],
    );
    const verified = await verifyLake(place(store), undefined);
    assert.deepEqual(verified.findings, []);
    const first = await verifyLake(place(store), "1");
    assert.deepEqual([first.missing, first.tables, first.rows], [[], 3, 8]);
    assert.deepEqual([verified.missing, verified.tables, verified.rows], [["content", "tags"], 1, 0]);
    assert.match(
      verified.waits[0] ?? "",
      /^content does not have the run\. The table content .* deletionVectors/,
    );
    assert.deepEqual((await verifyLake(place(store), "1")).findings, []);
    const before = [...objects.keys()].filter((key) => key.startsWith("tags/"));
    const options = { allVersions: true, nowMs: Date.now() };
    const { damaged, waiting } = await vacuumLake(place(store), options);
    assert.deepEqual([damaged.length, waiting.map(({ table }) => table)], [0, ["content", "tags"]]);
    assert.deepEqual(
      [...objects.keys()].filter((key) => key.startsWith("tags/")),
      before,
    );
  });

  test("is found before a run, with the sentence of its delivery", async () => {
    const store = await blocked(ROWS);
    const declared = run(2).tables.map(({ table }) => table);
    await assert.rejects(async () => on(store).check?.(signal, declared), waits);
    assert.equal((await on(store).last(null, signal))?.waits, undefined, "no delivery has met it yet");
    await assert.rejects(deliver(on(store), run(2)), waits);
    await put(store, "content", { protocol: DROPPED });
    await on(store).check?.(signal, declared);
    assert.deepEqual(await seenIn(store, INSTANCE), seen(2, 2), "whoever asks finishes what was left");
  });

  test("is named in a run_snapshots that an earlier program wrote without that", async () => {
    const store = await blocked(ROWS);
    const state = (await readTable(store, "run_snapshots")) ?? assert.fail();
    const schema = JSON.parse(state.metaData.schemaString);
    const fields = schema.fields.filter(({ name }: { name: string }) => name !== "missing_tables");
    assert.equal(fields.length, schema.fields.length - 1);
    const schemaString = JSON.stringify({ ...schema, fields });
    await put(store, "run_snapshots", metaDataLine({ ...state.metaData, schemaString }));
    await assert.rejects(deliver(on(store), run(2)), waits);
    assert.deepEqual(await snapshotOf(store, 1).then((rows) => rows.length), 3);
    const { metaData } = (await readTable(store, "run_snapshots")) ?? assert.fail();
    assert.match(metaData.schemaString, /missing_tables/);
  });
});
