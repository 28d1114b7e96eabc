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
import { either } from "../../long.ts";
import fc from "../../properties.ts";
import { deliver, INSTANCE, on } from "./deliver.ts";
import { Killed, killedAt, memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { assertNothingMixed, makeRun, mark, type RunOptions, STEADY, seenIn, snapshotsIn } from "./runs.ts";

const RUNS = ["a2", "b2", "b3", "c2"] as const;
type RunKey = (typeof RUNS)[number];

/** What one process does. Operations are counted from 0; moments are operations of all processes together. */
interface Process {
  readonly does: RunKey | "vacuum" | "vacuum all" | "last";
  readonly begins: number;
  /** Stopped before this operation of its own, until a moment. */
  readonly stopsAt: number;
  readonly goesOn: number;
  /** Killed after this operation of its own. */
  readonly killedAt: number;
}

const NEVER = 1_000_000;
const seldom = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(NEVER) }, { weight: 1, arbitrary });

const processes = fc.array(
  fc.record({
    does: fc.constantFrom<Process["does"]>(...RUNS, ...RUNS, "vacuum", "vacuum all", "last"),
    begins: fc.oneof(fc.constant(0), fc.nat(250)),
    stopsAt: fc.oneof(fc.constant(NEVER), fc.nat(90)),
    goesOn: fc.nat(400),
    killedAt: seldom(fc.nat(90)),
  }),
  { minLength: 2, maxLength: 5 },
);

/** The last claim is listed, a later one put, and the listed one shortened before it is read. */
const SHORTENED_MEANWHILE: Process[] = [
  { does: "a2", begins: 0, stopsAt: 31, goesOn: 91, killedAt: NEVER },
  { does: "a2", begins: 0, stopsAt: 0, goesOn: 0, killedAt: NEVER },
  { does: "vacuum all", begins: 0, stopsAt: 0, goesOn: 75, killedAt: NEVER },
];

/** Counts the operations of all processes, and lets them go on at their moments; where all wait, the first one early. */
class Moments {
  #now = 0;
  #active: number;
  readonly #waiting: { readonly moment: number; readonly wake: () => void }[] = [];

  constructor(processes: number) {
    this.#active = processes;
  }

  tick(): void {
    this.#now++;
    this.#wake();
  }

  /** A process has ended. */
  end(): void {
    this.#active--;
    this.#wake();
  }

  async until(moment: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ moment, wake: resolve });
    this.#waiting.sort((a, b) => a.moment - b.moment);
    this.#active--;
    this.#wake();
    await promise;
  }

  #wake(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (first.moment > this.#now && this.#active > 0) return;
      this.#waiting.shift();
      this.#active++;
      first.wake();
    }
  }
}

/** The store as a process has it that begins, stops, goes on and is killed as it is told. */
function storeOf(store: Store, { stopsAt, goesOn, killedAt: at }: Process, moments: Moments): Store {
  let next = 0;
  let stopped: Promise<void> | undefined;
  return watchedStore(killedAt(store, at, "after"), async () => {
    if (next++ === stopsAt) stopped = moments.until(goesOn);
    await stopped;
    moments.tick();
    return undefined;
  });
}

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

  async function work(store: Store, { does }: Process): Promise<"done" | "fenced" | "killed"> {
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
      fc.asyncProperty(processes, async (started) => {
        const objects = new Map(begun);
        const store = memoryStore(objects, () => Date.now() - 3 * DAY_MS);
        const moments = new Moments(started.length);
        const ended = await Promise.all(
          started.map(async (each) => {
            await moments.until(each.begins);
            try {
              return await work(storeOf(store, each, moments), each);
            } finally {
              moments.end();
            }
          }),
        );
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
      { numRuns: either(12, 120), examples: [[SHORTENED_MEANWHILE]] },
    );
  });

  /** Of runs with one number that differ, one can be delivered. */
  function assertEnds(started: readonly Process[], ended: readonly string[]): void {
    const delivered = started.filter((_, place) => ended[place] === "done").map(({ does }) => does);
    const second = new Set(delivered.filter((does) => ["a2", "b2", "c2"].includes(does)));
    assert.ok(second.size <= 1, `${[...second].join(", ")} were delivered, each as run 2`);
  }
});
