/** Delivering a run of a warehouse folder, for commands that hold its lock. */
import { systemClock } from "../common/clock.ts";
import type { Target } from "../pipeline.ts";
import { type Delivery, deliver } from "../targets/deliver.ts";
import { deliveredRun } from "../targets/published-run.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { findRun } from "../warehouse/retention.ts";

export interface DeliverRunOptions {
  readonly targets: readonly Target[];
  readonly temporaryDirectory: string;
  readonly signal: AbortSignal;
}

export interface DeliveredTo {
  readonly run: string;
  readonly deliveries: readonly Delivery[];
}

/** `wanted`: a run's name, its number, or `current`. */
export async function delivered(
  folder: OutputFolder,
  wanted: string,
  { targets, temporaryDirectory, signal }: DeliverRunOptions,
): Promise<DeliveredTo> {
  const options = { temporaryDirectory, signal, onProgress: () => {} };
  const run = await deliveredRun(await findRun(folder, wanted), options);
  const elapsedMs = () => systemClock.elapsedMs();
  return { run: run.run, deliveries: await deliver(targets, run, { elapsedMs, signal }) };
}
