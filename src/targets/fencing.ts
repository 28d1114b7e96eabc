/** Which run may take the place of the last one of a target, and why another may not. */
import { WarehouseError } from "../common/errors.ts";
import type { DeliveredRun, TargetRun } from "../pipeline.ts";
import { isAmong, type RunStanding, runText, standingOf } from "../warehouse/identity.ts";

/**
 * Throws `target.fenced` where a run may not take the place of the last one. A target is never taken back by accident:
 * it is by a rollback alone, and from a run alone that the warehouse of the rollback has too. `name`: what has the last run,
 * at the beginning of a sentence. `keepsRuns`: whether a run that was made apart can go on from it; else it takes the place
 * of one that nothing goes on from.
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
  return REASONS[standing](runText(last));
}

function consequence(standing: RunStanding, last: TargetRun, run: DeliveredRun): string {
  const isKnown = isAmong(last, run.known);
  if (run.isRollback && !isKnown)
    return `does not take its place: that run is none of this warehouse; get it with "content-warehouse restore", or roll back where it was made`;
  if (standing === "undone" || (standing === "later" && isKnown))
    return `can only be delivered by a rollback: "content-warehouse runs rollback ${run.sequence} --deliver"`;
  return "cannot be delivered any more; run again: the next run goes on from it";
}

const later = (last: string) => `has the later ${last} of this instance`;

const REASONS: Readonly<Record<RunStanding, (last: string) => string>> = {
  other: (last) => `has another ${last} of this instance, made elsewhere`,
  apart: (last) => `has ${last} of this instance, made elsewhere, which is not in the history of this one`,
  later,
  undone: later,
  // It has gone on since this was found out.
  same: later,
  earlier: later,
};
