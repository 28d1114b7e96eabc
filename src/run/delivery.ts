/** What a run does with its targets once it is published. */
import { joinWords } from "../common/nearest.ts";
import type { Config } from "../config/config.ts";
import type { Pipeline, Target } from "../pipeline.ts";
import { type Delivery, deliver, failedDeliveries } from "../targets/deliver.ts";
import { readDeliveredRun, readFolderRuns } from "../targets/published-run.ts";
import { findRun } from "../warehouse/retention.ts";
import { type PublishingRun, reportProgress } from "./context.ts";

/** None for a limited run: it is never delivered. */
export function targetsOf({ limit, targets }: Pick<Config, "limit" | "targets">): readonly Target[] {
  return limit === null ? targets : [];
}

/** Says that a limited run is delivered to no target, and by no loader that writes elsewhere. */
export function undeliveredWarnings(
  { limit, targets }: Pick<Config, "limit" | "targets">,
  { loaders }: Pipeline,
): string[] {
  const places = [...loaders.filter(({ stage }) => stage !== undefined), ...targets];
  if (limit === null || places.length === 0) return [];
  const names = places.map(({ name }) => name);
  return [`Nothing is delivered to ${joinWords(names, "or")}: a limited run never is.`];
}

/** Delivers the published run. It stays published whatever happens, so nothing is thrown: a delivery says how it failed. */
export async function deliverPublished(run: PublishingRun): Promise<readonly Delivery[]> {
  const { folder, staging, options } = run;
  const { config, signal, clock } = options;
  try {
    const delivered = await readDeliveredRun(await findRun(folder, staging.run), {
      ...(await readFolderRuns(folder)),
      temporaryDirectory: staging.temporary,
      signal,
      onProgress: (done, total) => reportProgress(run, "deliver", done, total),
    });
    return await deliver(targetsOf(config), delivered, { elapsedMs: () => clock.elapsedMs(), signal });
  } catch (thrown) {
    return failedDeliveries(targetsOf(config), thrown);
  }
}
