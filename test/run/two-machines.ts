/** Two machines that export one service to one target, each with a warehouse of its own, and begin in the same second. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { silentLog } from "../../src/common/log.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Target } from "../../src/pipeline.ts";
import { deliver } from "../../src/targets/deliver.ts";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { MANIFEST_FILE } from "../../src/warehouse/manifest.ts";
import { findRun, listRuns } from "../../src/warehouse/retention.ts";
import { digestFile } from "../../src/warehouse/verify.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, Scripted } from "./scripted.ts";

const PIPELINE = new URL("./parquet-pipeline.ts", import.meta.url).href;

export type Machine = "A" | "B";
export const MACHINES: readonly Machine[] = ["A", "B"];

export interface World {
  readonly service: Scripted;
  readonly target: Target;
  readonly folders: Readonly<Record<Machine, string>>;
  /** What each run has read, by the SHA-256 of its manifest. */
  readonly read: Map<string, readonly Item[]>;
  readonly warnings: Readonly<Record<Machine, string[]>>;
}

export async function worldOf(t: TestContext, target: Target): Promise<World> {
  const folder = await temporaryFolder(t);
  return {
    service: await Scripted.start(t, []),
    target,
    folders: { A: join(folder, "a"), B: join(folder, "b") },
    read: new Map(),
    warnings: { A: [], B: [] },
  };
}

/** No two runs read the same: an item is edited before each, some are new, and those that were new before are gone. */
function contentOf(count: number): readonly Item[] {
  const [first, ...others] = itemsOf(3);
  const news = Array.from({ length: 1 + (count % 5) }, (_, index) => item(`new-${count}-${index}`, 1));
  const updatedAt = new Date(Date.UTC(2026, 10, 1, 11, 0, count)).toISOString();
  return [{ ...first, id: "c-000", updated_at: updatedAt }, ...others, ...news];
}

/** A run's: it asks the target; it is published, and asks again; it writes where nobody looks; it commits. */
const STEPS = 4;

export function steps(machine: Machine, count = STEPS): Machine[] {
  return Array.from({ length: count }, () => machine);
}

export interface Night {
  readonly night: number;
  /** Which machine takes the next step. */
  readonly order: readonly Machine[];
  /** Machines whose runs are published, and then nothing is heard of them. */
  readonly killed?: readonly Machine[];
}

export async function nightOf(
  world: World,
  { night, order, killed = [] }: Night,
): Promise<ReadonlyMap<Machine, RunSummary>> {
  const turns = new Turns(order);
  const clock = new NightClock(night);
  const run = async (machine: Machine) => {
    try {
      const target = inTurn(world, machine, {
        turns,
        count: 2 * night + MACHINES.indexOf(machine),
        isKilled: killed.includes(machine),
      });
      return [machine, await runOn(world, machine, { target, clock })] as const;
    } finally {
      turns.end(machine);
    }
  };
  return new Map(await Promise.all([...new Set(order)].map(run)));
}

/** The same instant on both machines. */
class NightClock extends HurriedClock {
  readonly #night: number;

  constructor(night: number) {
    super();
    this.#night = night;
  }

  override now(): number {
    return super.now() + this.#night * 24 * 60 * 60 * 1000;
  }
}

/** The target, each of whose steps waits for its turn. */
function inTurn(
  { target, service, read, folders }: World,
  machine: Machine,
  {
    turns,
    count,
    isKilled,
  }: { readonly turns: Turns<Machine>; readonly count: number; readonly isKilled: boolean },
): Target {
  let asked = 0;
  let items: readonly Item[] = [];
  return {
    ...target,
    last: async (...given) => {
      await turns.next(machine);
      asked += 1;
      if (asked === 1) items = contentOf(count);
      else read.set(await digestIn(join(folders[machine], "current")), items);
      service.items = [...items];
      if (asked > 1 && isKilled)
        throw new WarehouseError("target.unavailable", "Nobody hears of it; deliver again.");
      return await target.last(...given);
    },
    stage: async (run) => {
      await turns.next(machine);
      const staged = await target.stage(run);
      const commit = async () => {
        await turns.next(machine);
        await staged.commit();
      };
      return { ...staged, commit };
    },
  };
}

async function runOn(
  { service, folders, warnings }: World,
  machine: Machine,
  { target, clock }: { readonly target: Target; readonly clock: NightClock },
): Promise<RunSummary> {
  return await exportFrom({
    url: service.url,
    out: folders[machine],
    pipelineUrl: PIPELINE,
    clock,
    log: { ...silentLog, warn: (message) => void warnings[machine].push(message) },
    config: { targets: [target] },
  });
}

/** SHA-256 of the manifest of the run in a folder. */
export async function digestIn(directory: string): Promise<string> {
  return (await digestFile(join(directory, MANIFEST_FILE))).sha256;
}

/** What became of the items between two runs. */
export function changesBetween(before: readonly Item[], after: readonly Item[]) {
  const [times, later] = [before, after].map(
    (items) => new Map(items.map(({ id, updated_at }) => [id, String(updated_at)])),
  );
  const kept = [...(later ?? [])].filter(([id]) => times?.has(id));
  return {
    new: after.length - kept.length,
    edited: kept.filter(([id, at]) => times?.get(id) !== at).length,
    removed: before.length - kept.length,
  };
}

/** What `deliver` does on a machine. */
export async function deliverCurrent({ folders, target }: World, machine: Machine) {
  const folder = outputFolder(folders[machine]);
  const { signal } = new AbortController();
  const run = await readDeliveredRun(await findRun(folder, "current"), {
    runs: await listRuns(folder),
    temporaryDirectory: join(folder.staging, "tmp"),
    signal,
    onProgress: () => {},
  });
  return await deliver([target], run, { elapsedMs: () => 0, signal });
}

/** Takes the steps of several workers, which run beside each other, in an order that a test gives. */
class Turns<Worker extends string> {
  #order: Worker[];
  #under: Worker | undefined;
  readonly #waiting = new Map<Worker, () => void>();

  /** Each worker as often as it takes steps; steps beyond that come when the others have ended. */
  constructor(order: readonly Worker[]) {
    this.#order = [...order];
  }

  /** Ends the worker's step, and gives when its next one is due. */
  async next(worker: Worker): Promise<void> {
    if (this.#under === worker) this.#under = undefined;
    const due = Promise.withResolvers<void>();
    this.#waiting.set(worker, due.resolve);
    this.#begin();
    await due.promise;
  }

  /** The worker has ended: nobody waits for the steps that it did not take. */
  end(worker: Worker): void {
    if (this.#under === worker) this.#under = undefined;
    this.#order = this.#order.filter((each) => each !== worker);
    this.#begin();
  }

  #begin(): void {
    if (this.#under !== undefined) return;
    const worker = this.#order[0] ?? [...this.#waiting.keys()][0];
    const start = worker === undefined ? undefined : this.#waiting.get(worker);
    if (worker === undefined || start === undefined) return;
    this.#order.shift();
    this.#waiting.delete(worker);
    this.#under = worker;
    start();
  }
}
