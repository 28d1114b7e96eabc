/** Who is told of a run: each gets the same calls, and gives nothing back. */
import type { AttemptListener } from "../extract/http/client.ts";
import type { RunOutcome } from "./outcome.ts";
import type { RunSummary } from "./run-summary.ts";

export interface EndedRun {
  readonly outcome: RunOutcome;
  /** The run that readers see now; null: none, or nobody can tell. */
  readonly current: RunSummary["current"] | null;
  /** Milliseconds since 1970. */
  readonly endedMs: number;
}

export interface Observer {
  /** For messages: the name of the setting. */
  readonly name: string;
  readonly onAttempt?: AttemptListener;
  /** The run has its name: from here on it asks the service. */
  onStart?(): Promise<void>;
  onEnd(ended: EndedRun, signal: AbortSignal): Promise<void>;
  /** Throws what `onEnd` would, as far as that is known beforehand, and tells nothing. */
  check?(): Promise<void>;
}
