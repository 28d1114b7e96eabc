/** Why a target keeps the run that it has. */
import { WarehouseError } from "../common/errors.ts";
import type { DeliveredRun, TargetRun } from "../pipeline.ts";
import { described, type Standing, standingOf } from "../warehouse/identity.ts";

/** `place`: what has the last run, at the beginning of a sentence. */
export function fenced(place: string, last: TargetRun, run: DeliveredRun): WarehouseError {
  return new WarehouseError(
    "target.fenced",
    `${place} ${REASONS[standingOf(last, run)](described(last))}, so ${described(run)} cannot be delivered any more; run again: the next run goes on from it.`,
  );
}

const later = (last: string) => `has the later ${last} of this instance`;

const REASONS: Readonly<Record<Standing, (last: string) => string>> = {
  other: (last) => `has another ${last} of this instance, made elsewhere`,
  apart: (last) => `has ${last} of this instance, made elsewhere, which is not in the history of this one`,
  later,
  // It has gone on since this was found out.
  same: later,
  earlier: later,
};
