/** Makes one run, from the lock to the publication, and tells observers how it ended. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { writeSealed } from "../common/sealed-file.ts";
import type { Config } from "../config/config.ts";
import { RESUMABLE } from "../extract/extract.ts";
import { EMPTY_RESUME, hasCheckpoints, readResumeState } from "../extract/landing/checkpoint.ts";
import { createObservers, observeWith, type RunObservers } from "../observe/observers.ts";
import { exitCodeOf } from "../observe/outcome.ts";
import { type RunSummary, resumeCounts } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import { diskFullError, PeakUse } from "../warehouse/disk.ts";
import {
  createStaging,
  databaseOf,
  nameFolder,
  nextRun,
  outputFolder,
  type StagingFolder,
  stagingFolder,
} from "../warehouse/layout.ts";
import { discardMade } from "../warehouse/lock.ts";
import { discardStaging } from "../warehouse/publish.ts";
import { listRuns } from "../warehouse/retention.ts";
import type { RunInputs } from "./inputs.ts";
import { land } from "./land.ts";
import { makeRun, type RunResult } from "./make-run.ts";
import { type PreparedRun, prepare } from "./prepare.ts";
import { keepResumable, RESUMABLE_HOURS, type ResumeRecord } from "./resume.ts";
import { closeOpened, type OpenResources } from "./source.ts";

/**
 * Runs a pipeline and publishes its result, or resumes an interrupted run. Throws a `WarehouseError`; then nothing was
 * published, unless it says so, and a folder that held no warehouse holds none, unless a later run can resume.
 */
export async function runExport(inputs: RunInputs): Promise<RunResult> {
  const { config, clock, log } = inputs;
  const { limit, observe, warehouse } = config;
  // Monitoring must not take a limited run for a nightly one.
  const settings = limit === null ? observe : { onFinish: null, metricsFile: null };
  const observed = { warehouse, clock };
  const observers = observeWith(createObservers(settings, observed), observed);
  let result: RunResult;
  try {
    result = await runUnderLock(inputs, observers);
  } catch (thrown) {
    const error = failureOf(thrown, inputs);
    for (const warning of await observers.failed(error, await currentRunIn(warehouse))) log.warn(warning);
    throw error;
  }
  const { summary } = result;
  for (const warning of await observers.published(summary, exitCodeOf(summary))) log.warn(warning);
  return result;
}

/** What an interrupted run leaves, for its message. */
export function leftoverText({ limit }: Pick<Config, "limit">): string {
  return limit === null
    ? "nothing was published, and the next run resumes from what was kept"
    : "nothing was published";
}

/** An abort by the caller is `run.interrupted`, unless its reason is a `WarehouseError`. */
function failureOf(thrown: unknown, { config, signal }: RunInputs): WarehouseError {
  if (thrown !== signal.reason || thrown instanceof WarehouseError) return asWarehouseError(thrown);
  return new WarehouseError("run.interrupted", `The caller stopped the run; ${leftoverText(config)}.`, {
    cause: thrown,
  });
}

async function currentRunIn(warehouse: string): Promise<RunSummary["current"] | null> {
  // A folder that cannot be read is the failure itself, or the failure of the next run.
  const runs = await listRuns(outputFolder(warehouse)).catch(() => []);
  const current = runs.find((each) => each.current);
  if (current === undefined) return null;
  const { run, manifest } = current;
  return { run, publishedAt: manifest instanceof WarehouseError ? null : manifest.endedAt };
}

async function runUnderLock(inputs: RunInputs, observers: RunObservers): Promise<RunResult> {
  const { log } = inputs;
  const opened: OpenResources = {};
  try {
    const listener = { begin() {}, note() {}, warn: (sentence: string) => log.warn(sentence) };
    const prepared = await prepare({ inputs, opened, listener, isRehearsal: false, observers });
    return await stageAndPublish(prepared, inputs, observers);
  } catch (thrown) {
    const { folder } = opened;
    if (folder === undefined) throw thrown;
    await discardMade(folder, { isLocked: true });
    throw nameFolder(thrown, folder);
  } finally {
    await closeOpened(opened, log);
  }
}

/**
 * What becomes of the staged work of a failed run. `accept`: only `--accept-shrink` resumes it. `inspect`: it stays
 * until the next run.
 */
type Disposition = "resume" | "accept" | "inspect" | "remove";

async function stageAndPublish(
  prepared: PreparedRun,
  inputs: RunInputs,
  observers: RunObservers,
): Promise<RunResult> {
  const { pipeline, folder, baseline, history, above, session, resumable, resumeRecord } = prepared;
  const { config, clock, log } = inputs;
  const name = resumable?.run ?? (await nextRun(folder, new Date(resumeRecord.startedMs), above));
  const staging = stagingFolder(folder, name);
  const resumedMs = resumable === null ? [] : [...resumeRecord.resumedMs, clock.now()];
  const record: ResumeRecord = { ...resumeRecord, resumedMs };
  const writeRecord = (written: ResumeRecord) => writeSealed(staging.resumeRecord, written);
  const kept = resumable?.kept ?? EMPTY_RESUME;
  const pipelineUrl = typeof inputs.pipeline === "string" ? inputs.pipeline : undefined;
  const run = { pipeline, pipelineUrl, folder, staging, baseline, history };
  let disposition: Disposition = "remove";
  using peak = new PeakUse(staging.root, record.peakBytes);
  try {
    if (resumable !== null)
      log.warn("Resuming an interrupted run.", { run: name, ...resumeCounts(resumable.kept) });
    await createStaging(folder, name);
    await writeRecord(record);
    observers.started(name);
    const landNow = () => land({ run, session, inputs, resumeRecord: record, kept });
    return await makeRun(run, { land: landNow, replayOf: null, kept, peak }, config, inputs);
  } catch (thrown) {
    disposition = await dispositionAfter(thrown, prepared, staging, inputs);
    if (asWarehouseError(thrown).code !== "disk.full") throw thrown;
    await peak.measure();
    // Only what the next run resumes is kept.
    const keptBytes =
      disposition === "resume"
        ? await keepResumable(staging, (await readResumeState(staging.root)).files)
        : 0;
    const use = { baseline, free: inputs.freeBytes, taken: { peakBytes: peak.bytes, keptBytes } };
    throw await diskFullError(asWarehouseError(thrown), folder.root, use);
  } finally {
    try {
      if (disposition === "remove") await discardStaging(folder, name);
      // No run resumes staged files without a record.
      else if (disposition === "inspect") await rm(staging.resumeRecord, { force: true });
      else
        await writeRecord({
          ...record,
          ratePerSecond: session.retry.pace.totals?.ratePerSecond ?? null,
          peakBytes: peak.bytes,
          shrunk: record.shrunk || disposition === "accept",
        });
    } catch (thrown) {
      // The next run removes what is left. How this run ended matters more.
      const { message } = asWarehouseError(thrown);
      log.warn(`The staged files could not be tidied: ${message}`, { run: name });
    }
  }
}

/** What becomes of the staged files of a failed run, which is also logged. */
async function dispositionAfter(
  thrown: unknown,
  { folder, pipeline }: PreparedRun,
  staging: StagingFolder,
  { config, log }: RunInputs,
): Promise<Disposition> {
  const { run } = staging;
  // A run with its final name is finished, and not resumed.
  if (existsSync(join(folder.runs, run))) return "remove";
  const { code } = asWarehouseError(thrown);
  if (code === "verify.failed" || code === "audit.threshold") {
    const file = databaseOf(staging, publishes(pipeline, "duckdb"));
    log.warn("The staged files stay until the next run.", { run, file });
    return "inspect";
  }
  const isShrunk = code === "guard.shrink";
  const canResume = config.limit === null && hasCheckpoints(staging.root);
  if (!canResume || !(isShrunk || RESUMABLE.has(code))) return "remove";
  const how = isShrunk ? "with --accept-shrink" : "again";
  log.warn(`What was read is kept: run ${how} within ${RESUMABLE_HOURS} hours of its start to resume.`, {
    run,
  });
  return isShrunk ? "accept" : "resume";
}
