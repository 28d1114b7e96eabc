/** What a run does with its targets: asks them before it begins, and delivers to them once it is published. */
import { WarehouseError } from "../common/errors.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import { type Delivery, deliver, undelivered } from "../targets/deliver.ts";
import { deliveredRun } from "../targets/published-run.ts";
import { askTargets, restoreNewest } from "../targets/restore.ts";
import { readBaseline } from "../warehouse/baseline.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { findRun, listRuns } from "../warehouse/retention.ts";
import { type RunContext, type RunOptions, reportProgress } from "./context.ts";
import { knownInstance } from "./source.ts";

/** Throws `config.invalid` where there are targets and nothing that they could be given. */
export function assertDeliverable({ config }: RunOptions, pipeline: Pipeline): void {
  if (config.targets.length === 0 || publishes(pipeline, "parquet")) return;
  throw new WarehouseError(
    "config.invalid",
    `The pipeline ${pipeline.name} publishes no Parquet files, which targets are made from: add parquet() to its loaders, or leave out \`targets\`.`,
  );
}

/** Restores the newest run that a target has. Gives the highest number any knows: this run's is above. Needs the lock. */
export async function meetTargets(
  { config, signal, log }: RunOptions,
  folder: OutputFolder,
): Promise<number> {
  if (config.targets.length === 0) return 0;
  const instance = knownInstance(await readBaseline(folder), config);
  const options = { instance, signal, warn: (message: string) => log.warn(message) };
  const states = await askTargets(folder, config.targets, options);
  await restoreNewest(folder, states, options);
  return Math.max(0, ...states.map(({ taken }) => taken));
}

/** Delivers the published run. It stays published whatever happens, so nothing is thrown: a delivery says how it failed. */
export async function deliverPublished(run: RunContext): Promise<readonly Delivery[]> {
  const { folder, staging, options } = run;
  const { config, signal, clock } = options;
  try {
    const delivered = await deliveredRun(await findRun(folder, staging.run), {
      runs: await listRuns(folder),
      temporaryDirectory: staging.temporary,
      signal,
      onProgress: (done, total) => reportProgress(run, "deliver", done, total),
    });
    return await deliver(config.targets, delivered, { elapsedMs: () => clock.elapsedMs(), signal });
  } catch (thrown) {
    return undelivered(config.targets, thrown);
  }
}
