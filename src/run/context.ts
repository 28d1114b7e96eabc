/** What the steps of one run share. */
import type { Clock } from "../common/clock.ts";
import type { Throttle } from "../extract/http/throttle.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import type { Log } from "../common/log.ts";
import type { Pipeline } from "../pipeline.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import type { Checkpoint } from "../extract/landing/checkpoint.ts";
import type { Config, PersonalData } from "../config/config.ts";
import type { OutputFolder, StagingFolder } from "../warehouse/layout.ts";
import type { FreeBytes } from "../warehouse/disk.ts";
import type { Journal } from "../extract/journal.ts";
import type { Kept } from "../extract/landing/resume-state.ts";
import type { OnProgress } from "../common/progress.ts";
import type { Beginning } from "./resume.ts";
import type { OpenSource } from "./source.ts";

export interface RunOptions {
  readonly config: Config;
  /** Module of the pipeline. */
  readonly pipelineUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  /** Threads that read documents; DuckDB has as many. */
  readonly threads: number;
  readonly nodeVersion: string;
  readonly freeBytes: FreeBytes;
}

export interface RunContext {
  readonly options: RunOptions;
  readonly pipeline: Pipeline;
  readonly folder: OutputFolder;
  readonly staging: StagingFolder;
  readonly source: OpenSource;
  readonly baseline: Baseline;
  /** What the run before says of the past. */
  readonly history: PreviousHistory;
  readonly beginning: Beginning;
  /** What was read before the run was taken up. */
  readonly kept: Kept;
  readonly checkpoint: Checkpoint;
  readonly journal: Journal;
  readonly throttle: Throttle;
}

export function tell(
  { options, journal }: RunContext,
  stage: "lookups" | "load" | "publish",
  done: number,
  total: number,
): void {
  options.onProgress({ stage, done, total, items: journal.items, bytes: 0 });
}

export function hashKeyOf({ key }: PersonalData): Uint8Array | undefined {
  return key === null ? undefined : Buffer.from(key.reveal());
}
