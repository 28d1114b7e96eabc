/** Prepares a run: pipeline, folder, lock, run before, disk, service. `check` rehearses the same steps. */
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { warningText } from "../audit/checks/checks.ts";
import { validateTests } from "../audit/checks/validate-tests.ts";
import { invalidConfig } from "../common/errors.ts";
import { duration, fileSize, megabytes, pluralize } from "../common/figures.ts";
import { printable } from "../common/printable.ts";
import { type Config, treatmentOf } from "../config/config.ts";
import type { RunObservers } from "../observe/observers.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import { RUN_TABLES } from "../tables/all.ts";
import { targetError } from "../targets/deliver.ts";
import {
  probeTargets,
  readTargetBaseline,
  restoreNewest,
  type TargetBaseline,
  type TargetProbe,
} from "../targets/restore.ts";
import { loadPipeline } from "../transform/pipelines.ts";
import {
  assertComparable,
  assertKeepsTables,
  assertOfOneKind,
  assertSameInstance,
  assertSameKey,
  type Baseline,
  instanceOf,
  readBaseline,
} from "../warehouse/baseline.ts";
import { assertDiskSpace, bytesBelow } from "../warehouse/disk.ts";
import { discardLeftovers, stagingFolder, warnRoot } from "../warehouse/layout.ts";
import { acquireLock, discardMade, type PreparedOutput, prepareOutput } from "../warehouse/lock.ts";
import { runMs } from "../warehouse/manifest.ts";
import { finishPublication } from "../warehouse/publish.ts";
import { type RunInputs, type StepListener, targetsOf } from "./inputs.ts";
import { judgeHistory, previousHistory, removePersonal } from "./previous-history.ts";
import { findInterrupted, keepResumable, type ResumableRun, type ResumeRecord } from "./resume.ts";
import { openSession, personalFieldIds, type ServiceSession } from "./session.ts";
import { type OpenResources, originOf } from "./source.ts";

interface PrepareRequest {
  readonly inputs: RunInputs;
  readonly opened: OpenResources;
  readonly listener: StepListener;
  /**
   * A rehearsal changes nothing: the folder is left as it was, the lock is released at once and no run is restored. It also
   * asks service, targets and observers what a run would find out later.
   */
  readonly isRehearsal: boolean;
  readonly observers: RunObservers;
}

export type PreparedRun = Awaited<ReturnType<typeof prepare>>;

/** Ends at the first failure, with the code and the sentence that the run ends with. */
export async function prepare(request: PrepareRequest) {
  const { inputs, listener, observers, isRehearsal } = request;
  listener.begin("pipeline");
  const pipeline = await preparePipeline(inputs);
  const { name, tables, tests } = pipeline;
  listener.note(`${name}: ${pluralize(tables.length, "table")}, ${pluralize(tests.length, "test")}`);
  observers.loaded(name);
  const folder = await prepareFolder(request);
  const before = await prepareRunBefore(request, pipeline, folder);
  const { baseline, targets, above } = before;
  await checkDisk(request, folder, before);
  const { onAttempt } = observers;
  const session = await openSession({ ...request, ...before, onAttempt, pipeline, root: folder.root });
  if (isRehearsal) {
    await rehearseTargets(request, pipeline, targets);
    await rehearseObservers(request);
  }
  const fieldIds = personalFieldIds(session.personalFields);
  const resumable = isRehearsal ? null : await clearStaging(inputs, folder, before.resumable, session);
  const fresh: ResumeRecord = {
    fingerprint: before.fingerprint,
    startedMs: before.startedMs,
    resumedMs: [],
    shrunk: false,
    ratePerSecond: null,
    personalFieldIds: fieldIds,
    peakBytes: 0,
  };
  const treatment = { ...treatmentOf(inputs.config.personalData), customFieldIds: fieldIds };
  return {
    pipeline,
    folder,
    baseline,
    history: removePersonal(before.history, treatment),
    above,
    session,
    resumable,
    resumeRecord: resumable?.resumeRecord ?? fresh,
  };
}

/** Loads a pipeline. Throws `config.invalid` if it cannot run on this machine or with this configuration. */
export async function preparePipeline({
  pipeline,
  threads,
  config,
}: Pick<RunInputs, "pipeline" | "threads"> & {
  readonly config: Pick<Config, "limit" | "targets">;
}): Promise<Pipeline> {
  // Only Linux has this file.
  assertAddressSpace(await readFile("/proc/self/limits", "utf8").catch(() => ""), threads);
  const loaded = typeof pipeline === "string" ? await loadPipeline(pipeline) : pipeline;
  await validateTests(loaded);
  if (targetsOf(config).length > 0 && !publishes(loaded, "parquet"))
    throw invalidConfig(
      `The pipeline ${loaded.name} publishes no Parquet files, and targets are made from them: add parquet() to its loaders, or leave out \`targets\`.`,
    );
  return loaded;
}

/** Bytes of address space that Node and DuckDB reserve; no run was seen to end well with less. */
const MIN_ADDRESS_SPACE = 10_400_000_000;
/** Bytes of address space that V8 reserves for each thread. */
const THREAD_ADDRESS_SPACE = 600_000_000;

/**
 * Throws `config.invalid` if `ulimit -v` allows less address space than this number of threads needs: V8 would end the
 * process in the middle of the run, without a message. `limits`: text of `/proc/self/limits`.
 */
function assertAddressSpace(limits: string, threads: number): void {
  const [, limit] = /^Max address space +(\d+) /m.exec(limits) ?? [];
  const needed = MIN_ADDRESS_SPACE + threads * THREAD_ADDRESS_SPACE;
  if (limit === undefined || Number(limit) >= needed) return;
  throw invalidConfig(
    `The limit on virtual memory (ulimit -v) is ${megabytes(Number(limit))}, and a run reserves ${megabytes(needed)}, of which it uses little; ` +
      "raise or remove it, and limit memory with a cgroup or container instead.",
  );
}

async function prepareFolder({
  inputs,
  opened,
  listener,
  isRehearsal,
}: PrepareRequest): Promise<PreparedOutput> {
  listener.begin("folder");
  const folder = await prepareOutput(inputs.config.warehouse);
  warnRoot(folder, listener.warn);
  listener.note(`${folder.root} can be ${folder.made.includes(folder.root) ? "made" : "written"}`);
  listener.begin("lock");
  const lock = await acquireLock(folder).catch(async (thrown: unknown) => {
    await discardMade(folder, { isLocked: false });
    throw thrown;
  });
  Object.assign(opened, { folder, lock });
  if (isRehearsal) {
    await discardMade(folder, { isLocked: true });
    await lock[Symbol.asyncDispose]();
    delete opened.lock;
  } else {
    await finishPublication(folder);
  }
  listener.note("no run is under way");
  return folder;
}

/** The run that this one goes on from: the latest of the folder, or the last run of a target. */
async function prepareRunBefore(
  { inputs, listener, isRehearsal }: PrepareRequest,
  pipeline: Pipeline,
  folder: PreparedOutput,
) {
  const { config, clock, signal, log } = inputs;
  listener.begin("run before");
  const found = await readBaseline(folder);
  const { root } = folder;
  assertOfOneKind(found, { isLimited: config.limit !== null, root });
  const address = { id: null, origin: originOf(config) };
  // The ID at a new address is unknown until the service answers.
  const instance = instanceOf(found) ?? (config.acceptNewAddress ? null : address);
  const targets = await probeTargets(folder, targetsOf(config), { instance, signal });
  const goesOnFrom = isRehearsal ? await readTargetBaseline(folder, targets, signal) : null;
  if (!isRehearsal) await restoreNewest(folder, targets, { signal, warn: (message) => log.warn(message) });
  // A restored run is the latest now.
  const latest = goesOnFrom?.baseline ?? (await readBaseline(folder));
  const baseline: Baseline = config.limit === null ? latest : { kind: "none" };
  assertComparable(baseline, config.acceptShrink);
  assertKeepsTables(baseline, pipeline, { isAccepted: config.acceptPipeline, root });
  assertSameKey(baseline, treatmentOf(config.personalData), root);
  if (!config.acceptNewAddress) assertSameInstance(instanceOf(baseline), address, root, false);
  const startedMs = clock.now();
  // The new run's number is above every number that a target knows.
  const above = Math.max(0, ...targets.map(({ taken }) => taken));
  const { fingerprint, resumable, problem } = await findInterrupted(folder, inputs, {
    pipeline,
    nowMs: startedMs,
    above,
  });
  if (problem !== null) listener.warn(problem);
  const history =
    goesOnFrom?.isHere === false
      ? ({ kind: "none" } as const)
      : await previousHistory(baseline, pipeline, folder);
  if (isRehearsal)
    for (const warning of judgeHistory(history, pipeline).warnings) listener.warn(warningText(warning));
  listener.note(runBeforeText(baseline, goesOnFrom));
  return { baseline, history, resumable, fingerprint, startedMs, above, targets };
}

/** Includes what the run before cost, which is the best estimate for this one. */
function runBeforeText(baseline: Baseline, goesOnFrom: TargetBaseline | null): string {
  if (goesOnFrom !== null) {
    const { target, run, isHere } = goesOnFrom;
    return isHere
      ? `a run goes on from ${run}, to which the target ${target} was rolled back`
      : `a run restores ${run} from the target ${target}, and goes on from it`;
  }
  if (baseline.kind !== "run") return "no earlier run";
  const { requests } = baseline.manifest.found;
  const took = duration(runMs(baseline.manifest) / 1000);
  return `${baseline.run}: ${pluralize(requests.count, "request")}, ${took}, ${megabytes(requests.bytes)}`;
}

async function checkDisk(
  { inputs, listener }: PrepareRequest,
  { root, staging }: PreparedOutput,
  { baseline, resumable }: Awaited<ReturnType<typeof prepareRunBefore>>,
): Promise<void> {
  listener.begin("disk");
  const taken = resumable ? { ...resumable.resumeRecord, keptBytes: resumable.keptBytes } : undefined;
  // Leftovers are removed before the run writes anything.
  const clearable = (await bytesBelow(staging)) - (resumable?.keptBytes ?? 0);
  const free = async () => {
    const left = await inputs.freeBytes(root);
    return left && left + clearable;
  };
  const { left, needed } = await assertDiskSpace(root, baseline, free, taken);
  const room = left === undefined ? "the free space is unknown" : `${fileSize(left)} free`;
  listener.note(needed === undefined ? room : `${room}; a run takes up to ${fileSize(needed)}`);
}

/** Removes what interrupted runs left, except what this run resumes. Returns the run that it resumes. */
async function clearStaging(
  { log }: RunInputs,
  folder: PreparedOutput,
  found: ResumableRun | null,
  { instanceId, personalFields }: ServiceSession,
): Promise<ResumableRun | null> {
  const reasons: string[] = [];
  const before = found?.kept.instanceId ?? null;
  if (before !== null && instanceId !== null && before !== instanceId)
    reasons.push(`it read instance ${printable(before)}, and the service now has ${printable(instanceId)}`);
  // Documents that were treated by other IDs may hold what is personal now.
  const fieldIds = personalFieldIds(personalFields);
  if (found !== null && !isDeepStrictEqual(found.resumeRecord.personalFieldIds, fieldIds))
    reasons.push("`personalFields` now covers other fields");
  const because = reasons.join(", and ");
  if (because !== "")
    log.warn(`The interrupted run is not resumed, and its documents are removed, because ${because}.`);
  const resumable = because === "" ? found : null;
  if (resumable !== null) await keepResumable(stagingFolder(folder, resumable.run), resumable.kept.files);
  await discardLeftovers(folder, resumable?.run);
  return resumable;
}

/** A target that fails here would fail once the run is published, with the same sentence. */
async function rehearseTargets(
  { inputs: { signal }, listener }: PrepareRequest,
  { tables }: Pipeline,
  states: readonly TargetProbe[],
): Promise<void> {
  for (const { target, last, failure } of states) {
    listener.begin("targets");
    try {
      if (failure !== null) throw failure;
      await target.check?.(signal, [...tables, ...RUN_TABLES]);
    } catch (thrown) {
      signal.throwIfAborted();
      throw targetError(target, thrown);
    }
    const has = last === null ? "nothing is delivered yet" : `has run ${last.sequence}`;
    listener.note(`${target.name}: ${has}${target.check === undefined ? "" : ", can be written to"}`);
  }
}

/** Only warns: the run does not depend on its observers. */
async function rehearseObservers({ observers, listener }: PrepareRequest): Promise<void> {
  listener.begin("observers");
  for (const [name, problem] of await observers.problems()) {
    if (problem === null) listener.note(`${name} works`);
    else listener.warn(problem);
  }
}
