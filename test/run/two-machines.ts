/** Two machines that export one service to one target, each with a warehouse of its own, and begin in the same second. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { silentLog } from "../../src/common/log.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Target } from "../../src/pipeline.ts";
import { MANIFEST_FILE } from "../../src/warehouse/manifest.ts";
import { digestFile } from "../../src/warehouse/verify.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, Scripted } from "./scripted.ts";

const PIPELINE = new URL("./parquet-pipeline.ts", import.meta.url).href;
const DAY_MS = 24 * 60 * 60 * 1000;

export type Machine = "A" | "B";

export interface World {
  readonly service: Scripted;
  readonly target: Target;
  readonly folders: Readonly<Record<Machine, string>>;
  /** What each run has read, by the SHA-256 of its manifest. */
  readonly read: Map<string, readonly Item[]>;
  readonly warnings: Readonly<Record<Machine, string[]>>;
  /** What its runs are given besides. */
  readonly given?: { readonly pipelineUrl?: string; readonly keepRuns?: number };
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

/** Nothing is heard of a run any more once it is published. */
export async function dies(): Promise<void> {
  throw new WarehouseError("target.unavailable", "Nobody hears of it; deliver again.");
}

/** A run of a machine. `beforeDelivery`: what happens elsewhere once it is published and before it asks the target. */
export async function nightOn(
  { service, target, folders, read, warnings, given: { pipelineUrl = PIPELINE, keepRuns = 7 } = {} }: World,
  machine: Machine,
  night: number,
  beforeDelivery: () => Promise<unknown> = async () => {},
): Promise<RunSummary> {
  const items = contentOf(read.size);
  const asked: unknown[] = [];
  return await exportFrom({
    url: service.url,
    out: folders[machine],
    pipelineUrl,
    clock: new HurriedClock(Date.UTC(2026, 10, 20, 2) + night * DAY_MS),
    log: { ...silentLog, warn: (message) => void warnings[machine].push(message) },
    config: {
      keepRuns,
      targets: [
        {
          ...target,
          last: async (...given) => {
            if (asked.push(given) === 1) service.items = [...items];
            else {
              read.set(await digestIn(join(folders[machine], "current")), items);
              await beforeDelivery();
            }
            return await target.last(...given);
          },
        },
      ],
    },
  });
}

/** SHA-256 of the manifest of the run in a folder. */
export async function digestIn(directory: string): Promise<string> {
  return (await digestFile(join(directory, MANIFEST_FILE))).sha256;
}
