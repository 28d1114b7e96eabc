/** What `runs rollback` does with the targets, once the run is current. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { joinWords } from "../common/nearest.ts";
import { loadSettings } from "../config/config.ts";
import type { Target } from "../pipeline.ts";
import { deliveryError, failedDeliveries } from "../targets/deliver.ts";
import { readCurrentRun } from "../targets/published-run.ts";
import { readTargetStatuses } from "../targets/target-states.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import type { PublishedRun } from "../warehouse/retention.ts";
import type { CliEnvironment, StopSignals } from "./command.ts";
import { deliverRun, deliveryLines, type TargetFlags, targetsOfFolder } from "./targets.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/**
 * Brings all targets to the run that somebody rolled back to; the lock is held. Gives what became of each, a line each,
 * and why one has not the run.
 */
export async function deliverRollback(
  folder: OutputFolder,
  { run, sequence }: Pick<PublishedRun, "run" | "sequence">,
  { targets, stop }: { readonly targets: readonly Target[]; readonly stop: StopSignals },
): Promise<{ readonly lines: readonly string[]; readonly failure: WarehouseError | undefined }> {
  const { signal } = stop;
  const done = await inTemporaryFolder("rollback", (temporaryDirectory) =>
    deliverRun(folder, run, { targets, temporaryDirectory, signal, isRollback: true }),
  ).catch((thrown: unknown) => ({ run, deliveries: failedDeliveries(targets, thrown) }));
  const lines = deliveryLines(done.run, done.deliveries);
  return {
    lines,
    failure: deliveryError(done.run, done.deliveries, {
      command: rollbackTo(sequence),
      state: "is current now, but ",
    }),
  };
}

function rollbackTo(sequence: number): string {
  return `content-warehouse runs rollback ${sequence} --deliver`;
}

/**
 * Says which run each target has, and the command that brings those that have another one to this. What is wrong with the
 * configuration or with a target is said too, and keeps nobody from a rollback.
 */
export async function targetLines(
  { cwd, env }: CliEnvironment,
  {
    folder,
    options,
    stop,
  }: { readonly folder: OutputFolder; readonly options: TargetFlags; readonly stop: StopSignals },
): Promise<readonly string[]> {
  try {
    const { targets: configured } = await loadSettings({ cwd, env, flags: options });
    const targets = await targetsOfFolder(folder, configured);
    const current = targets.length === 0 ? undefined : await readCurrentRun(folder);
    if (current === undefined) return [];
    const states = await readTargetStatuses(targets, current, stop.signal);
    const lines = states.map(
      ({ target, says, problem }) => `${target}: ${says}${problem === null ? "" : `: ${problem}`}`,
    );
    const others = states.flatMap(({ target, state }) => (state === "current" ? [] : [target]));
    if (others.length === 0) return lines;
    const command = `"${rollbackTo(current.sequence)}"`;
    // A run that targets were rolled back from.
    const isUndone = states.some(({ state, rollback_of }) => state === "other" && rollback_of !== null);
    const otherwise = isUndone ? "; else the next run goes on from what they have" : "";
    return [...lines, `${command} brings ${joinWords(others, "and")} to run ${current.sequence}${otherwise}`];
  } catch (thrown) {
    stop.signal.throwIfAborted();
    if (!(thrown instanceof WarehouseError)) throw thrown;
    return [`the targets were not asked: ${asWarehouseError(thrown).message}`];
  }
}
