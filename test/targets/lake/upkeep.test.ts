/** Vacuum, verification, restoring and forgetting, and what a lake refuses. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { text } from "../../../src/tables/declare.ts";
import { deliver as deliverTo } from "../../../src/targets/deliver.ts";
import { commitText } from "../../../src/targets/lake/delta/actions.ts";
import { cleanLog, writeCheckpoint } from "../../../src/targets/lake/delta/checkpoint.ts";
import { commitKey } from "../../../src/targets/lake/delta/log-files.ts";
import { readTable } from "../../../src/targets/lake/delta/read.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/retention.ts";
import { filesOf as filesIn } from "../../../src/targets/lake/delta/state.ts";
import { lake, lakeIn } from "../../../src/targets/lake/lake.ts";
import { removable, removeInstance } from "../../../src/targets/lake/remove.ts";
import { lakeStatus } from "../../../src/targets/lake/status.ts";
import { type VacuumOptions, vacuumLake } from "../../../src/targets/lake/vacuum.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { assertNothingMixed, makeRun, mark, SERVICE, seenIn } from "./runs.ts";

const { signal } = new AbortController();

suite("a lake", () => {
  let folder = "";
  /** After three runs. */
  const three: Objects = new Map();
  let runs: Record<"a1" | "a2" | "a3" | "a4" | "b3", DeliveredRun>;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-upkeep-")));
    runs = {
      a1: await makeRun(folder, { sequence: 1, machine: "a" }),
      a2: await makeRun(folder, { sequence: 2, machine: "a" }),
      a3: await makeRun(folder, { sequence: 3, machine: "a" }),
      a4: await makeRun(folder, { sequence: 4, machine: "a" }),
      b3: await makeRun(folder, { sequence: 3, machine: "b" }),
    };
    for (const run of [runs.a1, runs.a2, runs.a3]) await deliver(on(memoryStore(three)), run);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const vacuum = (store: Store, options: VacuumOptions) =>
    vacuumLake({ store, instance: INSTANCE, logRetentionDays: 30 }, options);
  const filesOf = (objects: Objects, table: string) =>
    [...objects.keys()].filter((key) => key.startsWith(`${table}/instance=`));

  test("keeps each version in the retention, then the newest and a few copies", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    const nowMs = Date.now() + 2 * DAY_MS;
    assert.deepEqual(await vacuum(store, { allVersions: false, nowMs }), {
      files: 0,
      bytes: 0,
      logFiles: 0,
      runs: 0,
      own: [],
      damaged: [],
      waiting: [],
    });
    const later = await vacuum(store, { allVersions: false, nowMs: nowMs + 40 * DAY_MS });
    assert.deepEqual([later.files, later.runs], [2, 0], "of run_snapshots: the copies live on all others");
    assert.equal(filesOf(objects, "content").length, 3);
    await deliver(on(store), runs.a4);
    const last = await vacuum(store, { allVersions: false, nowMs: nowMs + 80 * DAY_MS });
    assert.deepEqual(
      [last.files, last.runs],
      [3, 1],
      "the first run of two tables, and one of run_snapshots",
    );
    const kept = (await on(store).restorable?.(signal)) ?? [];
    assert.deepEqual(
      kept.map(({ sequence }) => sequence),
      [4, 3, 2],
    );
    for (const run of kept) {
      const directory = await mkdtemp(join(folder, "restored-"));
      await on(store).restore?.(run, directory, signal);
    }
    assert.deepEqual(
      (await verifyLake({ store, instance: INSTANCE, logRetentionDays: 30 }, "4")).findings,
      [],
    );
  });

  test("keeps nothing but the newest version where all others are to go", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    await vacuum(store, { allVersions: true, nowMs: Date.now() });
    for (const table of ["content", "empty", "tags", "run_snapshots"]) {
      assert.deepEqual(
        filesOf(objects, table).map((key) => /-(\d{6})-/.exec(key)?.[1]),
        [table === "empty" ? "000001" : "000003"],
        table,
      );
    }
    const copies = await store.folders(`_published/instance=${INSTANCE}/runs/`);
    assert.deepEqual(
      copies.map((copy) => copy.slice(0, 6)),
      ["000003"],
    );
    assert.deepEqual(await seenIn(store, INSTANCE), {
      content: { [mark("a", 3)]: 3 },
      empty: {},
      tags: { [mark("a", 3)]: 5 },
    });
    await assertNothingMixed(store, INSTANCE);
  });

  test("keeps uploads that may still be claimed, and those of a dead attempt for a day", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    await on(store).stage(runs.a4);
    const ahead = objects.size;
    await vacuum(store, { allVersions: false, nowMs: Date.now() + 10 * DAY_MS });
    assert.equal(objects.size, ahead, "the number comes after the last one's");
    const dead = `content/instance=${INSTANCE}/content-000002-${"0".repeat(16)}.parquet`;
    await store.put(dead, Buffer.from("dead"));
    await vacuum(store, { allVersions: false, nowMs: Date.now() });
    assert.ok(objects.has(dead));
    await vacuum(store, { allVersions: false, nowMs: Date.now() + 2 * DAY_MS });
    assert.ok(!objects.has(dead));
  });

  for (const ends of ["finished", "claimed, and not committed yet"]) {
    test(`loses nothing of a run that is ${ends} between the claims and the list of a vacuum`, async () => {
      const store = memoryStore(new Map(three));
      const finished = on(store);
      let isClaimed = false;
      let isDelivered = false;
      const stopping = watchedStore(store, async (operation, key) => {
        if (isClaimed && ends !== "finished") throw new Error("the process ends");
        isClaimed ||= operation === "putNew" && key.endsWith("/000004.json");
        return undefined;
      });
      const delivering = watchedStore(store, async (operation, key) => {
        if (isDelivered || operation !== "list" || !key.includes("/instance=")) return undefined;
        if (key.startsWith("_published/")) return undefined;
        isDelivered = true;
        const staged = await on(stopping).stage(runs.a4);
        await staged.commit().catch((thrown: Error) => assert.equal(thrown.message, "the process ends"));
        return undefined;
      });
      await vacuum(delivering, { allVersions: true, nowMs: Date.now() });
      assert.ok(isDelivered);
      assert.equal((await finished.last(null, signal))?.run, runs.a4.run);
      await assertNothingMixed(store, INSTANCE);
      const { findings } = await verifyLake({ store, instance: INSTANCE, logRetentionDays: 30 }, undefined);
      assert.deepEqual(findings, []);
    });
  }

  test("is found to be as it was delivered, and not where a byte or a row differs", async () => {
    const place = (store: Store) => ({ store, instance: INSTANCE, logRetentionDays: 30 });
    const whole = await verifyLake(place(memoryStore(three)), undefined);
    assert.deepEqual([whole.findings, whole.run, whole.rows], [[], runs.a3.run, 8]);
    assert.equal((await verifyLake(place(memoryStore(three)), runs.a2.run)).run, runs.a2.run);
    for (const other of ["000002-20200101T000000Z", "9", "last"])
      await assert.rejects(verifyLake(place(memoryStore(three)), other), { code: "config.not_found" });
    for (const begins of ["tags/instance=", `_published/instance=${INSTANCE}/runs/000003`]) {
      const objects = new Map(three);
      const key = [...objects.keys()].findLast((each) => each.startsWith(begins)) ?? "";
      const { body = Buffer.alloc(0) } = objects.get(key) ?? {};
      const changed = Buffer.from(body);
      changed.writeUInt8(changed.readUInt8(9) ^ 1, 9);
      objects.set(key, { body: changed, modifiedMs: 0 });
      const { findings } = await verifyLake(place(memoryStore(objects)), undefined);
      assert.ok(
        findings.some((finding) => finding.includes(key)),
        findings.join("\n"),
      );
    }
  });

  test("is found to be changed where another program removed all rows of an instance", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    const state = await readTable(store, "tags");
    assert.ok(state !== null);
    const removes = filesIn(state, INSTANCE).map(({ add: { path } }) => ({
      remove: { path, deletionTimestamp: Date.now(), dataChange: true },
    }));
    await store.putNew(commitKey("tags", state.version + 1), Buffer.from(commitText(removes)));
    const { findings } = await verifyLake({ store, instance: INSTANCE, logRetentionDays: 30 }, undefined);
    assert.deepEqual(findings, [
      "The newest version of tags has 0 rows where the run has 5: somebody changed it.",
    ]);
  });

  test("is found to be damaged where the last version of a log is gone, with the way out", async () => {
    const store = memoryStore(new Map(three));
    await store.remove([commitKey("tags", 2)]);
    const { findings } = await verifyLake({ store, instance: INSTANCE, logRetentionDays: 30 }, undefined);
    assert.deepEqual(findings, [
      "The log of the table tags in memory: is damaged: version 2 is missing, and the last one is 1; bring its files back, or deliver into another lake.",
    ]);
  });

  test("is whole where the log has forgotten the versions that an instance without new runs has", async () => {
    const store = memoryStore(new Map(three));
    await deliver(on(store, "two"), runs.a1);
    for (const table of ["content", "empty", "tags"]) {
      const state = await readTable(store, table);
      assert.ok(state !== null);
      await writeCheckpoint(store, state, { nowMs: Date.now(), retentionMs: 30 * DAY_MS });
      await cleanLog(store, table, { nowMs: Date.now() + 40 * DAY_MS, retentionMs: 30 * DAY_MS });
    }
    const place = { store, instance: INSTANCE, logRetentionDays: 30 };
    assert.deepEqual((await verifyLake(place, undefined)).findings, []);
  });

  test("gives a run back, file by file as it was published", async () => {
    const target = on(memoryStore(three));
    const directory = await mkdtemp(join(folder, "restored-"));
    await target.restore?.({ run: runs.a2.run, sequence: 2 }, directory, signal);
    const paths = async (root: string) => (await readdir(root, { recursive: true })).toSorted();
    assert.deepEqual(await paths(directory), await paths(runs.a2.directory));
    await assert.rejects(
      target.restore?.({ run: "000009-20261120T020000Z", sequence: 9 }, directory, signal) ??
        Promise.resolve(),
      { code: "config.not_found" },
    );
  });

  test("gives runs back where an earlier claim is damaged, and none where the last is", async () => {
    const store = memoryStore(new Map(three));
    await store.put(`_published/instance=${INSTANCE}/000001.json`, Buffer.from("{"));
    const names = ((await on(store).restorable?.(signal)) ?? []).map(({ run }) => run);
    assert.deepEqual(names, [runs.a3.run, runs.a2.run]);
    await store.put(`_published/instance=${INSTANCE}/000003.json`, Buffer.from("{"));
    await assert.rejects(async () => on(store).restorable?.(signal), { code: "target.refused" });
  });

  test("is not said to have a run of the same name that another machine made", async () => {
    const options = { elapsedMs: () => 0, signal };
    const target = on(memoryStore(new Map(three)));
    const states = async (run: DeliveredRun) =>
      (await deliverTo([target], run, options)).map(({ state, failure }) => [state, failure?.code]);
    assert.equal(runs.a3.run, runs.b3.run);
    assert.deepEqual(await states(runs.a3), [["present", undefined]]);
    assert.deepEqual(await states(runs.b3), [["failed", "target.fenced"]]);
  });

  test("has tables that other programs keep as long as it does", async () => {
    const objects: Objects = new Map();
    const store = memoryStore(objects);
    for (const [instance, logRetentionDays] of [
      ["short", 2],
      ["long", 60],
    ] as const) {
      const run = await makeRun(folder, { sequence: 1, machine: instance, tables: { [instance]: 1 } });
      await deliver(
        lakeIn(async () => store, { instance, logRetentionDays }),
        run,
      );
    }
    const configurations = ["short", "long"].map(async (table) => {
      return (await readTable(store, table))?.metaData.configuration;
    });
    assert.deepEqual(await Promise.all(configurations), [
      {
        "delta.deletedFileRetentionDuration": "interval 7 days",
        "delta.logRetentionDuration": "interval 2 days",
        "contentWarehouse.logRetention": "2 days, short",
        "delta.dataSkippingStatsColumns": "id",
      },
      {
        "delta.deletedFileRetentionDuration": "interval 60 days",
        "delta.logRetentionDuration": "interval 60 days",
        "contentWarehouse.logRetention": "60 days, long",
        "delta.dataSkippingStatsColumns": "id",
      },
    ]);
  });

  suite("keeps earlier versions for as long as another program set for a table:", () => {
    /** Three runs, and then properties of another program. */
    async function having(properties: Readonly<Record<string, string>>): Promise<Objects> {
      const objects = new Map(three);
      const store = memoryStore(objects);
      const state = (await readTable(store, "tags")) ?? assert.fail();
      const configuration = { ...state.metaData.configuration, ...properties };
      const line = { metaData: { ...state.metaData, configuration } };
      await store.putNew(commitKey("tags", state.version + 1), Buffer.from(commitText([line])));
      return objects;
    }
    const LOG = "delta.logRetentionDuration";
    const FILES = "delta.deletedFileRetentionDuration";
    // The copies live on all but these.
    const isOld = (objects: Objects) => [...objects.keys()].some((key) => key.startsWith(old));
    const old = `tags/instance=${INSTANCE}/tags-000000-`;
    const DAYS = [
      [{ [LOG]: "interval 1 week" }, 29, 31],
      [{ [LOG]: "interval 60 days" }, 59, 61],
      [{ [FILES]: "INTERVAL 1440 HOURS" }, 59, 61],
      [{ [FILES]: "interval 40 days 12 hours" }, 40, 41],
      [{ [LOG]: "interval 1 week", [FILES]: "2 weeks" }, 13, 15],
    ] as const;
    for (const [properties, kept, gone] of DAYS) {
      test(JSON.stringify(properties), async () => {
        const objects = await having(properties);
        const store = memoryStore(objects);
        const path = `${old.slice("tags/".length)}${"0".repeat(16)}.parquet`;
        await store.put(`tags/${path}`, Buffer.from("old"));
        const version = ((await readTable(store, "tags"))?.version ?? 0) + 1;
        const remove = { path, deletionTimestamp: Date.now(), dataChange: true };
        await store.putNew(commitKey("tags", version), Buffer.from(commitText([{ remove }])));
        const after = (days: number) => ({ allVersions: false, nowMs: Date.now() + days * DAY_MS });
        await vacuum(store, after(kept));
        assert.ok(isOld(objects));
        await vacuum(store, after(gone));
        assert.ok(!isOld(objects));
      });
    }

    test("for ever where nobody can read it, unless all versions are to go, and says both", async () => {
      const objects = await having({ [LOG]: "interval 1 month" });
      const store = memoryStore(objects);
      const before = filesOf(objects, "tags").length;
      const nowMs = Date.now() + 4000 * DAY_MS;
      const own = { table: "tags", property: LOG, value: "interval 1 month", keptMs: null };
      assert.deepEqual((await vacuum(store, { allVersions: false, nowMs })).own, [{ ...own, isKept: true }]);
      assert.equal(filesOf(objects, "tags").length, before);
      assert.deepEqual((await vacuum(store, { allVersions: true, nowMs })).own, [{ ...own, isKept: false }]);
      assert.equal(filesOf(objects, "tags").length, 1);
    });

    test("and a delivery leaves it, but carries the lake's setting to what is still its own", async () => {
      const objects = await having({ [LOG]: "interval 60 days" });
      const store = memoryStore(objects);
      const days = async (table: string) => {
        const { configuration } = (await readTable(store, table))?.metaData ?? assert.fail();
        return [configuration[LOG], configuration[FILES]].map((each) => each?.replace("interval ", ""));
      };
      const next = async (instance: string, sequence: number, logRetentionDays: number) => {
        const target = lakeIn(async () => store, { instance, logRetentionDays });
        await deliver(target, await makeRun(join(folder, `keeps-${instance}`), { sequence, machine: "a" }));
      };
      await next(INSTANCE, 4, 20);
      assert.deepEqual(await days("tags"), ["60 days", "20 days"]);
      // Of its files nothing changed.
      assert.deepEqual(await days("empty"), ["20 days", "20 days"]);
      assert.deepEqual(await days("run_snapshots"), ["20 days", "20 days"]);
      await next("two", 1, 10);
      assert.deepEqual(await days("empty"), ["20 days", "20 days"], "an instance shortens no other's");
      await next("two", 2, 40);
      assert.deepEqual(
        [await days("empty"), await days("tags")],
        [
          ["40 days", "40 days"],
          ["60 days", "40 days"],
        ],
      );
      await next(INSTANCE, 5, 20);
      const version = (await readTable(store, "empty"))?.version;
      await next(INSTANCE, 6, 20);
      assert.equal((await readTable(store, "empty"))?.version, version, "the longest is said once");
      assert.deepEqual(await days("empty"), ["40 days", "40 days"]);
    });

    test("which tables of an earlier version say by the two properties alone", async () => {
      const objects = new Map(three);
      const store = memoryStore(objects);
      const state = (await readTable(store, "empty")) ?? assert.fail();
      const { "contentWarehouse.logRetention": _said, ...configuration } = state.metaData.configuration;
      const line = { metaData: { ...state.metaData, configuration } };
      await store.putNew(commitKey("empty", state.version + 1), Buffer.from(commitText([line])));
      assert.deepEqual((await vacuum(store, { allVersions: true, nowMs: Date.now() })).own, []);
      await deliver(
        lakeIn(async () => store, { instance: INSTANCE, logRetentionDays: 5 }),
        runs.a4,
      );
      const { metaData } = (await readTable(store, "empty")) ?? assert.fail();
      assert.equal(metaData.configuration[LOG], "interval 5 days");
      assert.equal(metaData.configuration[FILES], "interval 7 days");
    });
  });

  test("lists tables and instances", async () => {
    const { tables, instances } = await lakeStatus(memoryStore(three));
    assert.deepEqual(
      tables.map(({ table, version, instances, files, rows }) => [table, version, instances, files, rows]),
      [
        ["content", 2, 1, 1, 3],
        ["empty", 0, 1, 1, 0],
        ["run_snapshots", 2, 1, 1, 9],
        ["tags", 2, 1, 1, 5],
      ],
    );
    const [one] = instances;
    assert.deepEqual(
      [one?.instance, one?.run, one?.origin, one?.finished],
      [INSTANCE, runs.a3.run, SERVICE.origin, true],
    );
  });

  test("has a folder beside its tables that nobody may read, and every command ends as without", async () => {
    const objects = new Map(three);
    const lost = "lost+found/";
    await memoryStore(objects).put(`${lost}#131074`, Buffer.from(""));
    const store = watchedStore(memoryStore(objects), async (_operation, key) => {
      if (key.startsWith(lost)) throw new WarehouseError("target.refused", `${key} may not be read`);
      return undefined;
    });
    const place = { store, instance: INSTANCE, logRetentionDays: 30 };
    const { tables, damaged } = await lakeStatus(store);
    assert.deepEqual([tables.length, damaged], [4, []]);
    assert.deepEqual((await vacuum(store, { allVersions: true, nowMs: Date.now() })).damaged, []);
    await removeInstance(place, await removable(place), { attempt: "one", atMs: Date.now() }, signal);
    assert.deepEqual((await lakeStatus(store)).instances, []);
  });

  test("lists all others where a table, or the claim of an instance, is damaged", async () => {
    const store = memoryStore(new Map(three));
    await deliver(on(store, "two"), runs.a1);
    await store.put(`_published/instance=${INSTANCE}/000003.json`, Buffer.from("{}"));
    await store.remove([commitKey("tags", 1)]);
    const { tables, instances, damaged } = await lakeStatus(store);
    assert.deepEqual(
      tables.map(({ table }) => table),
      ["content", "empty", "run_snapshots"],
    );
    assert.deepEqual(
      instances.map(({ instance, finished }) => [instance, finished]),
      [["two", true]],
    );
    assert.deepEqual(
      damaged.map(({ what, name, problem }) => [what, name, problem.split(" (")[0]?.split(";")[0]]),
      [
        ["table", "tags", "The log of the table tags in memory: is damaged: version 1 is missing"],
        ["instance", INSTANCE, `_published/instance=${INSTANCE}/000003.json in memory: cannot be read`],
      ],
    );
  });

  test("is cleaned up but for a table, or an instance, that is damaged, which is named", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    await deliver(on(store, "two"), runs.a1);
    await deliver(on(store, "two"), runs.a2);
    await store.put(`_published/instance=two/000002.json`, Buffer.from("{}"));
    await store.remove([commitKey("tags", 1)]);
    const two = [...objects.keys()].filter((key) => key.includes("/instance=two/"));
    const { runs: copies, damaged } = await vacuum(store, { allVersions: true, nowMs: Date.now() });
    assert.deepEqual(
      damaged.map(({ what, name, problem }) => [what, name, problem.split(" (")[0]?.split(";")[0]]),
      [
        ["table", "tags", "The log of the table tags in memory: is damaged: version 1 is missing"],
        ["instance", "two", "_published/instance=two/000002.json in memory: cannot be read"],
      ],
    );
    assert.equal(copies, 2);
    assert.deepEqual(
      two.filter((key) => !objects.has(key)),
      [],
    );
    const left = (table: string) =>
      filesOf(objects, table).filter((key) => key.includes(`/instance=${INSTANCE}/`)).length;
    assert.deepEqual([left("content"), left("tags")], [1, 3]);
  });

  test("does not say whether a run is finished where run_snapshots is damaged", async () => {
    const store = memoryStore(new Map(three));
    await store.remove([commitKey("run_snapshots", 0)]);
    const { instances } = await lakeStatus(store);
    assert.deepEqual(
      instances.map(({ run, finished }) => [run, finished]),
      [[runs.a3.run, null]],
    );
  });

  suite("refuses, and stays as it was:", () => {
    const refusals: readonly [string, () => Promise<DeliveredRun>, RegExp][] = [
      [
        "another service under the name of an instance",
        () => makeRun(folder, { sequence: 4, machine: "s", instance: { ...SERVICE, id: "id-2" } }),
        /^The instance one in memory: is https:\/\/one\.example \(instance id-1\), and this one is .*id-2\)/,
      ],
      [
        "another run of the last number",
        async () => runs.b3,
        /^memory: has another run 3 \(000003-20261120T020000Z, manifest \w+\) of this instance/,
      ],
      [
        "an earlier run",
        async () => runs.a2,
        /^memory: has the later run 3 \(000003-20261120T020000Z, manifest \w+\) of this instance/,
      ],
      [
        "a table by the name of the lake's own",
        () => makeRun(folder, { sequence: 4, machine: "t", tables: { run_snapshots: 1 } }),
        /^The table run_snapshots cannot be delivered/,
      ],
      [
        "a column by the name of the partition",
        () =>
          makeRun(folder, {
            sequence: 4,
            machine: "i",
            tables: { content: 1 },
            columns: { content: [text("Instance", { comment: "Taken." })] },
          }),
        /column Instance/i,
      ],
    ];
    for (const [what, make, message] of refusals) {
      test(what, async () => {
        const objects = new Map(three);
        const store = memoryStore(objects);
        const other = on(store, "other");
        const columns = { more: [text("extra", { comment: "A text." })] };
        await deliver(
          other,
          await makeRun(folder, {
            sequence: 1,
            machine: what.slice(0, 12).replaceAll(" ", "-"),
            tables: { more: 1 },
            columns,
          }),
        );
        const before = new Set(objects.keys());
        await assert.rejects(on(store).stage(await make()), { message });
        assert.deepEqual(new Set(objects.keys()), before, "nothing was uploaded");
      });
    }

    test("a lake whose run_snapshots another program has given a feature", async () => {
      const objects = new Map(three);
      const store = memoryStore(objects);
      const feature = {
        protocol: { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ["rowTracking"] },
      };
      await store.putNew(commitKey("run_snapshots", 3), Buffer.from(commitText([feature])));
      const before = new Set(objects.keys());
      await assert.rejects(on(store).stage(runs.a4), {
        code: "target.refused",
        message: /^The table run_snapshots of the lake has rowTracking, which we do not write/,
      });
      assert.deepEqual(new Set(objects.keys()), before, "nothing was uploaded");
    });

    test("a claim that was changed by hand", async () => {
      const objects = new Map(three);
      const store = memoryStore(objects);
      await store.put(`_published/instance=${INSTANCE}/000003.json`, Buffer.from("{}"));
      await assert.rejects(on(store).stage(runs.a4), {
        code: "target.refused",
        message: /000003\.json in memory: cannot be read/,
      });
    });

    test("a store that overwrites what is to be put where there is none", async () => {
      const objects: Objects = new Map();
      const store = memoryStore(objects);
      const careless = {
        ...store,
        putNew: (key: string, body: Uint8Array) => store.put(key, body).then(() => true),
      };
      await assert.rejects(on(careless).stage(runs.a1), { code: "target.refused", message: /If-None-Match/ });
      assert.equal(objects.size, 0);
    });
  });

  test("is not said to have a run whose claim others had to give up meanwhile", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    let claimed = false;
    const next = await makeRun(folder, { sequence: 5, machine: "b" });
    const slow = watchedStore(store, async (operation, key) => {
      if (operation !== "putNew" || !key.endsWith("/000004.json") || claimed) return undefined;
      claimed = true;
      return async (answer) => {
        const [lost = ""] = [...objects.keys()].filter((each) =>
          each.startsWith("tags/instance=one/tags-000004"),
        );
        await store.remove([lost]);
        await deliver(on(store), next);
        return answer;
      };
    });
    await assert.rejects(deliver(on(slow), runs.a4), { code: "target.fenced" });
    assert.equal((await on(store).last(null, signal))?.run, next.run);
    await assertNothingMixed(store, INSTANCE);
  });

  test("goes on after a claim that nobody can finish, since a file of it was removed by hand", async () => {
    const objects = new Map(three);
    const store = memoryStore(objects);
    const isClaimed = (key: string) => key.endsWith("/000004.json");
    const stops = watchedStore(store, async () => {
      if ([...objects.keys()].some(isClaimed)) throw new Error("the process ends");
      return undefined;
    });
    await assert.rejects(
      on(stops)
        .stage(runs.a4)
        .then((staged) => staged.commit()),
    );
    const [lost = ""] = [...objects.keys()].filter((key) => key.startsWith("tags/instance=one/tags-000004"));
    await store.remove([lost]);
    assert.equal((await on(store).last(null, signal))?.run, runs.a3.run);
    assert.equal(await on(store).taken?.(signal), 4, "a run of number 4 would be refused for ever");
    const next = await makeRun(folder, { sequence: 5, machine: "a", tables: { content: 2 } });
    await deliver(on(store), next);
    assert.equal((await on(store).last(null, signal))?.run, next.run);
    await assertNothingMixed(store, INSTANCE);
    assert.deepEqual(await seenIn(store, INSTANCE), { content: { [mark("a", 5)]: 2 }, empty: {}, tags: {} });
  });
});

test("options of a lake are checked", () => {
  const faults = (options: object) => lake(options as never).faults;
  assert.deepEqual(faults({ url: "file:///lake", instance: "a-1", logRetentionDays: 7 }), []);
  assert.match(faults({ url: "file:///lake", instance: "A" })?.join() ?? "", /lake: instance is not a name/);
  assert.match(faults({ instance: "a" })?.join() ?? "", /url is missing/);
  assert.match(faults({ url: "ftp://x", instance: "a" })?.join() ?? "", /expected s3:/);
  assert.match(faults({ url: "file:///l", instance: "a", logRetentionDays: 0 })?.join() ?? "", /at least 1/);
});
