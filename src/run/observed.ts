/** A run with its observers: what they are told of its start and its end. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import type { Config } from "../config/config.ts";
import { type Observers, openObservers } from "../observe/observers.ts";
import { exitCodeOf } from "../observe/outcome.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { outputFolder } from "../warehouse/layout.ts";
import { listRuns } from "../warehouse/retention.ts";
import type { RunOptions } from "./context.ts";

/** A run that is published. */
export interface Exported {
  readonly summary: RunSummary;
  /** Of a loader that could not make the run visible. */
  readonly failure: WarehouseError | null;
}

/**
 * Makes a run, and tells the observers that the configuration names how it ended, unless it is limited. Throws what the
 * run throws.
 */
export async function observed(
  { config, clock, log, signal }: RunOptions,
  run: (observers: Observers) => Promise<Exported>,
): Promise<Exported> {
  const { limit, observe, warehouse } = config;
  // What watches the nights must not take a limited run for one of them.
  const settings = limit === null ? observe : { onFinish: null, metricsFile: null };
  const observers = openObservers({ settings, warehouse, clock });
  let exported: Exported;
  try {
    exported = await run(observers);
  } catch (thrown) {
    const error = failureOf(thrown, { config, signal });
    for (const warning of await observers.failed(error, await shownIn(warehouse))) log.warn(warning);
    throw error;
  }
  const { summary } = exported;
  for (const warning of await observers.published(summary, exitCodeOf(summary))) log.warn(warning);
  return exported;
}

/** The run that readers see, whatever became of the one that failed. */
async function shownIn(warehouse: string): Promise<RunSummary["current"] | null> {
  // A folder that cannot be read is what the run failed by, or the next one does.
  const runs = await listRuns(outputFolder(warehouse)).catch(() => []);
  const shown = runs.find(({ current }) => current);
  if (shown === undefined) return null;
  const { run, manifest } = shown;
  const publishedAt = manifest instanceof WarehouseError ? null : manifest.endedAt;
  return { run, publishedAt };
}

/** What an ended run leaves behind, for its message. */
export function leftOf({ limit }: Pick<Config, "limit">): string {
  return limit === null
    ? "nothing was published, and a rerun goes on from what was read"
    : "nothing was published";
}

/** A run that was ended by its caller's signal says so, whatever the reason of the signal is. */
function failureOf(
  thrown: unknown,
  { config, signal }: Pick<RunOptions, "config" | "signal">,
): WarehouseError {
  const { reason } = signal;
  if (thrown !== reason || thrown instanceof WarehouseError) return asWarehouseError(thrown);
  return new WarehouseError("run.interrupted", `The run was ended by its caller; ${leftOf(config)}.`, {
    cause: thrown,
  });
}
