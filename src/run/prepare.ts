/** All that a run needs before it begins. `run` calls it, and `check` calls it as a rehearsal. */
import { readFile } from "node:fs/promises";
import { personalFieldsSentence } from "../audit/checks/personal.ts";
import { assertTestsFit } from "../audit/checks/tests-fit.ts";
import { goneDestination } from "../audit/checks/unmatched.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { count, duration, fileSize, megabytes, pluralize } from "../common/figures.ts";
import type { Log } from "../common/log.ts";
import { printable } from "../common/printable.ts";
import { type Config, treatmentOf } from "../config/config.ts";
import type { HttpClient } from "../extract/http/client.ts";
import { RETRY_LIMITS } from "../extract/http/retry-rules.ts";
import { Lookups } from "../extract/lookups.ts";
import { probeBasic, probeFieldNames, probeService, type ServiceProbe } from "../extract/probe.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import { configuredObservers, problemOf } from "../observe/observers.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import { looksPersonal } from "../raw/personal/names.ts";
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
  rateOf,
  readBaseline,
} from "../warehouse/baseline.ts";
import { assertRoom, bytesBelow, NOTHING_TAKEN, roomNeeded } from "../warehouse/disk.ts";
import {
  discardLeftovers,
  discardUnused,
  type PreparedOutput,
  prepareOutput,
  removeEmpty,
  stagingFolder,
} from "../warehouse/layout.ts";
import { acquireLock } from "../warehouse/lock.ts";
import { finishPublication } from "../warehouse/publish.ts";
import type { PublishingRun, RunOptions } from "./context.ts";
import { targetsOf } from "./delivery.ts";
import { assertNoneMisspelled, knownDestinations } from "./known-destinations.ts";
import { findPersonalFields } from "./personal-fields.ts";
import { historyWarnings, previousHistory } from "./previous-history.ts";
import { findInterrupted, foreignSentence, keepResumable, resumeFingerprint } from "./resume.ts";
import {
  assertKnownAddress,
  comparisonOf,
  knownInstance,
  type OpenSource,
  openClient,
  openHastyClient,
  openRetry,
  openSource,
  originOf,
} from "./source.ts";

/** In this order; `check` begins with "configuration". */
export type StepName =
  | "configuration"
  | "pipeline"
  | "folder"
  | "lock"
  | "run before"
  | "disk"
  | "service"
  | "personal fields"
  | "destinations"
  | "targets"
  | "observers";

/** Hears of each step. What is thrown after `begin` is the failure of that step. */
export interface StepListener {
  begin(step: StepName): void;
  note(detail: string): void;
  warn(detail: string): void;
}

/** What the preparation has opened so far, for whoever called it to close. */
export interface Opened {
  folder?: PreparedOutput;
  lock?: AsyncDisposable;
  source?: OpenSource;
  client?: HttpClient;
}

interface Preparation {
  readonly options: RunOptions;
  readonly opened: Opened;
  readonly listener: StepListener;
  /**
   * Whether nothing may be changed: the folder is left as it was, the lock is free again at once, no run is restored, and
   * service, targets and observers are asked what a run would find out later.
   */
  readonly isRehearsal: boolean;
  /** Called with the name of the pipeline when it is loaded. */
  readonly onPipeline?: (name: string) => void;
}

/** Ends at the first failure, which is the run's: code and sentence are the same in a rehearsal. */
export async function prepare(preparation: Preparation) {
  const { options, listener, onPipeline } = preparation;
  listener.begin("pipeline");
  const pipeline = await preparePipeline(options);
  const { name, tables, tests } = pipeline;
  listener.note(`${name}: ${pluralize(tables.length, "table")}, ${pluralize(tests.length, "test")}`);
  onPipeline?.(name);
  const folder = await prepareFolder(preparation);
  const before = await prepareRunBefore(preparation, pipeline, folder);
  await prepareDisk(preparation, folder, before);
  const service = await prepareService(preparation, pipeline, folder, before);
  if (preparation.isRehearsal) {
    await rehearseTargets(preparation, pipeline, before.targets);
    await rehearseObservers(options, listener);
  }
  return { pipeline, folder, ...before, ...service };
}

/** Closes all that was opened. What fails to close is told, and hides no other failure. */
export async function closeOpened({ client, source, lock }: Opened, log: Log): Promise<void> {
  const closings = [
    () => client?.close(),
    () => source?.[Symbol.asyncDispose](),
    () => lock?.[Symbol.asyncDispose](),
  ];
  for (const close of closings) {
    try {
      await close();
    } catch (thrown) {
      log.warn(asWarehouseError(thrown).message);
    }
  }
}

/** Loads a pipeline. Throws `config.invalid` if it cannot run on this machine or with this configuration. */
export async function preparePipeline(
  options: Pick<PublishingRun["options"], "pipeline" | "threads" | "config">,
): Promise<Pipeline> {
  const { pipeline, threads, config } = options;
  // Other systems than Linux have no such file.
  assertAddressSpace(await readFile("/proc/self/limits", "utf8").catch(() => ""), threads);
  const loaded = typeof pipeline === "string" ? await loadPipeline(pipeline) : pipeline;
  await assertTestsFit(loaded);
  const { name } = loaded;
  if (targetsOf(config).length > 0 && !publishes(loaded, "parquet"))
    throw new WarehouseError(
      "config.invalid",
      `The pipeline ${name} publishes no Parquet files, which targets are made from: add parquet() to its loaders, or leave out \`targets\`.`,
    );
  return loaded;
}

/** Address space that Node and the database reserve, hardly any of it used; with less, no run was seen to reach its end. */
const MIN_ADDRESS_SPACE = 10_400_000_000;
/** Address space that V8 reserves for each thread. */
const THREAD_ADDRESS_SPACE = 600_000_000;

/**
 * Throws `config.invalid` if a run of so many threads cannot have the address space that it needs (`ulimit -v`): V8 would
 * end the process in the middle of the run, without a word.
 */
export function assertAddressSpace(limits: string, threads: number): void {
  const [, limit] = /^Max address space +(\d+) /m.exec(limits) ?? [];
  const needed = MIN_ADDRESS_SPACE + threads * THREAD_ADDRESS_SPACE;
  if (limit === undefined || Number(limit) >= needed) return;
  throw new WarehouseError(
    "config.invalid",
    `The limit on virtual memory (ulimit -v) is ${megabytes(Number(limit))}, and a run reserves ${megabytes(needed)}, of which it uses little; ` +
      "lift it, and limit memory by a cgroup or a container instead.",
  );
}

async function prepareFolder(preparation: Preparation): Promise<PreparedOutput> {
  const { options, opened, listener, isRehearsal } = preparation;
  listener.begin("folder");
  const folder = await prepareOutput(options.config.warehouse);
  listener.note(`${folder.root} can be ${folder.made.includes(folder.root) ? "made" : "written"}`);
  listener.begin("lock");
  const lock = await acquireLock(folder).catch(async (thrown: unknown) => {
    await removeEmpty(folder.made);
    throw thrown;
  });
  Object.assign(opened, { folder, lock });
  if (isRehearsal) {
    await discardUnused(folder);
    await lock[Symbol.asyncDispose]();
    delete opened.lock;
  } else {
    await finishPublication(folder);
  }
  listener.note("no run is under way");
  return folder;
}

type RunBefore = Awaited<ReturnType<typeof prepareRunBefore>>;

/** The run that this one goes on from: the latest of the folder, or the one that a target has. */
async function prepareRunBefore(
  { options, listener, isRehearsal }: Preparation,
  pipeline: Pipeline,
  folder: PreparedOutput,
) {
  const { config, clock, signal, log } = options;
  listener.begin("run before");
  const found = await readBaseline(folder);
  assertOfOneKind(found, { isLimited: config.limit !== null, root: folder.root });
  const instance = knownInstance(found, config);
  const targets = await probeTargets(folder, targetsOf(config), { instance, signal });
  const goesOnFrom = isRehearsal ? await readTargetBaseline(folder, targets, signal) : null;
  if (!isRehearsal) await restoreNewest(folder, targets, { signal, warn: (message) => log.warn(message) });
  // A run that was restored is the latest by now; a limited run stands alone.
  const latest = goesOnFrom?.baseline ?? (await readBaseline(folder));
  const baseline: Baseline = config.limit === null ? latest : { kind: "none" };
  assertComparable(baseline, config.acceptShrink);
  assertKeepsTables(baseline, pipeline, { isAccepted: config.acceptPipeline, root: folder.root });
  assertSameKey(baseline, treatmentOf(config.personalData), folder.root);
  assertKnownAddress(baseline, config, folder.root);
  const fingerprint = await resumeFingerprint(config, options.pipeline, pipeline);
  const startedMs = clock.now();
  // The highest number that a target knows of any run: this one's is above.
  const above = Math.max(0, ...targets.map(({ taken }) => taken));
  const wanted = { fingerprint, config, nowMs: startedMs, above };
  const { resumable, foreign } = await findInterrupted(folder, wanted);
  if (foreign !== null) listener.warn(foreignSentence(foreign));
  if (!isRehearsal) {
    if (resumable !== null) await keepResumable(stagingFolder(folder, resumable.run), resumable.kept.files);
    await discardLeftovers(folder, resumable?.run);
  }
  const past: PreviousHistory =
    goesOnFrom?.isHere === false ? { kind: "none" } : await previousHistory(baseline, pipeline, folder);
  if (isRehearsal) for (const sentence of historyWarnings(past)) listener.warn(sentence);
  listener.note(runBeforeText(baseline, goesOnFrom));
  return { baseline, past, resumable, fingerprint, startedMs, above, targets };
}

/** With what the run before asked for: it is the best that is known of what this one will. */
function runBeforeText(baseline: Baseline, goesOnFrom: TargetBaseline | null): string {
  if (goesOnFrom !== null) {
    const { target, run, isHere } = goesOnFrom;
    return isHere
      ? `a run goes on from ${run}, to which the target ${target} was rolled back`
      : `a run restores ${run} from the target ${target}, and goes on from it`;
  }
  if (baseline.kind !== "run") return "no run to go on from";
  const { requests, startedAt, endedAt } = baseline.manifest;
  const took = duration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
  return `${baseline.run}: ${pluralize(requests.count, "request")}, ${took}, ${megabytes(requests.bytes)}`;
}

async function prepareDisk(
  { options, listener, isRehearsal }: Preparation,
  { root, staging }: PreparedOutput,
  { baseline, resumable }: RunBefore,
): Promise<void> {
  listener.begin("disk");
  const taken = resumable ? { ...resumable.resumeRecord, keptBytes: resumable.keptBytes } : NOTHING_TAKEN;
  // A run has cleared away by now what a rehearsal finds.
  const clearable = isRehearsal ? (await bytesBelow(staging)) - (resumable?.keptBytes ?? 0) : 0;
  const free = async () => {
    const left = await options.freeBytes(root);
    return left && left + clearable;
  };
  await assertRoom(root, baseline, free, taken);
  const [left, needed] = [await free(), roomNeeded(baseline, taken)];
  const room =
    left === undefined ? "the file system does not tell how much is free" : `${fileSize(left)} free`;
  listener.note(needed === undefined ? room : `${room}; a run takes up to ${fileSize(needed)}`);
}

async function prepareService(
  { options, opened, listener, isRehearsal }: Preparation,
  pipeline: Pipeline,
  folder: PreparedOutput,
  { baseline, resumable }: RunBefore,
) {
  const { config, signal } = options;
  listener.begin("service");
  const source = await openSource(config);
  opened.source = source;
  const isKnown = resumable !== null || instanceOf(baseline)?.origin === originOf(config);
  const retry = openRetry(source, options, {
    startPerSecond: resumable?.resumeRecord.ratePerSecond ?? rateOf(baseline),
    outageMinutes: config.outageMinutes,
    limits: RETRY_LIMITS,
    isKnown,
  });
  const client = isRehearsal ? openHastyClient(source, options) : openClient(source, options, { retry });
  opened.client = client;
  // A run looks only behind a new address; behind a known one, the documents tell.
  const isMoved =
    config.acceptNewAddress && (instanceOf(baseline)?.origin ?? originOf(config)) !== originOf(config);
  const answer = isRehearsal || isMoved ? await probeService(client, config.aliases, signal) : undefined;
  if (answer !== undefined) {
    const instance = { id: answer.instanceId, origin: originOf(config) };
    assertSameInstance(instanceOf(baseline), instance, folder.root, comparisonOf(config));
  }
  const fieldNames = isRehearsal ? await readEachKind(options, pipeline, client) : [];
  if (isRehearsal && answer !== undefined) noteAnswer(answer, source, listener);
  if (config.personalFields.length > 0) listener.begin("personal fields");
  const lookups = new Lookups(client, config.lookupMethod);
  const lookUp = (names: readonly string[]) => lookups.customFields(names, signal);
  const personalFields = await findPersonalFields(config, { client, lookUp, signal });
  if (config.personalFields.length > 0)
    listener.note(`${pluralize(personalFields.customFields.length, "custom field")} found`);
  const uncovered = fieldNames.filter((name) => looksPersonal(name) && !personalFields.names.includes(name));
  if (uncovered.length > 0 && config.personalData.policy !== "keep") {
    listener.begin("personal fields");
    listener.warn(personalFieldsSentence(uncovered.map((name) => printable(name, 60))));
  }
  if (isRehearsal) await rehearseDestinations(options, pipeline, { source, client, listener, baseline });
  return { source, retry, personalFields };
}

function noteAnswer(
  { items, response: { milliseconds } }: ServiceProbe,
  { proxy }: OpenSource,
  listener: StepListener,
): void {
  const way = proxy === null ? "" : `, through the proxy ${proxy.host}`;
  const text = `${pluralize(items, "item")}, ${duration(milliseconds / 1000)}${way}`;
  if (items > 0) listener.note(text);
  else listener.warn(`${text}: check what the token may see`);
}

/** Reads one answer of each kind that a run of the pipeline reads, but single items. Gives names of custom fields. */
async function readEachKind(
  { config, signal }: Pick<RunOptions, "config" | "signal">,
  { listings, customFields }: Pipeline,
  client: HttpClient,
): Promise<string[]> {
  const found = listings.includes("full")
    ? await probeFieldNames(client, { perPage: config.perPage, signal })
    : [];
  // One listing is certified by a further pass over IDs and times.
  if (listings.length === 1) await probeBasic(client, signal);
  const names = [...new Set([...config.customFields, ...(customFields ?? []), ...found])];
  const lookedUp = customFields === undefined ? [] : names.slice(0, 1);
  await new Lookups(client, config.lookupMethod).customFields(lookedUp, signal);
  return names;
}

async function rehearseDestinations(
  { config, signal }: RunOptions,
  pipeline: Pipeline,
  asked: Required<Pick<Opened, "source" | "client">> &
    Pick<Preparation, "listener"> &
    Pick<RunBefore, "baseline">,
): Promise<void> {
  const { source, client, listener, baseline } = asked;
  listener.begin("destinations");
  const wanted = pipeline.destinations ?? source.destinations;
  if (wanted.length === 0) return listener.warn("none are configured, so there will be no mapped values");
  const lookups = new Lookups(client, config.lookupMethod);
  const found = await lookups.destinations(wanted, signal);
  await assertNoneMisspelled(found, baseline, () => knownDestinations(client, config.aliases, signal));
  const gone = found.unmatched.map(({ name, platform }) => goneDestination(name, platform));
  if (gone.length > 0) listener.warn(gone.join(" "));
  else listener.note(`${count(wanted.length)} found`);
}

/** A target that fails here fails once the run is published, with the same sentence. */
async function rehearseTargets(
  { options: { signal }, listener }: Preparation,
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

/** The run does not depend on its observers. */
async function rehearseObservers({ config, clock }: RunOptions, listener: StepListener): Promise<void> {
  const { observe: settings, warehouse }: Config = config;
  for (const observer of configuredObservers({ settings, warehouse }, clock.now())) {
    listener.begin("observers");
    const problem = await problemOf(observer);
    if (problem === null) listener.note(`${observer.name} can be told`);
    else listener.warn(problem);
  }
}
