/** What a run is given: configuration, pipeline, log, signal, and the machine that it runs on. */
import { availableParallelism } from "node:os";
import { type Clock, systemClock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import type { Config } from "../config/config.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import type { Pipeline, Target } from "../pipeline.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import { freeBytes } from "../warehouse/disk.ts";
import type { OutputFolder, StagingFolder } from "../warehouse/layout.ts";

interface Machine {
  readonly clock: Clock;
  /** Number of worker threads that read documents; 0: this thread reads them. */
  readonly threads: number;
  readonly nodeVersion: string;
  readonly freeBytes: typeof freeBytes;
}

export function thisMachine(): Machine {
  const threads = Math.min(8, availableParallelism());
  return { clock: systemClock, threads, nodeVersion: process.versions.node, freeBytes };
}

export interface Runtime extends Machine {
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

export interface RunInputs extends Runtime {
  readonly config: Config;
  /** URL of the pipeline's module; or the pipeline itself, whose functions then run on the calling thread. */
  readonly pipeline: string | Pipeline;
}

/** Hears of each step. An error after `begin` is the failure of that step. */
export interface StepListener {
  begin(step: string): void;
  note(detail: string): void;
  warn(detail: string): void;
}

/** A run that is being made. */
export interface NewRun {
  readonly pipeline: Pipeline;
  /** URL of the pipeline's module; `undefined`: its functions run on the calling thread. */
  readonly pipelineUrl: string | undefined;
  readonly folder: OutputFolder;
  readonly staging: StagingFolder;
  readonly baseline: Baseline;
  readonly history: PreviousHistory;
}

/** Raw documents that a run is built from. */
export interface BuildSource {
  readonly landed: RawFolder;
  /** Run that read the documents, in a replay; `null`: the run itself. */
  readonly replayOf: string | null;
}

/** Targets that the run is delivered to. A limited run is never delivered. */
export function targetsOf({ limit, targets }: Pick<Config, "limit" | "targets">): readonly Target[] {
  return limit === null ? targets : [];
}
