/** How a run ended, as `onFinish` gets it. */
import { type ErrorCode, exitCodeFor, UNSETTLED_EXIT_CODE } from "../common/errors.ts";
import { deliveryError } from "../targets/deliver.ts";
import type { RunSummary } from "./run-summary.ts";

/** A run that was published: what `--json` prints, and the exit code: 0, 10, 26, or a signal's that ended its delivery. */
export type RunPublished = { readonly ok: true; readonly exitCode: number } & RunSummary;

export interface RunFailed {
  readonly ok: false;
  readonly code: ErrorCode;
  /** One sentence: the cause, then the way out. */
  readonly message: string;
  readonly exitCode: number;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Null: the run ended before it had a name. */
  readonly run: string | null;
  /** Null: it could not be loaded. */
  readonly pipeline: string | null;
}

export type RunOutcome = RunPublished | RunFailed;

/** Called when a run has ended, published or not. It is waited for until the signal is aborted, ten seconds later. */
export type OnFinish = (outcome: RunOutcome, signal: AbortSignal) => unknown;

/**
 * What a target or a loader did not take asks for more than an unsettled verdict, which the summary says besides; and so
 * does a signal.
 */
export function exitCodeOf({ run, verdict, deliveries, loadFailure }: RunSummary): number {
  const undelivered = deliveryError(run, deliveries);
  if (undelivered !== undefined) return undelivered.exitCode;
  if (loadFailure !== null) return exitCodeFor(loadFailure.code);
  return verdict === "unsettled" ? UNSETTLED_EXIT_CODE : 0;
}
