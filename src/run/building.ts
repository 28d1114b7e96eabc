/** What a run is built from. */
import type { Clock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import type { Pipeline } from "../pipeline.ts";
import type { Landed } from "../raw/read-raw.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import type { OutputFolder, StagingFolder } from "../warehouse/layout.ts";
import type { PublishedFiles } from "../warehouse/published-tables.ts";
import type { PublishedRun } from "../warehouse/retention.ts";
import type { StagedLoads } from "./stage-loads.ts";

/** A run whose documents have landed. */
export interface Building {
  /** The run ends by this. */
  readonly clock: Clock;
  /** Whose the run is; nothing in it is read. */
  readonly folder: OutputFolder;
  /** Its runs, the newest first, for the report; asked for once, at the end. */
  readonly runs: () => Promise<readonly PublishedRun[]>;
  /** Of the run, which its name is; holds its folder `raw`. */
  readonly staging: StagingFolder;
  readonly landed: Landed;
  readonly pipeline: Pipeline;
  /** Of its module; undefined: functions of its tables run on this thread. */
  readonly pipelineUrl: string | undefined;
  /** The run that this one is held against. */
  readonly before: Baseline;
  /** The run whose ID ranges this one keeps; undefined: they are cut anew. */
  readonly ranges: PublishedFiles | undefined;
  /** What is carried on of its history. */
  readonly history: PreviousHistory;
  /** Name of the run whose raw documents these are, in a replay; null: the run read its own. */
  readonly replayOf: string | null;
  /** Of the loaders that are to stage the run. */
  readonly loads: StagedLoads;
  readonly threads: number;
  readonly nodeVersion: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  readonly log: Log;
  /** Called where the staging folder holds most. */
  readonly measure: () => Promise<void>;
}
