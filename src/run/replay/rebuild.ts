/** A published run built again from its raw documents, by the code that a nightly run goes through. */
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ReadableRun } from "../../audit/open-run.ts";
import { type Clock, systemClock } from "../../common/clock.ts";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { VERSION } from "../../common/version.ts";
import type { Pipeline } from "../../pipeline.ts";
import { type Landed, readRaw } from "../../raw/read-raw.ts";
import { scalar } from "../../storage/duckdb.ts";
import { loadPipeline, pipelineUrl } from "../../transform/pipelines.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import { runStated, withPast } from "../../warehouse/identity.ts";
import {
  createStaging,
  type OutputFolder,
  outputFolder,
  type StagingFolder,
} from "../../warehouse/layout.ts";
import { fromTable, openTables, sourceOf } from "../../warehouse/published-tables.ts";
import { assertRawWhole, rawDocumentsOf } from "../../warehouse/raw-documents.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { type Built, build } from "../build.ts";
import type { Building } from "../building.ts";
import { heldAgainst } from "../previous-history.ts";
import { pipelineFingerprint } from "../resume.ts";
import { StagedLoads } from "../stage-loads.ts";

export interface RebuildRequest extends Pick<Building, "threads" | "signal" | "onProgress" | "log"> {
  /** The warehouse that the run is of; nothing in it changes. */
  readonly folder: OutputFolder;
  readonly published: ReadableRun;
  /** Folder of the warehouse that the run is staged in. */
  readonly place: string;
}

/** A run that is built, and that nobody sees. */
export interface Rebuilt {
  readonly staging: StagingFolder;
  readonly pipeline: Pipeline;
  readonly built: Built;
  /** Shows when the tables of the published run were built. */
  readonly clock: Building["clock"];
}

/**
 * Builds the run as it was built that night: with its pipeline, its limits and its clock, held against the run that it
 * was held against. Nothing is asked for, and no loader of a user's own is told. Throws `config.not_found` for a run without
 * raw documents or one of an older program, `config.invalid` where its pipeline cannot be had as it was,
 * `verify.failed` where a raw file is damaged, and what `build` throws.
 */
export async function rebuild(request: RebuildRequest): Promise<Rebuilt> {
  const { folder, published, place } = request;
  const { manifest } = published;
  const staging = await createStaging(outputFolder(place), manifest.run);
  await copyRaw(published, staging);
  const landed = await readRaw(join(staging.result, "raw"));
  const { pipeline, url } = await pipelineOf(landed, published);
  const clock = await clockOf(published, staging);
  await using loads = new StagedLoads([]);
  const built = await build({
    folder,
    runs: () => listRuns(folder),
    staging,
    landed,
    pipeline,
    pipelineUrl: url,
    ...(await heldAgainstThen(request, landed, pipeline)),
    // Its own: those of the run before, which may be gone, with what it cut.
    ranges: published,
    replayOf: manifest.replayOf ?? null,
    loads,
    threads: request.threads,
    nodeVersion: manifest.versions.node,
    signal: request.signal,
    onProgress: request.onProgress,
    clock,
    log: request.log,
    measure: async () => {},
  });
  return { staging, pipeline, built, clock };
}

/** Each file is held against the manifest where it is read from: in its copy. */
async function copyRaw(published: ReadableRun, staging: StagingFolder): Promise<void> {
  for (const { path } of rawDocumentsOf(published)) {
    const copy = join(staging.result, path);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(join(published.directory, path), copy).catch(unlessMissing);
  }
  await assertRawWhole(published, staging.result);
}

/** A file that is missing is found where the copies are looked at. */
function unlessMissing(thrown: unknown): void {
  if (codeOf(thrown) !== "ENOENT") throw thrown;
}

/**
 * The pipeline that made the run; at another version of the program it may declare other tables. A function of its own
 * that has changed is not found here: its tables differ then.
 */
async function pipelineOf(
  { facts }: Landed,
  { manifest }: ReadableRun,
): Promise<{ pipeline: Pipeline; url: string }> {
  const { name, fingerprint } = facts.pipeline;
  const url = moduleOf(facts);
  const pipeline = await loadPipeline(url);
  if (manifest.versions.package !== VERSION || pipelineFingerprint(pipeline) === fingerprint)
    return { pipeline, url };
  throw new WarehouseError(
    "config.invalid",
    `The pipeline "${printable(name)}" declares other tables or stages than when it made this run; restore it as it was, or name a later run.`,
  );
}

/** URL of the pipeline's module. Throws `config.invalid` where it had none. */
export function moduleOf({ pipeline: { name, module } }: Landed["facts"]): string {
  if (module !== null) return module.startsWith("file:") ? module : pipelineUrl(module, "");
  throw new WarehouseError(
    "config.invalid",
    `The pipeline "${printable(name)}" of this run is no file that could be read again; name a run of a pipeline that is one.`,
  );
}

/** Shows when the run's tables were built. */
export async function clockOf(published: ReadableRun, { temporary }: StagingFolder): Promise<Clock> {
  const source = sourceOf(published);
  await using database = await openTables(source, {
    temporaryDirectory: temporary,
    memoryLimitMb: 128,
    threads: 1,
  });
  const endedMs = await scalar(
    database.connection,
    `SELECT epoch_ms(ended_at) FROM ${fromTable(source, "run")}`,
  );
  return { ...systemClock, now: () => endedMs };
}

/** What the run was held against: the run before, where it is kept and still the same, or was made anew by an erasure. */
async function heldAgainstThen(
  { folder, published, place }: RebuildRequest,
  { facts }: Landed,
  pipeline: Pipeline,
) {
  return heldAgainst(facts, {
    own: published,
    kept: keptBefore(facts, published, await listRuns(folder)),
    pipeline,
    renamed: new Map(),
    temporaryDirectory: place,
  });
}

type KeptRun = Extract<Baseline, { kind: "run" }>;

function keptBefore(
  { before }: Landed["facts"],
  published: ReadableRun,
  runs: readonly PublishedRun[],
): KeptRun | undefined {
  if (before.kind !== "run") return undefined;
  const found = runStated(before, runs, withPast(published, runs));
  if (found?.sha256 === undefined || found.manifest instanceof WarehouseError) return undefined;
  const { directory, manifest, sha256 } = found;
  return { kind: "run", run: manifest.run, directory, manifest, sha256 };
}
