/** What a run does with its targets once it is published. */
import { listed } from "../common/nearest.ts";
import type { Config } from "../config/config.ts";
import type { Pipeline, Target } from "../pipeline.ts";
import { type Delivery, deliver, undelivered } from "../targets/deliver.ts";
import { deliveredRun, runsOf } from "../targets/published-run.ts";
import { findRun } from "../warehouse/retention.ts";
import { type RunContext, reportProgress } from "./context.ts";

/** None for a limited run: it is never delivered. */
export function targetsOf({ limit, targets }: Config): readonly Target[] {
  return limit === null ? targets : [];
}

/**
 * Says that a run is not delivered that would be otherwise, to targets and by loaders that write elsewhere: a limited one,
 * and by loaders one that is not made current, which no command repeats for them.
 */
export function undeliveredWarnings(
  { limit, targets }: Config,
  { loaders }: Pipeline,
  isPinned: boolean,
): string[] {
  const own = loaders.filter(({ stage }) => stage !== undefined);
  const places = limit === null ? own : [...own, ...targets];
  if ((limit === null && !isPinned) || places.length === 0) return [];
  const names = listed(
    places.map(({ name }) => name),
    "or",
  );
  const why =
    limit === null
      ? "an earlier run is pinned, and the first run after it is unpinned is"
      : "a limited run never is";
  return [`Nothing is delivered to ${names}: ${why}.`];
}

/** Delivers the published run. It stays published whatever happens, so nothing is thrown: a delivery says how it failed. */
export async function deliverPublished(run: RunContext): Promise<readonly Delivery[]> {
  const { folder, staging, options } = run;
  const { config, signal, clock } = options;
  try {
    const delivered = await deliveredRun(await findRun(folder, staging.run), {
      ...(await runsOf(folder)),
      temporaryDirectory: staging.temporary,
      signal,
      onProgress: (done, total) => reportProgress(run, "deliver", done, total),
    });
    return await deliver(targetsOf(config), delivered, { elapsedMs: () => clock.elapsedMs(), signal });
  } catch (thrown) {
    return undelivered(targetsOf(config), thrown);
  }
}
