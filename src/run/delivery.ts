/** What a run does with its targets once it is published. */
import { type Delivery, deliver, undelivered } from "../targets/deliver.ts";
import { deliveredRun } from "../targets/published-run.ts";
import { findRun, listRuns } from "../warehouse/retention.ts";
import { type RunContext, reportProgress } from "./context.ts";

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
