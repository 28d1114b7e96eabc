/** Deliveries, repeats, readers and a vacuum at once, in orders that fast-check chooses. */
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { DeliveredRun } from "../../../src/pipeline.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/retention.ts";
import { vacuumLake } from "../../../src/targets/lake/vacuum.ts";
import { verifyLake } from "../../../src/targets/lake/verify.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { many } from "../../long.ts";
import fc from "../../properties.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { Killed, memoryStore, type Objects } from "./memory-store.ts";
import { atOnce, NEVER, type Process, processes } from "./processes.ts";
import { assertNothingMixed, makeRun, mark, type RunOptions, STEADY, seenIn, snapshotsIn } from "./runs.ts";

const RUNS = ["a2", "b2", "b3", "c2"] as const;
type RunKey = (typeof RUNS)[number];

type Does = RunKey | "vacuum" | "vacuum all" | "last";

/** The last claim is listed, a later one put, and the listed one shortened before it is read. */
const SHORTENED_MEANWHILE: Process<Does>[] = [
  { does: "a2", begins: 0, stopsAt: 1, goesOn: NEVER, killedAt: NEVER },
  { does: "a2", begins: 1000, stopsAt: NEVER, goesOn: 0, killedAt: NEVER },
  { does: "vacuum all", begins: 2000, stopsAt: NEVER, goesOn: 0, killedAt: NEVER },
];

suite("processes at once on one lake", () => {
  let folder = "";
  const begun: Objects = new Map();
  let runs: Record<RunKey | "z9", DeliveredRun>;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-races-")));
    const old = Date.now() - 3 * DAY_MS;
    const made = (options: RunOptions) => makeRun(folder, { ...options, steady: { content: 2 } });
    await deliver(on(memoryStore(begun, () => old)), await made({ sequence: 1, machine: "a" }));
    runs = {
      a2: await made({ sequence: 2, machine: "a", tables: { content: 3, tags: 6, more: 2 } }),
      b2: await made({ sequence: 2, machine: "b" }),
      c2: await made({ sequence: 2, machine: "c" }),
      b3: await made({ sequence: 3, machine: "b", tables: { content: 4, tags: 5 } }),
      z9: await made({ sequence: 9, machine: "z", tables: { content: 1 } }),
    };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function work(store: Store, { does }: Process<Does>): Promise<"done" | "fenced" | "killed"> {
    const { signal } = runs.z9;
    try {
      if (does === "last") await on(store).last(null, signal);
      else if (does === "vacuum" || does === "vacuum all") {
        // Whatever is not kept for its own sake is old enough to go.
        const options = { allVersions: does === "vacuum all", nowMs: Date.now() + 2 * DAY_MS };
        await vacuumLake({ store, instance: INSTANCE, logRetentionDays: 1 }, options);
      } else await deliver(on(store), runs[does]);
      return "done";
    } catch (thrown) {
      if (thrown instanceof Killed) return "killed";
      if (thrown instanceof WarehouseError && thrown.code === "target.fenced") return "fenced";
      throw thrown;
    }
  }

  test("leave one run of each number, whole, and whoever comes next goes on", async () => {
    await fc.assert(
      fc.asyncProperty(processes<Does>(...RUNS, ...RUNS, "vacuum", "vacuum all", "last"), async (started) => {
        const objects = new Map(begun);
        const store = memoryStore(objects, () => Date.now() - 3 * DAY_MS);
        const ended = await atOnce(store, started, work);
        await assertNothingMixed(store, INSTANCE);
        assertEnds(started, ended);
        const last = await on(store).last(null, runs.z9.signal);
        const place = { store, instance: INSTANCE, logRetentionDays: 1 };
        assert.deepEqual((await verifyLake(place, last?.run)).findings, []);
        for (const [place, { does }] of started.entries()) {
          if (does === "b3" && ended[place] === "done") assert.equal(last?.run, runs.b3.run);
        }
        await deliver(on(store), runs.z9);
        assert.deepEqual(
          Object.values(await seenIn(store, INSTANCE)).filter((runs) => Object.keys(runs).length > 0),
          [{ [mark("z", 9)]: 1, [STEADY]: 2 }],
        );
        assert.equal((await snapshotsIn(store, INSTANCE)).at(-1)?.sequence, 9);
        await assertNothingMixed(store, INSTANCE);
      }),
      { numRuns: many(5, 120), examples: [[SHORTENED_MEANWHILE]] },
    );
  });

  /** Of runs with one number that differ, one can be delivered. */
  function assertEnds(started: readonly Process<Does>[], ended: readonly string[]): void {
    const delivered = started.filter((_, place) => ended[place] === "done").map(({ does }) => does);
    const second = new Set(delivered.filter((does) => ["a2", "b2", "c2"].includes(does)));
    assert.ok(second.size <= 1, `${[...second].join(", ")} were delivered, each as run 2`);
  }
});
