/** How a run ended, and what observers are told of it: they cannot change it. */
import { type ErrorCode, exitCodeFor } from "../common/errors.ts";
import type { AttemptListener } from "../extract/http/client.ts";
import { deliveryError } from "../targets/deliver.ts";
import type { RunSummary } from "./run-summary.ts";

/** The summary that `--json` prints, with the exit code: 0, 10, 26, or that of a signal that ended the delivery. */
export type RunPublished = { readonly ok: true; readonly exitCode: number } & RunSummary;

export interface RunFailed {
  readonly ok: false;
  readonly code: ErrorCode;
  /** One sentence with the cause, then what to do. */
  readonly message: string;
  readonly exitCode: number;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Null if the run ended before it had a name. */
  readonly run: string | null;
  /** Null if the pipeline could not be loaded. */
  readonly pipeline: string | null;
}

export type RunOutcome = RunPublished | RunFailed;

/** Called when a run has ended, published or not. After ten seconds the signal is aborted and the run goes on. */
export type OnFinish = (outcome: RunOutcome, signal: AbortSignal) => unknown;

export interface ObserveSettings {
  readonly onFinish: OnFinish | null;
  /** Absolute path. */
  readonly metricsFile: string | null;
}

/** A failed delivery or loader has precedence over an unsettled verdict. */
export function exitCodeOf({ run, verdict, deliveries, loadFailure }: RunSummary): number {
  const undelivered = deliveryError(run, deliveries);
  if (undelivered !== undefined) return undelivered.exitCode;
  if (loadFailure !== null) return exitCodeFor(loadFailure.code);
  return verdict === "unsettled" ? 10 : 0;
}

export interface RunEnd {
  readonly outcome: RunOutcome;
  /** The run that readers see now; null if there is none, or it cannot be told. */
  readonly current: RunSummary["current"] | null;
  /** Milliseconds since 1970. */
  readonly endedMs: number;
}

export interface Observer {
  /** Name of the setting, for messages. */
  readonly name: string;
  readonly onAttempt?: AttemptListener;
  /** Called when the run has its name, before it requests listings. */
  onStart?(): Promise<void>;
  onEnd(end: RunEnd, signal: AbortSignal): Promise<void>;
  /** Throws what `onEnd` would throw, as far as it is known before the run. */
  check?(): Promise<void>;
}
