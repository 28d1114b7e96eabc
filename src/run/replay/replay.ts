/** Builds the current run again from its raw documents, with today's program, and publishes it as the next run. */
import { copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findReadable, type ReadableRun } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { ReplaySettings } from "../../config/config.ts";
import { EMPTY_RESUME } from "../../extract/landing/checkpoint.ts";
import {
  EXTRACT_FILE,
  type ExtractRecord,
  readExtractRecord,
  writeExtractRecord,
} from "../../raw/extract-record.ts";
import type { RawLookups } from "../../raw/raw-file.ts";
import { type Landed, lookupsIn, readRaw } from "../../raw/read-raw.ts";
import { pipelineModule, pipelineUrl } from "../../transform/pipelines.ts";
import { assertKeepsTables, type Baseline, baselineOf } from "../../warehouse/baseline.ts";
import { assertRoom, PeakUse } from "../../warehouse/disk.ts";
import {
  createStaging,
  namingFolder,
  nextRun,
  type OutputFolder,
  stagingFolder,
  stagingLeftovers,
} from "../../warehouse/layout.ts";
import { discardStaging, finishPublication } from "../../warehouse/publish.ts";
import { assertRawWhole, rawDocumentsOf } from "../../warehouse/raw-documents.ts";
import type { PublishingRun, RunOptions } from "../context.ts";
import type { Exported } from "../observed.ts";
import { preparePipeline } from "../prepare.ts";
import { previousHistory, withoutPersonal } from "../previous-history.ts";
import { landAndPublish } from "../publication.ts";
import { personalFieldsDigest, policyDigest } from "../reuse.ts";
import { missingFor } from "./missing.ts";

interface ReplayOptions extends Omit<RunOptions, "config" | "pipeline"> {
  readonly folder: OutputFolder;
  /** URL of the pipeline's module; null: that of the run. */
  readonly pipelineUrl: string | null;
  readonly wishes: ReplaySettings;
  /** Whether a person said that the warehouse loses the tables that the pipeline does not make. */
  readonly acceptPipeline: boolean;
}

/**
 * The new run has the verdict of the run that it replays, which is the run before it. Makes no request. Needs the lock.
 * Throws `config.not_found` for a run without raw documents, `config.invalid` if the pipeline needs what the run did not
 * ask for or personal data is to be treated otherwise than the documents were, `verify.failed` if a raw file is damaged,
 * and what building throws; then nothing was published.
 */
export async function replay(options: ReplayOptions): Promise<Exported> {
  const { folder, log } = options;
  try {
    await finishPublication(folder);
    options.signal.throwIfAborted();
    const published = await findReadable(folder, "current");
    await assertRawWhole(published, published.directory);
    const facts = await readExtractRecord(join(published.directory, "raw", EXTRACT_FILE));
    const run = await prepareReplay(options, published, facts);
    const [interrupted] = await stagingLeftovers(folder);
    if (interrupted !== undefined)
      log.warn(`The next run begins anew: nothing of the interrupted run ${interrupted.run} will be used.`);
    return await landAndBuild(run, published, facts);
  } catch (thrown) {
    throw namingFolder(thrown, folder);
  }
}

interface ReplayRun extends Omit<PublishingRun, "peak"> {
  /** URL of the pipeline's module. */
  readonly url: string;
}

async function prepareReplay(
  options: ReplayOptions,
  published: ReadableRun,
  facts: ExtractRecord,
): Promise<ReplayRun> {
  const { folder, clock, wishes, freeBytes, acceptPipeline: isAccepted } = options;
  const lookups = lookupsIn(join(published.directory, "raw"));
  assertSameTreatment(published, { facts, lookups }, wishes);
  const url = options.pipelineUrl ?? moduleOf(facts);
  const config = { ...wishes, limit: facts.limit };
  const pipeline = await preparePipeline({ ...options, pipeline: url, config });
  const missing = missingFor(pipeline, wishes, { facts, lookups });
  if (missing.length > 0)
    throw invalid(
      `The pipeline "${printable(pipeline.name)}" needs what run ${published.run} did not ask for: ${printable(joinFirst(missing, 5), 1000)}; replay with a pipeline and a configuration that need no more, or use "run".`,
    );
  // A limited run is on its own.
  const baseline: Baseline =
    facts.limit === null ? await baselineOf(folder, published.run) : { kind: "none" };
  assertKeepsTables(baseline, pipeline, { isAccepted, root: folder.root });
  await assertRoom(folder.root, baseline, freeBytes);
  const past = await previousHistory(baseline, pipeline, folder);
  return {
    url,
    clock,
    options: { ...options, pipeline: url, config },
    pipeline,
    folder,
    staging: stagingFolder(folder, await nextRun(folder, new Date(clock.now()))),
    baseline,
    history: withoutPersonal(past, facts.personalData),
    kept: EMPTY_RESUME,
  };
}

async function landAndBuild(run: ReplayRun, published: ReadableRun, facts: ExtractRecord): Promise<Exported> {
  const { folder, staging } = run;
  // The run after this one needs the room of a run that reads the service.
  await using peak = new PeakUse(staging.root, published.manifest.peakBytes);
  try {
    await createStaging(folder, staging.run);
    return await landAndPublish({ ...run, peak }, () => landAgain(run, published, facts), published.run);
  } finally {
    await discardStaging(folder, staging.run);
  }
}

/** Copies the raw documents under the number of the new run, and states its facts. */
async function landAgain(
  { staging, clock, pipeline, url }: ReplayRun,
  published: ReadableRun,
  { version: _version, ...facts }: ExtractRecord,
): Promise<Landed> {
  const raw = join(staging.result, "raw");
  for (const { path } of rawDocumentsOf(published)) {
    if (basename(path) === EXTRACT_FILE) continue;
    const copy = join(staging.result, renumbered(path, published.sequence, staging.sequence));
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(join(published.directory, path), copy);
  }
  await writeExtractRecord(join(raw, EXTRACT_FILE), {
    ...facts,
    pipeline: { name: pipeline.name, module: pipelineModule(url) },
    startedAt: new Date(clock.now()).toISOString(),
    resumedAt: [],
    accepted: { shrink: false, newAddress: false },
  });
  return readRaw(raw);
}

/** The number of a run is part of its files' names. */
function renumbered(path: string, from: number, to: number): string {
  const [old = "", now = ""] = [from, to].map((sequence) => `-${String(sequence).padStart(6, "0")}-`);
  return path.replace(old, now);
}

/** URL of the pipeline's module. Throws `config.invalid` if it had none. */
function moduleOf({ pipeline: { name, module } }: ExtractRecord): string {
  if (module !== null) return module.startsWith("file:") ? module : pipelineUrl(module, "");
  throw invalid(
    `The pipeline "${printable(name)}" of this run is no file that could be read again; name one with --pipeline.`,
  );
}

/** Throws `config.invalid` if the documents show what the configuration drops or hashes, or the other way round. */
function assertSameTreatment(
  { run }: ReadableRun,
  { facts, lookups }: { readonly facts: ExtractRecord; readonly lookups: RawLookups },
  { policy, personalFields, aliases }: ReplaySettings,
): void {
  const then = facts.personalData.policy;
  const settings = facts.documentSettings;
  if (policy === then && settings.policy !== policyDigest(policy))
    throw invalid(
      `By this version other names look personal than when the documents of run ${run} were kept; use "run".`,
    );
  if (policy !== then)
    throw invalid(
      `The documents of run ${run} were kept with \`personalData: "${then}"\`, and the configuration says "${policy}"; replay with "${then}", or use "run".`,
    );
  const names = [...new Set(personalFields.map((name) => aliases[name] ?? name))];
  const customFields = lookups.definitions.flatMap(({ id, answer: { name } }): [string, string][] =>
    typeof name === "string" && names.includes(name) ? [[id, name]] : [],
  );
  if (personalFieldsDigest({ names, customFields }) === settings.personalFields) return;
  throw invalid(
    `The documents of run ${run} were kept with other \`personalFields\` than the configuration names; replay with those, or use "run".`,
  );
}

function invalid(sentence: string): WarehouseError {
  return new WarehouseError("config.invalid", sentence);
}
