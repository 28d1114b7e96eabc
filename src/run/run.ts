/** One run from lock to publication. */

import { asWarehouseError } from "../common/errors.ts";
import { collectGarbage } from "../common/gc.ts";
import { treatmentOf } from "../config/config.ts";
import { Journal } from "../extract/journal.ts";
import { Checkpoint } from "../extract/landing/checkpoint.ts";
import { EMPTY_RESUME } from "../extract/landing/resume-state.ts";
import { publishes } from "../pipeline.ts";
import { loadPipeline } from "../transform/pipelines.ts";
import {
  assertComparable,
  assertSameInstance,
  assertSameKey,
  type Baseline,
  rateOf,
  readBaseline,
} from "../warehouse/baseline.ts";
import { assertRoom } from "../warehouse/disk.ts";
import {
  createStaging,
  databaseOf,
  discardLeftovers,
  discardUnused,
  namingFolder,
  nextRun,
  type OutputFolder,
  prepareOutput,
  removeEmpty,
  removeStaging,
  type StagingFolder,
  stagingFolder,
} from "../warehouse/layout.ts";
import { acquireLock } from "../warehouse/lock.ts";
import { finishPublication, publishRun } from "../warehouse/publish.ts";
import { prune } from "../warehouse/retention.ts";
import { type RunContext, type RunOptions, reportProgress } from "./context.ts";
import { buildResult, type Result } from "./finalize.ts";
import { previousHistory } from "./previous-history.ts";
import {
  failureDisposition,
  findResumable,
  keepForInspection,
  markShrunk,
  type ResumableRun,
  type ResumeRecord,
  resume,
  resumeFingerprint,
  writeResumeRecord,
} from "./resume.ts";
import { runExtraction } from "./run-extraction.ts";
import { runTransform } from "./run-transform.ts";
import { openSource, openThrottle, originOf } from "./source.ts";
import { StagedLoads } from "./stage-loads.ts";
import { type RunSummary, resumedOf, summaryOf } from "./summary.ts";

/**
 * Runs a pipeline and publishes its result; goes on with a run that was ended early, where there is one. Errors are
 * WarehouseErrors; then nothing was published, and a folder that was no warehouse before is none afterwards, unless
 * a later run can go on from what was staged in it.
 */
export async function runExport(options: RunOptions): Promise<RunSummary> {
  const { config, clock } = options;
  const pipeline =
    typeof options.pipeline === "string" ? await loadPipeline(options.pipeline) : options.pipeline;
  const folder = await prepareOutput(config.out);
  await using _lock = await acquireLock(folder).catch(async (thrown: unknown) => {
    await removeEmpty(folder.made);
    throw thrown;
  });
  try {
    await finishPublication(folder);
    const fingerprint = await resumeFingerprint(config, options.pipeline, pipeline);
    const begun = { fingerprint, startedMs: clock.now() };
    const resumable = await findResumable(folder, {
      fingerprint: begun.fingerprint,
      config,
      listings: pipeline.listings,
      nowMs: begun.startedMs,
    });
    await discardLeftovers(folder, resumable?.run);
    const baseline = await readBaseline(folder);
    assertSameInstance(baseline, { id: null, origin: originOf(config) }, folder.root);
    assertComparable(baseline, config.acceptShrink);
    assertSameKey(baseline, treatmentOf(config.personalData), folder.root);
    const history = await previousHistory(baseline, pipeline, folder);
    const taken = await roomFor(options, folder, baseline, resumable);
    await using source = await openSource(config);
    const beginning = taken?.beginning ?? { ...begun, resumedMs: [], shrunk: false, ratePerSecond: null };
    return await new Run(
      { options, pipeline, folder, source, baseline, history },
      beginning,
      taken,
    ).execute();
  } catch (thrown) {
    // A failure to tidy up does not hide why the run failed.
    await discardUnused(folder).catch((untidy: unknown) => {
      options.log.warn(asWarehouseError(untidy).message);
    });
    throw namingFolder(thrown, folder);
  }
}

/** Makes sure that there is room; staged work that takes it up is given up for it. Throws `disk.io`. */
async function roomFor(
  { freeBytes }: RunOptions,
  folder: OutputFolder,
  baseline: Baseline,
  resumable: ResumableRun | undefined,
): Promise<ResumableRun | undefined> {
  try {
    await assertRoom(folder.root, baseline, freeBytes);
    return resumable;
  } catch (thrown) {
    if (resumable === undefined) throw thrown;
    await discardLeftovers(folder, undefined);
    await assertRoom(folder.root, baseline, freeBytes);
    return undefined;
  }
}

type Left = ReturnType<typeof failureDisposition>;

const LEFT: Readonly<Record<Exclude<Left, "remove">, string>> = {
  resume: "What was read is kept: run again within six hours of its start to go on from there.",
  accept:
    "What was read is kept: run with --accept-shrink within six hours of its start to go on from there.",
  inspect: "What was staged is left as it is, until the next run.",
};

type Place = Pick<RunContext, "options" | "pipeline" | "folder" | "source" | "baseline" | "history">;

class Run {
  readonly #place: Place;
  #beginning: ResumeRecord;
  readonly #taken: ResumableRun | undefined;

  constructor(place: Place, beginning: ResumeRecord, taken: ResumableRun | undefined) {
    this.#place = place;
    this.#beginning = beginning;
    this.#taken = taken;
  }

  async execute(): Promise<RunSummary> {
    const startedAt = new Date(this.#beginning.startedMs);
    const name = this.#taken?.run ?? (await nextRun(this.#place.folder, startedAt));
    const staging = stagingFolder(this.#place.folder, name);
    let run: RunContext | undefined;
    let left: Left = "remove";
    try {
      run = await this.#begin(staging);
      return await this.#export(run);
    } catch (thrown) {
      if (run !== undefined) left = await this.#leave(run, thrown);
      throw thrown;
    } finally {
      await this.#clearAway(staging, left);
    }
  }

  /** Makes the staging folder, or takes up the one that is there. */
  async #begin(staging: StagingFolder): Promise<RunContext> {
    const { folder, options } = this.#place;
    const taken = this.#taken;
    if (taken !== undefined) {
      this.#beginning = await resume(staging, taken, options.clock.now());
      this.#tellTakenUp(taken);
    }
    await createStaging(folder, staging.run);
    if (taken === undefined) await writeResumeRecord(staging, this.#beginning);
    return {
      ...this.#place,
      staging,
      beginning: this.#beginning,
      resumed: taken?.resumed ?? EMPTY_RESUME,
      checkpoint: new Checkpoint(staging.root),
      journal: new Journal(),
      throttle: openThrottle(options.config, this.#beginning.ratePerSecond ?? rateOf(this.#place.baseline)),
    };
  }

  #tellTakenUp({ run, resumed }: ResumableRun): void {
    this.#place.options.log.warn("Resuming an interrupted run.", { run, ...resumedOf(resumed) });
  }

  /** What becomes of the staged files of a run that failed. */
  async #leave({ staging, checkpoint, resumed, throttle }: RunContext, thrown: unknown): Promise<Left> {
    await checkpoint.settled();
    const left = failureDisposition(asWarehouseError(thrown).code);
    const nothing = checkpoint.groups === 0 && resumed.pages === 0;
    if (left === "remove" || (nothing && left !== "inspect")) return "remove";
    this.#place.options.log.warn(LEFT[left], { run: staging.run });
    this.#beginning = { ...this.#beginning, ratePerSecond: throttle.learned?.ratePerSecond ?? null };
    return left;
  }

  /** A failure to clear away does not hide how the run ended: the next run clears away what is left. */
  async #clearAway(staging: StagingFolder, left: Left): Promise<void> {
    const { folder, options } = this.#place;
    const { run } = staging;
    try {
      if (left === "remove") await removeStaging(folder, run);
      if (left === "inspect") await keepForInspection(staging);
      if (left === "accept") await markShrunk(staging, this.#beginning);
      if (left === "resume") await writeResumeRecord(staging, this.#beginning);
    } catch (thrown) {
      const { message } = asWarehouseError(thrown);
      options.log.warn(`The staged files could not be cleared away: ${message}`, { run });
    }
  }

  async #export(run: RunContext): Promise<RunSummary> {
    const { folder, staging, options, journal } = run;
    const { signal, clock } = options;
    let result: Result;
    // It takes a fifth of a second to load, while the database is at work.
    let report: Promise<ReportModule> | undefined;
    await using loads = new StagedLoads();
    try {
      const extracted = await runExtraction(run);
      const transformed = await runTransform(run, extracted);
      report = reportModule();
      result = await buildResult(run, extracted, transformed);
      await loads.stage(run, result.tables, result.statement.verdict);
      signal.throwIfAborted();
    } catch (thrown) {
      // What was ended by the signal fails in many ways; the reason is the signal's.
      throw signal.aborted ? signal.reason : thrown;
    }
    const unreported = await this.#report(run, result, report);
    collectGarbage();
    signal.throwIfAborted();
    reportProgress(run, "publish", 0, 1);
    const manifest = await publishRun(folder, staging, result.statement, clock);
    await loads.commit();
    reportProgress(run, "publish", 1, 1);
    const retired = await this.#retire();
    return summaryOf(
      {
        folder,
        manifest,
        tables: result.tables,
        passes: result.passes,
        accounting: result.accounting,
        resumed: resumedOf(run.resumed),
        throttled: run.throttle.learned,
        removed: retired.removed,
        noMappedValues: result.noMappedValues,
        warnings: [...result.warnings, ...unreported, ...retired.warnings],
      },
      journal,
    );
  }

  /** Writes the report of the run. A failure to do so is told, and takes nothing from the run. */
  async #report(
    { staging, options, pipeline }: RunContext,
    { statement }: Result,
    report: Promise<ReportModule>,
  ): Promise<readonly string[]> {
    try {
      const { writeReport } = await report;
      await writeReport({
        result: staging.result,
        database: databaseOf(staging, publishes(pipeline, "duckdb")),
        temporaryDirectory: staging.temporary,
        rows: statement.rows,
      });
      return [];
    } catch (thrown) {
      const { message } = asWarehouseError(thrown);
      options.log.warn(`The report of the run could not be made: ${message}`, { run: staging.run });
      return [`The run has no report: ${message} Make it with "content-warehouse report".`];
    }
  }

  /** Removes old runs. A failure to do so is told, and takes nothing from the run that was published. */
  async #retire(): Promise<{ readonly removed: readonly string[]; readonly warnings: readonly string[] }> {
    const { folder, options } = this.#place;
    try {
      const removed = await prune(folder, options.config.keepRuns);
      return { removed: removed.map(({ run }) => run), warnings: [] };
    } catch (thrown) {
      const { message } = asWarehouseError(thrown);
      return { removed: [], warnings: [`Old runs could not be removed: ${message}`] };
    }
  }
}

type ReportModule = typeof import("../audit/report/report.ts");

/** Loaded while the tables are: it takes a fifth of a second. A failure to do so is that of the report. */
function reportModule(): Promise<ReportModule> {
  const loading = import("../audit/report/report.ts");
  // Told where it is waited for; a run that ends before does not wait.
  loading.catch(() => {});
  return loading;
}
