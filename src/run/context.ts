/** What the steps of one run share. */
import { availableParallelism } from "node:os";
import { type Clock, systemClock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import type { Config } from "../config/config.ts";
import type { RetryLoop } from "../extract/http/retry.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import type { Journal } from "../extract/landing/journal.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import type { Observers } from "../observe/observers.ts";
import type { Pipeline } from "../pipeline.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import type { Landed } from "../raw/read-raw.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import { type FreeBytes, freeBytes, type PeakUse } from "../warehouse/disk.ts";
import type { OutputFolder, StagingFolder } from "../warehouse/layout.ts";
import type { ResumeRecord } from "./resume.ts";
import type { OpenSource } from "./source.ts";
import type { StagedLoads } from "./stage-loads.ts";

export interface RunOptions {
  readonly config: Config;
  /** URL of its module; or the pipeline itself, whose functions then run on the calling thread. */
  readonly pipeline: string | Pipeline;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  /** Threads that read documents. */
  readonly threads: number;
  readonly nodeVersion: string;
  readonly freeBytes: FreeBytes;
}

/** What a run has wherever it runs in earnest. */
export function thisMachine(): Pick<RunOptions, "clock" | "threads" | "nodeVersion" | "freeBytes"> {
  const threads = Math.max(1, Math.min(8, availableParallelism()));
  return { clock: systemClock, threads, nodeVersion: process.versions.node, freeBytes };
}

/** What building and publishing need of a run, whether it asks a service or is a replay. */
export interface PublishingRun {
  readonly clock: Clock;
  readonly options: Omit<RunOptions, "config"> & {
    readonly config: Pick<Config, "limit" | "targets" | "keepRuns">;
  };
  readonly pipeline: Pipeline;
  readonly folder: OutputFolder;
  readonly staging: StagingFolder;
  readonly baseline: Baseline;
  /** What the run before says of the past. */
  readonly history: PreviousHistory;
  /** What was read before the run was resumed. */
  readonly kept: ResumeState;
  /** Of the staging folder. */
  readonly peak: PeakUse;
}

/** A run whose documents have landed in the folder `raw` of its result. */
export interface Building extends PublishingRun {
  readonly landed: Landed;
  /** Name of the run whose raw documents these are, in a replay; null: the run read its own. */
  readonly replayOf: string | null;
  readonly loads: StagedLoads;
}

export interface RunContext extends PublishingRun {
  readonly options: RunOptions;
  readonly source: OpenSource;
  /** What the configuration calls personal. */
  readonly personalFields: PersonalFields;
  readonly resumeRecord: ResumeRecord;
  readonly journal: Journal;
  /** When this run asks, and asks again. */
  readonly retry: RetryLoop;
  readonly observers: Observers;
}

export function reportProgress(
  { options, journal }: PublishingRun & { readonly journal?: Journal },
  stage: "lookups" | "publish" | "deliver",
  done: number,
  total: number,
): void {
  options.onProgress({ stage, done, total, items: journal?.items ?? 0, bytes: 0 });
}
