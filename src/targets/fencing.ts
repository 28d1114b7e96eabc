/** Decides whether a run may replace the last run of a target. */
import { WarehouseError } from "../common/errors.ts";
import type { DeliveredRun, TargetRun } from "../pipeline.ts";
import { isAmong, type RunStanding, runText, standingOf } from "../warehouse/identity.ts";

/**
 * Throws `target.fenced` if a run may not replace the last one. Only a rollback takes a target back, and only from a run that
 * its own warehouse knows. `name`: who has the last run, as the subject of a sentence. `keepsRuns`: whether runs can be
 * restored from there. If not, a run of another history replaces the last one, because nothing can continue from that.
 */
export function assertMayFollow(
  { name, keepsRuns }: { readonly name: string; readonly keepsRuns: boolean },
  last: TargetRun | null,
  run: DeliveredRun,
): void {
  if (last === null) return;
  const standing = standingOf(last, run);
  if (standing === "same" || standing === "earlier") return;
  if (standing === "apart" && !keepsRuns) return;
  if (run.isRollback && isAmong(last, run.known)) return;
  throw new WarehouseError(
    "target.fenced",
    `${name} ${reason(standing, last)}, so ${runText(run)} ${consequence(standing, last, run)}.`,
  );
}

function reason(standing: RunStanding, last: TargetRun): string {
  if (last.rollbackOf !== undefined && (standing === "undone" || standing === "apart"))
    return `was rolled back from ${runText(last.rollbackOf)} to ${runText(last)} of this instance`;
  if (standing === "other") return `has another ${runText(last)} of this instance, from another machine`;
  if (standing === "apart")
    return `has ${runText(last)} of this instance, from another machine, which is not in the history of this one`;
  return `has the later ${runText(last)} of this instance`;
}

function consequence(standing: RunStanding, last: TargetRun, run: DeliveredRun): string {
  const isKnown = isAmong(last, run.known);
  if (run.isRollback && !isKnown)
    return `cannot replace it, because that run is not in this warehouse; fetch it with "content-warehouse restore", or roll back on the machine that made it`;
  if (standing === "undone" || (standing === "later" && isKnown))
    return `can only be delivered by a rollback: "content-warehouse runs rollback ${run.sequence} --deliver"`;
  return "can no longer be delivered; run again, and the next run continues from it";
}
