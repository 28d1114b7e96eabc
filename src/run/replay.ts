/** Builds the current run again from its raw documents, and publishes it as the next run. */
import { existsSync, realpathSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { DestinationName } from "../api/destination.ts";
import { findReadableRun, type ReadableRun } from "../audit/open-run.ts";
import { invalidConfig, WarehouseError } from "../common/errors.ts";
import { joinFirst } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { ReplaySettings } from "../config/config.ts";
import { planColumns } from "../extract/column-plan.ts";
import { EMPTY_RESUME } from "../extract/landing/checkpoint.ts";
import type { Pipeline } from "../pipeline.ts";
import {
  EXTRACT_FILE,
  type ExtractRecord,
  readExtractRecord,
  writeExtractRecord,
} from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import { type RawFolder, readFolderLookups, readRawFolder } from "../raw/raw-folder.ts";
import { pipelineModule, pipelineUrl } from "../transform/pipelines.ts";
import { assertKeepsTables, type Baseline, baselineOf } from "../warehouse/baseline.ts";
import { assertDiskSpace, PeakUse } from "../warehouse/disk.ts";
import {
  createStaging,
  nameFolder,
  nextRun,
  type OutputFolder,
  stagingFolder,
  stagingLeftovers,
  warnRoot,
} from "../warehouse/layout.ts";
import { discardStaging, finishPublication } from "../warehouse/publish.ts";
import { firstDamage } from "../warehouse/verify.ts";
import type { NewRun, Runtime } from "./inputs.ts";
import { makeRun, type RunResult } from "./make-run.ts";
import { preparePipeline } from "./prepare.ts";
import { previousHistory, removePersonal } from "./previous-history.ts";
import { documentSettings } from "./reuse.ts";

interface ReplayRequest extends Runtime {
  readonly folder: OutputFolder;
  /** URL of the pipeline's module; `null`: the pipeline of the run. */
  readonly pipelineUrl: string | null;
  readonly settings: ReplaySettings;
  /** Whether the warehouse may lose tables that the pipeline does not make. */
  readonly acceptPipeline: boolean;
}

/**
 * Publishes a run with the verdict of the run that it replays, which is its run before. Makes no request. Needs the lock.
 * Throws `config.not_found` for a run without raw documents, `verify.failed` if a raw file is damaged, and
 * `config.invalid` if the pipeline needs what the run did not ask for or the treatment of personal data has changed. Then
 * nothing was published.
 */
export async function replay(request: ReplayRequest): Promise<RunResult> {
  const { folder, log, signal, clock, settings } = request;
  try {
    warnRoot(folder, (sentence) => log.warn(sentence));
    await finishPublication(folder);
    signal.throwIfAborted();
    const published = await findReadableRun(folder, "current", "config.not_found");
    await assertRawWhole(published);
    const facts = await readExtractRecord(join(published.directory, "raw", EXTRACT_FILE));
    const run = await prepareReplay(request, published, facts);
    const [interrupted] = await stagingLeftovers(folder);
    if (interrupted !== undefined)
      log.warn(`The next run starts over and does not resume the interrupted run ${interrupted.run}.`);
    const { staging } = run;
    // The next run needs the disk space of a run that reads the service.
    using peak = new PeakUse(staging.root, published.manifest.peakBytes);
    const land = () => landAgain(run, published, facts, clock.now());
    const documents = { land, replayOf: published.run, kept: EMPTY_RESUME, peak };
    try {
      await createStaging(folder, staging.run);
      return await makeRun(run, documents, { ...settings, limit: facts.asked.limit }, request);
    } finally {
      await discardStaging(folder, staging.run);
    }
  } catch (thrown) {
    throw nameFolder(thrown, folder);
  }
}

async function prepareReplay(
  request: ReplayRequest,
  published: ReadableRun,
  facts: ExtractRecord,
): Promise<NewRun & { readonly pipelineUrl: string }> {
  const { folder, clock, settings, freeBytes, threads, acceptPipeline: isAccepted } = request;
  const { limit } = facts.asked;
  const lookups = readFolderLookups(join(published.directory, "raw"));
  assertSameTreatment(published, { facts, lookups }, settings);
  const pipelineUrl = request.pipelineUrl ?? moduleOf(facts, folder);
  const pipeline = await preparePipeline({ threads, pipeline: pipelineUrl, config: { ...settings, limit } });
  const missing = missingFor(pipeline, settings, { facts, lookups });
  if (missing.length > 0)
    throw invalidConfig(
      `The pipeline "${printable(pipeline.name)}" needs data that run ${published.run} did not request: ${printable(joinFirst(missing, 5), 1000)}; replay with a pipeline and a configuration that need no more, or use "run".`,
    );
  // A limited run has no run before it.
  const baseline: Baseline = limit === null ? await baselineOf(folder, published.run) : { kind: "none" };
  assertKeepsTables(baseline, pipeline, { isAccepted, root: folder.root });
  await assertDiskSpace(folder.root, baseline, freeBytes);
  const history = await previousHistory(baseline, pipeline, folder);
  return {
    pipeline,
    pipelineUrl,
    folder,
    staging: stagingFolder(folder, await nextRun(folder, new Date(clock.now()))),
    baseline,
    history: removePersonal(history, facts.asked.personalData),
  };
}

/** Copies the raw documents under the number of the new run, and writes its extract record. */
async function landAgain(
  { staging, pipeline, pipelineUrl }: Awaited<ReturnType<typeof prepareReplay>>,
  published: ReadableRun,
  { version: _version, ...facts }: ExtractRecord,
  startedMs: number,
): Promise<RawFolder> {
  const raw = join(staging.result, "raw");
  // The run's number is part of a file's name.
  const number = String(staging.sequence).padStart(6, "0");
  for (const { path } of rawFilesOf(published)) {
    if (basename(path) === EXTRACT_FILE) continue;
    const copy = join(staging.result, path.replace(/-\d{6,}-/, `-${number}-`));
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(join(published.directory, path), copy);
  }
  await writeExtractRecord(join(raw, EXTRACT_FILE), {
    ...facts,
    asked: {
      ...facts.asked,
      pipeline: { name: pipeline.name, module: pipelineModule(pipelineUrl) },
      accepted: { shrink: false, newAddress: false, lost: false },
    },
    found: { ...facts.found, startedAt: new Date(startedMs).toISOString(), resumedAt: [] },
  });
  return readRawFolder(raw);
}

function rawFilesOf({ manifest }: ReadableRun) {
  return manifest.files.filter(({ path }) => path.startsWith("raw/"));
}

async function assertRawWhole(published: ReadableRun): Promise<void> {
  const { run, directory } = published;
  const files = rawFilesOf(published);
  if (files.length === 0)
    throw new WarehouseError(
      "config.not_found",
      `Run ${run} has no raw documents, because its pipeline or \`raw\` left them out; run again with them.`,
    );
  const damage = await firstDamage(directory, files);
  if (damage === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The raw documents of run ${run} are damaged: ${damage}; put the files back from a backup, or make another run current with "content-warehouse runs rollback".`,
  );
}

/**
 * URL of the pipeline's module. Throws `config.invalid` if the pipeline was not a file, and `verify.failed` if it lies among
 * the runs, where a target may have put it.
 */
function moduleOf({ asked }: ExtractRecord, { runs }: OutputFolder): string {
  const { name, module } = asked.pipeline;
  if (module !== null) {
    const url = module.startsWith("file:") ? module : pipelineUrl(module, "");
    const path = fileURLToPath(url);
    if (!existsSync(path) || relative(realpathSync(runs), realpathSync(path)).startsWith("../")) return url;
    throw new WarehouseError(
      "verify.failed",
      `${EXTRACT_FILE} of this run names the pipeline module ${printable(path, 1000)}, a file of a run, which is not executed; name the pipeline with --pipeline.`,
    );
  }
  throw invalidConfig(
    `The pipeline "${printable(name)}" of this run is not a file that can be loaded again; name one with --pipeline.`,
  );
}

/** Throws `config.invalid` if the documents were treated by another policy, or with other personal fields. */
function assertSameTreatment(
  { run }: ReadableRun,
  { facts, lookups }: { readonly facts: ExtractRecord; readonly lookups: RawLookups },
  { policy, personalFields, aliases }: ReplaySettings,
): void {
  const { documentSettings: before, personalData } = facts.asked;
  const names = [...new Set(personalFields.map((name) => aliases[name] ?? name))];
  const customFields = lookups.definitions.flatMap(({ id, answer: { name } }): [string, string][] =>
    typeof name === "string" && names.includes(name) ? [[id, name]] : [],
  );
  const now = documentSettings({
    policy,
    keyId: null,
    aliases,
    personalFields: { names, customFields },
    columns: [],
  });
  if (before.policy === now.policy && before.personalFields === now.personalFields) return;
  throw invalidConfig(
    `The documents of run ${run} were kept with \`personalData: "${personalData.policy}"\`, and with other \`personalData\` or \`personalFields\` than the configuration has, or by another version; replay with the same, or use "run".`,
  );
}

const SINGLE_ITEMS = ["none", "events", "all"] as const;

/** Names of what the pipeline needs and the run did not ask for: listings, columns, destinations, custom fields. */
function missingFor(
  pipeline: Pipeline,
  settings: ReplaySettings,
  { facts: { asked, unmatched }, lookups }: { readonly facts: ExtractRecord; readonly lookups: RawLookups },
): string[] {
  const { columns, details } = planColumns(pipeline, settings);
  const specified = (aliases: ReplaySettings["aliases"], names: readonly string[]) =>
    names.map((name) => aliases[name] ?? name).sort();
  const fields = pipeline.customFields && [...pipeline.customFields, ...settings.customFields];
  const destinations = asked.allDestinations ? [] : (pipeline.destinations ?? settings.destinations);
  const without = (wanted: readonly string[], had: readonly unknown[]) =>
    wanted.filter((name) => !had.includes(name));
  const nameOf = ({ name, platform }: DestinationName) => `${name} (${platform})`;
  const defined = lookups.definitions.map(({ answer }) => answer.name);
  const isLess = SINGLE_ITEMS.indexOf(details) > SINGLE_ITEMS.indexOf(asked.singleItems);
  return [
    ...without(pipeline.listings, asked.shapes),
    ...without(specified(settings.aliases, columns), specified(asked.aliases, asked.columns)),
    ...without(destinations.map(nameOf), asked.destinations.map(nameOf)),
    ...(fields !== undefined && !asked.definitions ? ["the definitions of custom fields"] : []),
    ...without(asked.definitions ? (fields ?? []) : [], [...defined, ...unmatched.customFields]),
    ...(isLess ? [`single items of ${details === "all" ? "all items" : details}`] : []),
  ];
}
