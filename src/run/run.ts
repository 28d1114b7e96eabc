/** One run from lock to publication. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { asWarehouseError } from "../common/errors.ts";
import { treatmentOf } from "../config/config.ts";
import { EMPTY_RESUME, hasCheckpoints, readResumeState } from "../extract/landing/checkpoint.ts";
import { Journal } from "../extract/landing/journal.ts";
import type { Observers } from "../observe/observers.ts";
import { resumedOf } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import { fullDisk, PeakUse } from "../warehouse/disk.ts";
import {
  createStaging,
  databaseOf,
  discardLeftovers,
  discardUnused,
  namingFolder,
  nextRun,
  type StagingFolder,
  stagingFolder,
} from "../warehouse/layout.ts";
import { discardStaging } from "../warehouse/publish.ts";
import type { RunContext, RunOptions } from "./context.ts";
import { land } from "./land.ts";
import { type Exported, observed } from "./observed.ts";
import { idsOf } from "./personal-fields.ts";
import { closeOpened, type Opened, prepare } from "./prepare.ts";
import { withoutPersonal } from "./previous-history.ts";
import { landAndPublish } from "./publication.ts";
import {
  failureDisposition,
  keepResumable,
  type ResumableRun,
  type ResumeRecord,
  writeResumeRecord,
} from "./resume.ts";

/**
 * Runs a pipeline, or goes on with a run that was ended early, and publishes its result. Errors are WarehouseErrors; then
 * nothing was published, unless it says so, and no warehouse is left where none was, unless a later run can go on from
 * what it staged.
 */
export async function runExport(options: RunOptions): Promise<Exported> {
  return observed(options, (observers) => underLock(options, observers));
}

async function underLock(options: RunOptions, observers: Observers): Promise<Exported> {
  const opened: Opened = {};
  try {
    const ready = await prepare({
      options,
      opened,
      listener: { begin() {}, note() {}, warn: (sentence) => options.log.warn(sentence) },
      isRehearsal: false,
      onPipeline: (name) => observers.loaded(name),
    });
    const { folder, personalFields, baseline, past, fingerprint, startedMs, ...prepared } = ready;
    const personalFieldIds = idsOf(personalFields);
    let resumable = ready.resumable;
    if (resumable !== null && !isDeepStrictEqual(resumable.resumeRecord.personalFieldIds, personalFieldIds)) {
      // What landed was treated by other IDs, and may hold what is to be treated now.
      options.log.warn("What was read before is removed: `personalFields` covers other fields by now.");
      await discardLeftovers(folder, undefined);
      resumable = null;
    }
    const treatment = { ...treatmentOf(options.config.personalData), customFieldIds: personalFieldIds };
    const history = withoutPersonal(past, treatment);
    const unmeasured = { ratePerSecond: null, peakBytes: 0 };
    const fresh = { fingerprint, startedMs, resumedMs: [], shrunk: false, personalFieldIds, ...unmeasured };
    const place = { ...prepared, options, folder, personalFields, baseline, history, observers };
    return await stageAndPublish(place, resumable?.resumeRecord ?? fresh, resumable);
  } catch (thrown) {
    const { folder } = opened;
    if (folder === undefined) throw thrown;
    // A failure to tidy up does not hide why the run failed.
    await discardUnused(folder).catch((untidy: unknown) => {
      options.log.warn(asWarehouseError(untidy).message);
    });
    throw namingFolder(thrown, folder);
  } finally {
    await closeOpened(opened, options.log);
  }
}

type Left = ReturnType<typeof failureDisposition>;

const LEFT: Readonly<Record<Exclude<Left, "remove">, string>> = {
  resume: "What was read is kept: run again within six hours of its start to go on from there.",
  accept:
    "What was read is kept: run with --accept-shrink within six hours of its start to go on from there.",
  inspect: "What was staged is left as it is, until the next run.",
};

/** A run before it has a staging folder. `above`: a target has this number, so that of the run is higher. */
type Place = Omit<RunContext, "clock" | "staging" | "kept" | "resumeRecord" | "journal" | "peak"> & {
  readonly above: number;
};

async function stageAndPublish(
  place: Place,
  resumeRecord: ResumeRecord,
  resumable: ResumableRun | null,
): Promise<Exported> {
  const { folder, options } = place;
  const name = resumable?.run ?? (await nextRun(folder, new Date(resumeRecord.startedMs), place.above));
  const staging = stagingFolder(folder, name);
  let run: RunContext | undefined;
  let left: Left = "remove";
  try {
    const begun = await begin(place, staging, resumeRecord, resumable);
    run = begun;
    place.observers.started(name);
    return await landAndPublish(begun, () => land(begun), null);
  } catch (thrown) {
    if (run !== undefined) left = await leftBy(run, thrown);
    throw run === undefined ? thrown : await withRoom(run, thrown, left);
  } finally {
    await run?.peak[Symbol.asyncDispose]();
    try {
      if (run === undefined || left === "remove") await discardStaging(folder, name);
      // Without its record no run goes on from it.
      else if (left === "inspect") await rm(staging.resumeRecord, { force: true });
      else await writeResumeRecord(staging, nextResumeRecord(run, left));
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
  begun: ResumeRecord,
  resumable: ResumableRun | null,
): Promise<RunContext> {
  const { folder, options } = place;
  const { run } = staging;
  const resumedMs = resumable === null ? [] : [...begun.resumedMs, options.clock.now()];
  const resumeRecord = { ...begun, resumedMs };
  if (resumable !== null)
    options.log.warn("Resuming an interrupted run.", { run, ...resumedOf(resumable.kept) });
  await createStaging(folder, run);
  await writeResumeRecord(staging, resumeRecord);
  return {
    ...place,
    clock: options.clock,
    staging,
    resumeRecord,
    kept: resumable?.kept ?? EMPTY_RESUME,
    journal: new Journal(),
    peak: new PeakUse(staging.root, resumeRecord.peakBytes),
  };
}

/** What becomes of the staged files of a run that failed. */
async function leftBy({ folder, staging, options, pipeline }: RunContext, thrown: unknown): Promise<Left> {
  // A run that has its final name does not go on: it is finished.
  if (existsSync(join(folder.runs, staging.run))) return "remove";
  const left = failureDisposition(asWarehouseError(thrown).code);
  if (options.config.limit !== null && left !== "inspect") return "remove";
  if (left === "remove" || (left !== "inspect" && !hasCheckpoints(staging.root))) return "remove";
  const file = databaseOf(staging, publishes(pipeline, "duckdb"));
  options.log.warn(LEFT[left], { run: staging.run, ...(left === "inspect" && { file }) });
  return left;
}

/** Where the disk is full, what is not gone on from makes room, and the failure says how much there is. */
async function withRoom(run: RunContext, thrown: unknown, left: Left): Promise<unknown> {
  const error = asWarehouseError(thrown);
  if (error.code !== "disk.full") return thrown;
  const { staging, options, folder, baseline, peak } = run;
  const { freeBytes: free } = options;
  await peak.measure();
  let keptBytes = 0;
  if (left === "resume") {
    const { files } = await readResumeState(staging.root);
    keptBytes = await keepResumable(staging, files);
  }
  const taken = { peakBytes: peak.bytes, keptBytes };
  return fullDisk({ thrown: error, folder: folder.root, baseline, free, taken });
}

/** What the next run goes on from. */
function nextResumeRecord({ resumeRecord, retry, peak }: RunContext, left: Left): ResumeRecord {
  const ratePerSecond = retry.throttled?.ratePerSecond ?? null;
  return {
    ...resumeRecord,
    ratePerSecond,
    peakBytes: peak.bytes,
    shrunk: resumeRecord.shrunk || left === "accept",
  };
}
