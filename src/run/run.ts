/** One run from lock to publication. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { asWarehouseError } from "../common/errors.ts";
import { treatmentOf } from "../config/config.ts";
import { Journal } from "../extract/journal.ts";
import { Checkpoint } from "../extract/landing/checkpoint.ts";
import { EMPTY_RESUME } from "../extract/landing/resume-state.ts";
import type { Observers } from "../observe/observers.ts";
import { loadPipeline } from "../transform/pipelines.ts";
import { assertComparable, assertSameKey, hasAnswered, rateOf, readBaseline } from "../warehouse/baseline.ts";
import { assertRoom, fullDisk, PeakUse } from "../warehouse/disk.ts";
import {
  createStaging,
  discardLeftovers,
  discardUnused,
  namingFolder,
  nextRun,
  prepareOutput,
  removeEmpty,
  type StagingFolder,
  stagingFolder,
} from "../warehouse/layout.ts";
import { acquireLock } from "../warehouse/lock.ts";
import { discardStaging, finishPublication } from "../warehouse/publish.ts";
import type { RunContext, RunOptions } from "./context.ts";
import { assertDeliverable, meetTargets } from "./delivery.ts";
import { observed, type Published, startedRun } from "./observed.ts";
import { askForPersonalFields, idsOf } from "./personal-fields.ts";
import { previousHistory, withoutPersonal } from "./previous-history.ts";
import { exportAndPublish } from "./publication.ts";
import {
  failureDisposition,
  findResumable,
  keepForInspection,
  keepResumable,
  type ResumableRun,
  type ResumeRecord,
  resume,
  resumeFingerprint,
  resumeStateOf,
  writeResumeRecord,
} from "./resume.ts";
import {
  assertKnownAddress,
  assertMovedInstance,
  openOutage,
  openSource,
  openThrottle,
  originOf,
} from "./source.ts";
import { type RunSummary, resumedOf } from "./summary.ts";

/**
 * Runs a pipeline, or goes on with a run that was ended early, and publishes its result. Errors are WarehouseErrors; then
 * nothing was published, unless it says so, and no warehouse is left where none was, unless a later run can go on from
 * what it staged.
 */
export async function runExport(options: RunOptions): Promise<RunSummary> {
  return observed(options, (observers) => underLock(options, observers));
}

async function underLock(options: RunOptions, observers: Observers): Promise<Published> {
  const { config, clock } = options;
  const pipeline =
    typeof options.pipeline === "string" ? await loadPipeline(options.pipeline) : options.pipeline;
  observers.loaded(pipeline.name);
  assertDeliverable(options, pipeline);
  const folder = await prepareOutput(config.warehouse);
  await using _lock = await acquireLock(folder).catch(async (thrown: unknown) => {
    await removeEmpty(folder.made);
    throw thrown;
  });
  try {
    await finishPublication(folder);
    const above = await meetTargets(options, folder);
    const fingerprint = await resumeFingerprint(config, options.pipeline, pipeline);
    const startedMs = clock.now();
    const wanted = { fingerprint, config, listings: pipeline.listings, nowMs: startedMs, above };
    const resumable = await findResumable(folder, wanted);
    await discardLeftovers(folder, resumable?.run);
    const baseline = await readBaseline(folder);
    assertKnownAddress(baseline, config, folder.root);
    assertComparable(baseline, config.acceptShrink);
    assertSameKey(baseline, treatmentOf(config.personalData), folder.root);
    const past = await previousHistory(baseline, pipeline, folder);
    const kept = resumable && { ...resumable.beginning, keptBytes: resumable.keptBytes };
    await assertRoom(folder.root, baseline, options.freeBytes, kept);
    await using source = await openSource(config);
    const isKnown = resumable !== undefined || hasAnswered(baseline, originOf(config));
    const pace = {
      throttle: openThrottle(config, resumable?.beginning.ratePerSecond ?? rateOf(baseline)),
      outage: openOutage(source, options, { minutes: config.outageMinutes, isKnown }),
    };
    await assertMovedInstance({ ...options, baseline, source, pace, root: folder.root });
    const personalFields = await askForPersonalFields(options, source, pace);
    const personalFieldIds = idsOf(personalFields);
    let taken = resumable;
    if (taken !== undefined && !isDeepStrictEqual(taken.beginning.personalFieldIds, personalFieldIds)) {
      // What landed was treated by other IDs, and may hold what is to be treated now.
      options.log.warn("What was read before is removed: `personalFields` covers other fields by now.");
      await discardLeftovers(folder, undefined);
      taken = undefined;
    }
    const treatment = { ...treatmentOf(config.personalData), customFieldIds: personalFieldIds };
    const history = withoutPersonal(past, baseline, treatment);
    const unmeasured = { ratePerSecond: null, peakBytes: 0 };
    const fresh = { fingerprint, startedMs, resumedMs: [], shrunk: false, personalFieldIds, ...unmeasured };
    const asked = { source, personalFields, ...pace };
    const place = { options, pipeline, folder, ...asked, baseline, history, observers, above };
    return await stageAndPublish(place, taken?.beginning ?? fresh, taken);
  } catch (thrown) {
    // A failure to tidy up does not hide why the run failed.
    await discardUnused(folder).catch((untidy: unknown) => {
      options.log.warn(asWarehouseError(untidy).message);
    });
    throw namingFolder(thrown, folder);
  }
}

type Left = ReturnType<typeof failureDisposition>;

const LEFT: Readonly<Record<Exclude<Left, "remove">, string>> = {
  resume: "What was read is kept: run again within six hours of its start to go on from there.",
  accept:
    "What was read is kept: run with --accept-shrink within six hours of its start to go on from there.",
  inspect: "What was staged is left as it is, until the next run.",
};

type Place = Pick<
  RunContext,
  | "options"
  | "pipeline"
  | "folder"
  | "source"
  | "personalFields"
  | "throttle"
  | "outage"
  | "baseline"
  | "history"
  | "observers"
> & {
  /** The number of the run is above this one, which a target has. */
  readonly above: number;
};

async function stageAndPublish(
  place: Place,
  beginning: ResumeRecord,
  taken: ResumableRun | undefined,
): Promise<Published> {
  const { folder, options } = place;
  const name = taken?.run ?? (await nextRun(folder, new Date(beginning.startedMs), place.above));
  const staging = stagingFolder(folder, name);
  let run: RunContext | undefined;
  let left: Left = "remove";
  try {
    run = await begin(place, staging, beginning, taken);
    place.observers.started(startedRun(run));
    return await exportAndPublish(run);
  } catch (thrown) {
    if (run !== undefined) left = await leftBy(run, thrown);
    throw run === undefined ? thrown : await withRoom(run, thrown, left);
  } finally {
    await run?.peak[Symbol.asyncDispose]();
    try {
      if (run === undefined || left === "remove") await discardStaging(folder, name);
      else if (left === "inspect") await keepForInspection(staging);
      else await writeResumeRecord(staging, nextBeginning(run, left));
    } catch (thrown) {
      // This does not hide how the run ended: the next run clears away what is left.
      const { message } = asWarehouseError(thrown);
      options.log.warn(`The staged files could not be cleared away: ${message}`, { run: name });
    }
  }
}

/** Makes the staging folder, or goes on with the one of the resumed run. */
async function begin(
  place: Place,
  staging: StagingFolder,
  fresh: ResumeRecord,
  taken: ResumableRun | undefined,
): Promise<RunContext> {
  const { folder, options } = place;
  const { run } = staging;
  let beginning = fresh;
  if (taken !== undefined) {
    beginning = await resume(staging, taken, options.clock.now());
    options.log.warn("Resuming an interrupted run.", { run, ...resumedOf(taken.resumed) });
  }
  await createStaging(folder, run);
  if (taken === undefined) await writeResumeRecord(staging, beginning);
  return {
    ...place,
    onEvent: place.observers.onEvent,
    clock: options.clock,
    staging,
    beginning,
    resumed: taken?.resumed ?? EMPTY_RESUME,
    checkpoint: new Checkpoint(staging.root),
    journal: new Journal(),
    peak: PeakUse.watch(staging.root, beginning.peakBytes),
  };
}

/** What becomes of the staged files of a run that failed. */
async function leftBy(
  { folder, staging, checkpoint, resumed, options }: RunContext,
  thrown: unknown,
): Promise<Left> {
  await checkpoint.settled();
  // A run that has its final name does not go on: it is finished.
  if (existsSync(join(folder.runs, staging.run))) return "remove";
  const left = failureDisposition(asWarehouseError(thrown).code);
  const nothing = checkpoint.groups === 0 && resumed.pages === 0;
  if (left === "remove" || (nothing && left !== "inspect")) return "remove";
  options.log.warn(LEFT[left], { run: staging.run });
  return left;
}

/** Where the disk is full, what is not gone on from makes room, and the failure says how much there is. */
async function withRoom(run: RunContext, thrown: unknown, left: Left): Promise<unknown> {
  const error = asWarehouseError(thrown);
  if (error.code !== "disk.full") return thrown;
  const { staging, options, pipeline, folder, baseline, peak } = run;
  const { config, freeBytes: free } = options;
  await peak.measure();
  let keptBytes = 0;
  if (left === "resume") {
    const { files } = await resumeStateOf(staging, { config, listings: pipeline.listings });
    keptBytes = await keepResumable(staging, files);
  }
  const taken = { peakBytes: peak.bytes, keptBytes };
  return fullDisk({ thrown: error, folder: folder.root, baseline, free, taken });
}

/** What the next run goes on from. */
function nextBeginning({ beginning, throttle, peak }: RunContext, left: Left): ResumeRecord {
  const ratePerSecond = throttle.learned?.ratePerSecond ?? null;
  return {
    ...beginning,
    ratePerSecond,
    peakBytes: peak.bytes,
    shrunk: beginning.shrunk || left === "accept",
  };
}
