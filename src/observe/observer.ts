/** An observer of a run: it is told how the run goes, and cannot change it. */
import type { AttemptListener } from "../extract/http/client.ts";
import type { RunOutcome } from "./outcome.ts";
import type { RunSummary } from "./run-summary.ts";

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
  /** Called when the run has its name, before its first request. */
  onStart?(): Promise<void>;
  onEnd(end: RunEnd, signal: AbortSignal): Promise<void>;
  /** Throws what `onEnd` would throw, as far as it is known before the run. */
  check?(): Promise<void>;
}
