/** Deliveries that are killed, removal, vacuum, verification and restoring, with real files in a store in memory. */
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { systemClock } from "../../../src/common/clock.ts";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { text } from "../../../src/tables/declare.ts";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/metadata.ts";
import { activeFiles, recordsOf } from "../../../src/targets/lake/delta/state.ts";
import { instanceNames, type LakeSession } from "../../../src/targets/lake/instance.ts";
import { lakeIn } from "../../../src/targets/lake/lake.ts";
import { verifyLake } from "../../../src/targets/lake/stored-run.ts";
import { lakeStatus, measureInstance, removeInstance, vacuumLake } from "../../../src/targets/lake/upkeep.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { digestFile } from "../../../src/warehouse/verify.ts";
import { temporaryFolder } from "../../folders.ts";
import { sweep } from "../../long.ts";
import { NEVER } from "../../never.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { putCommit } from "./delta/runs.ts";
import { type Death, Killed, killedAt, memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { assertNothingMixed, makeRun, mark, SERVICE, type Seen, STEADY, seenIn, tablesIn } from "./runs.ts";

function placeOf(store: Store, { instance = INSTANCE, days = 0 } = {}): LakeSession {
  const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
  return { store, instance, logRetentionDays: 30, clock };
}

/** The lake of these objects, with the clocks of store and machine set forward by so many days. */
function inDays(objects: Objects, days: number): LakeSession {
  return placeOf(
    memoryStore(objects, () => Date.now() + days * DAY_MS),
    { days },
  );
}

const findings = async (store: Store, full = true) => (await verifyLake(placeOf(store), { full })).findings;

const folder = await temporaryFolder({ after });

suite("a lake", () => {
  /** After two runs. */
  const two: Objects = new Map();
  let runs: Record<"a1" | "a2" | "a3" | "b3", DeliveredRun>;

  before(async () => {
    const steady = { content: 2 };
    const a1 = await makeRun(folder, { sequence: 1, machine: "a", steady });
    const a2 = await makeRun(folder, { sequence: 2, machine: "a", after: a1, steady });
    runs = {
      a1,
      a2,
      a3: await makeRun(folder, {
        sequence: 3,
        machine: "a",
        after: a2,
        steady,
        tables: { content: 4, more: 1 },
      }),
      b3: await makeRun(folder, { sequence: 3, machine: "b", after: a2, steady }),
    };
    for (const run of [runs.a1, runs.a2]) await deliver(on(memoryStore(two)), run);
  });
  const seenOfThree = {
    content: { [mark("a", 3)]: 4, [STEADY]: 2 },
    empty: {},
    more: { [mark("a", 3)]: 1 },
    tags: {},
  };

  async function assertRestored(store: Store, run: DeliveredRun): Promise<void> {
    const directory = await mkdtemp(join(folder, "restored-"));
    const last = (await on(store).last(SERVICE, NEVER)) ?? assert.fail();
    await on(store).restore?.(last, directory, NEVER);
    for (const { path, sha256 } of (await readManifest(run.directory)).files)
      assert.equal((await digestFile(join(directory, path))).sha256, sha256, path);
  }

  async function assertSurvivesKills(run: DeliveredRun, seen: Seen): Promise<void> {
    const counted = killedAt(memoryStore(new Map(two)), Number.POSITIVE_INFINITY, "before");
    await deliver(on(counted), run);
    for (const [at, operation] of sweep([...counted.operations.entries()], 6)) {
      const isLate = operation === "putNew" || operation === "put";
      const deaths: Death[] = ["before", "after", ...(isLate ? (["late"] as const) : [])];
      for (const when of deaths) {
        const store = memoryStore(new Map(two));
        const dying = killedAt(store, at, when);
        await assert.rejects(deliver(on(dying), run), Killed);
        await assertNothingMixed(store, INSTANCE);
        const last = await on(store).last(SERVICE, NEVER);
        await assertRestored(store, last?.sequence === run.sequence ? run : runs.a2);
        await deliver(on(store), run);
        assert.deepEqual(await seenIn(store, INSTANCE), seen);
        await dying.arrive();
        assert.deepEqual(await seenIn(store, INSTANCE), seen);
        assert.deepEqual(await findings(store), []);
      }
    }
  }

  test("shows whole runs, at whatever operation a delivery was killed, and whoever repeats it ends it", () =>
    assertSurvivesKills(runs.a3, seenOfThree));

  test("has one run or the other, at whatever operation a rollback was killed, and whoever repeats it ends it", () => {
    const back = { ...runs.a1, isRollback: true, known: [runs.a1, runs.a2] };
    return assertSurvivesKills(back, {
      content: { [mark("a", 1)]: 3, [STEADY]: 2 },
      empty: {},
      tags: { [mark("a", 1)]: 5 },
    });
  });

  test("gets the files that changed alone, with a version of their tables whose log names the rows", async () => {
    const objects = new Map(two);
    const store = memoryStore(objects);
    await deliver(on(store), runs.b3);
    const put = [...objects.keys()].filter((key) => !two.has(key));
    const tables = (of: RegExp) => put.flatMap((key) => of.exec(key)?.[1] ?? []).toSorted();
    const changed = ["content", "run_snapshots", "tags"];
    assert.deepEqual(tables(/^([a-z]\w*)\/instance=/), changed);
    // run_snapshots has two commits: the claim and the finish.
    assert.deepEqual(tables(/^(\w+)\/_delta_log\/\d+\.json$/), [...changed, "run_snapshots"].toSorted());
    const files = activeFiles(await readTable(store, "content"), INSTANCE);
    assert.deepEqual(files.map(({ add }) => recordsOf(add)).toSorted(), [2, 3]);
    await assertNothingMixed(store, INSTANCE);
  });

  test("gets a column that a later run has, and keeps it when the run after that has it no more", async () => {
    const store = memoryStore(new Map(two));
    // DuckDB gives a file's name to a column of that name.
    const columns = { content: [text("filename", { comment: "New." })] };
    const wide = await makeRun(folder, { sequence: 3, machine: "w", after: runs.a2, columns });
    const narrow = await makeRun(folder, { sequence: 4, machine: "w", after: wide });
    for (const run of [wide, narrow]) {
      await deliver(on(store), run);
      const { metaData } = (await readTable(store, "content")) ?? assert.fail();
      const { fields } = JSON.parse(metaData.schemaString);
      assert.deepEqual(
        fields.map(({ name, nullable }: { name: string; nullable: boolean }) => [name, nullable]).slice(-3),
        [
          ["id", false],
          ["run", true],
          ["filename", true],
        ],
      );
    }
    assert.deepEqual((await seenIn(store, INSTANCE)).content, { [mark("w", 4)]: 3 });
  });

  test("raises the retention of its tables to the setting, and never lowers it", async () => {
    const store = memoryStore(new Map(two));
    let run = runs.a2;
    for (const [sequence, logRetentionDays] of [
      [3, 60],
      [4, 10],
    ] as const) {
      run = await makeRun(folder, { sequence, machine: "r", after: run });
      await deliver(
        lakeIn(async () => store, { instance: INSTANCE, logRetentionDays }),
        run,
      );
      for (const table of ["content", "empty", "tags", "run_snapshots"])
        assert.equal(
          (await readTable(store, table))?.metaData.configuration["delta.logRetentionDuration"],
          "interval 60 days",
          `${table} after run ${sequence}`,
        );
    }
  });

  test("keeps the run of a delivery that took over while another one was about to finish", async () => {
    const store = memoryStore(new Map(two));
    let puts = 0;
    const sleeper = watchedStore(store, async (operation, key) => {
      // The first is the claim, the second the finish.
      if (operation === "putNew" && key.startsWith("run_snapshots/_delta_log/") && ++puts === 2)
        await deliver(on(store), runs.b3);
      return undefined;
    });
    await assert.rejects(deliver(on(sleeper), runs.a3), { code: "target.fenced", message: /took over/ });
    assert.equal((await on(store).last(SERVICE, NEVER))?.sha256, runs.b3.sha256);
    assert.deepEqual(await findings(store), []);
  });

  test("gives a file back that is missing in the store by the next delivery", async () => {
    const store = memoryStore(new Map(two));
    const [key = ""] = [...two.keys()].filter((each) => each.startsWith("empty/instance="));
    await store.remove([key]);
    assert.deepEqual(await findings(store, false), [`${key} is missing.`]);
    await deliver(on(store), runs.b3);
    assert.deepEqual(await findings(store), []);
  });

  test("is found to be changed, by size or by SHA-256 or by rows", async () => {
    const objects = new Map(two);
    const store = memoryStore(objects);
    const [key = ""] = [...two.keys()].filter((each) => /^_published.*000002\/report/.test(each));
    const body = Buffer.from(two.get(key)?.body ?? "");
    body[0] = 0;
    objects.set(key, { body, modifiedMs: 0 });
    assert.deepEqual(await findings(store, false), []);
    assert.match((await findings(store)).join(), /has another content than was delivered/);
    const state = (await readTable(store, "tags")) ?? assert.fail();
    const removes = [...state.files.keys()].map((path) => ({
      remove: { path, deletionTimestamp: Date.now(), dataChange: true },
    }));
    await putCommit(store, state.version + 1, removes, "tags");
    assert.match(
      (await findings(store, false)).join(),
      /newest version of tags has 0 rows, and the run has 5/,
    );
  });

  test("keeps versions of the retention, then the last run alone, and what that needs", async () => {
    const objects = new Map(two);
    const store = memoryStore(objects);
    const first = await vacuumLake(inDays(objects, 8), { allVersions: false });
    assert.deepEqual([first.files, first.copies], [0, 1]);
    await deliver(on(store), runs.a3);
    const later = await vacuumLake(inDays(objects, 40), { allVersions: false });
    assert.ok(later.files > 0);
    await assertRestored(store, runs.a3);
    const all = await vacuumLake(placeOf(store), { allVersions: true });
    assert.ok(all.logFiles > 0);
    assert.deepEqual(await findings(store), []);
  });

  test("keeps the last whole run while a later delivery is at work, whatever a vacuum removes", async () => {
    const store = memoryStore(new Map(two));
    let vacuums = 0;
    const vacuumed = watchedStore(store, async (operation) => {
      if (operation !== "putNew" || vacuums++ > 4) return undefined;
      await vacuumLake(placeOf(store), { allVersions: true });
      const last = await on(store).last(SERVICE, NEVER);
      await assertRestored(store, last?.sequence === 3 ? runs.a3 : runs.a2);
      return undefined;
    });
    await deliver(on(vacuumed), runs.a3);
    assert.deepEqual(await findings(store), []);
  });

  test("keeps an upload that nobody has named for a week", async () => {
    const objects = new Map(two);
    const store = memoryStore(objects);
    await on(store).stage(runs.a3);
    const staged = objects.size;
    await vacuumLake(inDays(objects, 6), { allVersions: false });
    assert.equal(objects.size, staged - 1 /* report and manifest of the first run */ - 1);
    await vacuumLake(inDays(objects, 8), { allVersions: false });
    assert.ok(objects.size < staged - 2);
  });

  for (const [what, days, at] of [
    ["a week ahead", 8, "ahead of"],
    ["a month behind", -40, "behind"],
    ["two hours ahead", 1 / 12, "ahead of"],
  ] as const) {
    test(`L3: neither a vacuum nor a delivery works on a machine whose clock is ${what}`, async (t) => {
      const objects = new Map(two);
      const store = memoryStore(objects);
      await on(store).stage(runs.a3);
      const before = [...objects.keys()];
      const refused = { code: "target.refused", message: new RegExp(`^The clock .* h .* min ${at} that of`) };
      for (const allVersions of [false, true])
        await assert.rejects(vacuumLake(placeOf(store, { days }), { allVersions }), refused);
      t.mock.timers.enable({ apis: ["Date"], now: Date.now() + days * DAY_MS });
      const behind = memoryStore(objects, () => Date.now() - days * DAY_MS);
      await assert.rejects(deliver(on(behind), runs.b3), refused);
      assert.deepEqual([...objects.keys()], before);
      assert.deepEqual(await findings(store), []);
    });
  }

  test("L3: what a delivery took out stays for the retention, by the clock of the store", async () => {
    const objects = new Map(two);
    await deliver(on(memoryStore(objects)), runs.b3);
    const before = new Set(objects.keys());
    await vacuumLake(inDays(objects, 29), { allVersions: false });
    const gone = [...before].filter((key) => !objects.has(key) && !key.startsWith("_published/"));
    assert.deepEqual(gone, []);
  });

  for (const isOfOthers of [false, true])
    test(`L2: a delivery that was overtaken puts nothing into a table that ${isOfOthers ? "only another instance has" : "nobody has"}`, async () => {
      const store = memoryStore(new Map(two));
      const other = { sequence: 1, machine: "u", tables: { more: 2 } };
      if (isOfOthers) await deliver(on(store, "two"), await makeRun(folder, other));
      let puts = 0;
      const sleeper = watchedStore(store, async (operation, key) => {
        const isClaim = operation === "putNew" && key.startsWith("run_snapshots/_delta_log/") && ++puts === 1;
        if (!isClaim) return undefined;
        return async (answer: unknown) => {
          await deliver(on(store), runs.b3);
          return answer;
        };
      });
      await assert.rejects(deliver(on(sleeper), runs.a3), { code: "target.fenced", message: /took over/ });
      assert.deepEqual((await seenIn(store, INSTANCE)).more, isOfOthers ? {} : undefined);
      assert.deepEqual(await findings(store), []);
    });

  test("L2: rows in a table that the last run does not have are named, and the next delivery removes them", async () => {
    const objects = new Map(two);
    const store = memoryStore(objects);
    let arrive: () => Promise<unknown> = assert.fail;
    const dying = watchedStore(store, async (operation, key, work) => {
      if (operation !== "putNew" || !key.startsWith("more/_delta_log/")) return undefined;
      arrive = work;
      throw new Killed("before its put arrived");
    });
    await assert.rejects(deliver(on(dying), runs.a3), Killed);
    await deliver(on(store), runs.b3);
    await arrive();
    assert.deepEqual(await findings(store), [
      "The newest version of more has rows of one, and its run does not have this table: an overtaken delivery or another program wrote them; the next delivery removes them.",
    ]);
    const { sections, next } = await lakeStatus(placeOf(store));
    assert.deepEqual(sections[0]?.rows[0]?.stray_tables, ["more"]);
    assert.match(next?.join() ?? "", /^one: rows in more, which the last run does not have; /);
    const copy = memoryStore(new Map(objects));
    await removeInstance(placeOf(copy), NEVER);
    await deliver(on(store), await makeRun(folder, { sequence: 4, machine: "b", after: runs.b3 }));
    assert.deepEqual(await findings(store), []);
    for (const each of [store, copy]) assert.deepEqual((await seenIn(each, INSTANCE)).more, {});
  });

  test("loses an instance by a removal, table by table, and its name may go to another service", async () => {
    const store = memoryStore(new Map(two));
    const service = { id: "id-2", origin: "https://two.example" };
    const other = await makeRun(folder, { sequence: 1, machine: "o", instance: service });
    await deliver(on(store, "two"), await makeRun(folder, { sequence: 1, machine: "t", instance: service }));
    const seen = await seenIn(store, "two");
    await assert.rejects(deliver(on(store), other), { code: "target.fenced", message: /lake remove one/ });
    const { tables, rows } = await measureInstance(placeOf(store));
    assert.deepEqual([tables, rows], [3, 10]);
    const counted = killedAt(memoryStore(new Map(two)), Number.POSITIVE_INFINITY, "before");
    await removeInstance(placeOf(counted), NEVER);
    for (const [at] of sweep([...counted.operations.entries()], 4)) {
      const killed = memoryStore(new Map(two));
      await assert.rejects(removeInstance(placeOf(killedAt(killed, at, "after")), NEVER), Killed);
      await removeInstance(placeOf(killed), NEVER);
      assert.ok(Object.values(await seenIn(killed, INSTANCE)).every((of) => Object.keys(of).length === 0));
    }
    await removeInstance(placeOf(store), NEVER);
    assert.equal(await on(store).last(service, NEVER), null);
    assert.deepEqual(instanceNames(await readTable(store, "run_snapshots")), ["two"]);
    await assert.rejects(measureInstance(placeOf(store)), { code: "config.not_found" });
    assert.deepEqual(await seenIn(store, "two"), seen);
    await deliver(on(store), other);
    assert.deepEqual(await findings(store), []);
  });

  const refusals: readonly [
    what: string,
    make: () => Promise<DeliveredRun>,
    code: string,
    message: RegExp,
  ][] = [
    ["an earlier run", async () => runs.a1, "target.fenced", /^memory: has the later run 2/],
    [
      "a table by the name of the lake's own",
      () => makeRun(folder, { sequence: 4, machine: "t", after: runs.a2, tables: { run_snapshots: 1 } }),
      "target.refused",
      /^The table run_snapshots cannot be delivered/,
    ],
    [
      "a column by the name of the partition",
      () =>
        makeRun(folder, {
          sequence: 4,
          after: runs.a2,
          machine: "i",
          columns: { content: [text("Instance", { comment: "Taken." })] },
        }),
      "target.refused",
      /^The column Instance of the table content/,
    ],
  ];
  for (const [what, make, code, message] of refusals) {
    test(`refuses ${what}, and stays as it was`, async () => {
      const objects = new Map(two);
      await assert.rejects(on(memoryStore(objects)).stage(await make()), { code, message });
      assert.equal(objects.size, two.size);
    });
  }

  test("leaves another program's tables beside its own alone", async () => {
    const store = memoryStore(new Map(two));
    await store.put("theirs/_delta_log/00000000000000000000.json", Buffer.from("not a log"));
    await deliver(on(store), runs.a3);
    await vacuumLake(placeOf(store), { allVersions: true });
    assert.ok((await tablesIn(store)).includes("theirs"));
  });
});
