/**
 * Restores runs from targets that keep whole runs. A run does so by itself: it continues from the newest run that a target
 * has and this warehouse folder has not.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { rebuildDatabase } from "../load/load-table.ts";
import type { InstanceIdentity, Target, TargetRun } from "../pipeline.ts";
import {
  assertOfOneKind,
  assertSameInstance,
  type Baseline,
  baselineOf,
  instanceOf,
  readBaseline,
} from "../warehouse/baseline.ts";
import {
  goesOnFromUndone,
  isAmong,
  type RunAncestry,
  runText,
  sameRun,
  standingOf,
  withAncestors,
} from "../warehouse/identity.ts";
import {
  createStaging,
  DATABASE_FILE,
  DIGEST_DIGITS,
  type OutputFolder,
  removeStaging,
  runsIn,
  type StagingFolder,
} from "../warehouse/layout.ts";
import {
  MANIFEST_FILE,
  type ManifestFile,
  parseManifest,
  readManifestFile,
  writeManifest,
} from "../warehouse/manifest.ts";
import { discardStaging, publishCopy } from "../warehouse/publish.ts";
import { findWholeRun, listRuns, rollback } from "../warehouse/retention.ts";
import { digestFile } from "../warehouse/verify.ts";
import { targetError } from "./deliver.ts";
import { type CurrentRun, readCurrentRun, readRunTables } from "./published-run.ts";

/** Whether a target keeps whole runs. */
export function isArchive(target: Target): target is Target & Required<Pick<Target, "restore">> {
  return target.restore !== undefined;
}

/**
 * Publishes a run of a target in a warehouse folder that does not have it, verifies it and makes it current. Gives the name
 * of its folder, which differs from the run's if another run has that name. Throws `target.*`, `verify.failed` if the run
 * differs from what was published, `config.other_instance` if the folder has another instance, and `config.invalid` if it
 * has limited runs; then nothing was changed. Needs the lock.
 */
export async function restoreRun(
  folder: OutputFolder,
  target: Target,
  run: TargetRun,
  signal: AbortSignal,
): Promise<string> {
  const before = await readBaseline(folder);
  assertOfOneKind(before, { isLimited: false, root: folder.root });
  // A reader may be about to open files of another run of this name, so that one stays where it is.
  const isTaken = (await runsIn(folder)).some((each) => each.run === run.run);
  const digest = run.sha256?.slice(0, DIGEST_DIGITS);
  const name = isTaken && digest !== undefined ? `${run.run}-${digest}` : run.run;
  await removeStaging(folder, name);
  const staging = await createStaging(folder, name);
  try {
    await callTarget(target, signal, () => target.restore?.(run, staging.result, signal));
    await restoreDatabase(staging, signal);
    const found = await readManifestFile(staging.result);
    assertRequested(target, found, run);
    assertSameInstance(instanceOf(before), found.manifest.instance, folder.root, true);
    await publishCopy(folder, staging);
    return name;
  } finally {
    await discardStaging(folder, name);
  }
}

/** Calls a target, which may be user code that returns no promise. Throws `target.*` or the signal's reason. */
async function callTarget<T>(target: Target, signal: AbortSignal, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    signal.throwIfAborted();
    throw targetError(target, thrown);
  }
}

/** Throws `verify.failed` if the manifest is not that of the run. */
function assertRequested({ name }: Target, { manifest, sha256 }: ManifestFile, run: TargetRun): void {
  const found = { run: manifest.run, sequence: manifest.sequence, sha256 };
  if (sameRun(found, run)) return;
  throw new WarehouseError(
    "verify.failed",
    `The target ${name} returned the ${runText(found)} instead of the ${runText(run)}; nothing was restored: restore another run.`,
  );
}

/**
 * Makes the DuckDB file of a restored run from its Parquet files, whose digests were verified. Its bytes differ from those of
 * the published file, so the manifest is written anew and says so.
 */
async function restoreDatabase(staging: StagingFolder, signal: AbortSignal): Promise<void> {
  const { result: directory, database: file, temporary: temporaryDirectory } = staging;
  const { manifest, sha256 } = await readManifestFile(directory);
  if (!manifest.loaders.includes("duckdb") || existsSync(file)) return;
  const tables = await readRunTables({ directory, manifest }, temporaryDirectory);
  const { extraColumns } = manifest.asked;
  await rebuildDatabase(
    { file, staging: staging.root, temporaryDirectory },
    { tables, extraColumns },
    signal,
  );
  signal.throwIfAborted();
  const content = await digestFile(file);
  await rm(join(directory, MANIFEST_FILE));
  await writeManifest(
    directory,
    { ...manifest, restored: { sha256, version: VERSION } },
    manifest.files.map((each) => (each.path === DATABASE_FILE ? { ...each, ...content } : each)),
  );
}

/** What a target answered before a run. */
export interface TargetProbe {
  readonly target: Target;
  /** Last run that its readers see; `null` if there is none or it is unknown. */
  readonly last: TargetRun | null;
  /** Highest number of any run that it names. */
  readonly taken: number;
  /** Why the target cannot be asked; `null` if it answered. */
  readonly failure: WarehouseError | null;
}

/**
 * Asks each target for its last run. `instance`: `null` if unknown. A target that cannot be asked does not stop the run,
 * unless the folder is empty and the target may keep runs: then this throws `target.*`, or `config.package` if it lacks a
 * package.
 */
export async function probeTargets(
  folder: OutputFolder,
  targets: readonly Target[],
  { instance, signal }: { readonly instance: InstanceIdentity | null; readonly signal: AbortSignal },
): Promise<readonly TargetProbe[]> {
  const isEmpty = (await runsIn(folder)).length === 0;
  const probes: TargetProbe[] = [];
  for (const target of targets) {
    try {
      const last = await target.last(instance, signal);
      const taken = Math.max(last?.sequence ?? 0, last?.rollbackOf?.sequence ?? 0);
      probes.push({ target, last, taken, failure: null });
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = targetError(target, thrown);
      if (failure.code === "config.package" || (isEmpty && isArchive(target))) throw failure;
      probes.push({ target, last: null, taken: 0, failure });
    }
  }
  return probes;
}

/**
 * Restores the newest run that another machine delivered, so that history, removals and numbers continue from it. If
 * somebody rolled the target back from the current run or an earlier one, the folder is rolled back too: a delivery holds for
 * every machine. Warns of targets that keep no runs or cannot be asked.
 */
export async function restoreNewest(
  folder: OutputFolder,
  probes: readonly TargetProbe[],
  { signal, warn }: { readonly signal: AbortSignal; readonly warn: (message: string) => void },
): Promise<void> {
  for (const { failure } of probes) {
    if (failure !== null)
      warn(`${failure.message} The run continues; it will be delivered after publication.`);
  }
  const current = await readCurrentRun(folder);
  const foreign = findForeignRuns(current, probes);
  const newest = newestOf(foreign);
  if (newest !== undefined) {
    const { target, last, here } = newest;
    const name = await (newest.here === undefined
      ? restoreRun(folder, target, last, signal)
      : (await rollback(folder, newest.here.run)).run);
    const restored = (await listRuns(folder)).find((each) => each.current);
    const isFork = current && restored && !isAmong(current, withAncestors(restored));
    const folderName = name === last.run ? "" : ` as runs/${name}`;
    const done = here
      ? `The target ${target.name} was rolled back to the run ${last.run}`
      : `Restored the run ${last.run} from the target ${target.name}${folderName}`;
    const left = isFork
      ? `, not from ${current.run} on this machine; ${current.run} stays in runs/ until it is pruned, but is not part of the history`
      : "";
    warn(`${done}: this run continues from it${left}.`);
  }
  if (current === undefined) return;
  for (const { target, last } of foreign) {
    if (isArchive(target) || (newest !== undefined && sameRun(last, newest.last))) continue;
    warn(
      `The target ${target.name} has the ${runText(last)}, from another machine, and keeps no runs, so this run cannot continue from it: the changes it reports are not those at the target.`,
    );
  }
}

/** Last runs that were delivered by another machine, or that a target was rolled back to. `here`: the same run in the folder. */
function findForeignRuns(current: CurrentRun | undefined, probes: readonly TargetProbe[]) {
  return probes.flatMap(({ target, last }) => {
    if (last === null || !isForeign(last, current)) return [];
    return [{ target, last, here: current?.kept.find((each) => sameRun(each, last)) }];
  });
}

/** The run to continue from, which the folder or its target has. */
function newestOf(foreign: ReturnType<typeof findForeignRuns>) {
  const found = foreign.filter(({ target, here }) => here !== undefined || isArchive(target));
  return found.toSorted((a, b) => b.last.sequence - a.last.sequence)[0];
}

/** A run that the folder knows is not foreign, unless the target was rolled back to it or has gone on from there. */
function isForeign(last: TargetRun, current: RunAncestry | undefined): boolean {
  if (current === undefined) return true;
  const standing = standingOf(last, current);
  if (standing === "same" || standing === "earlier") return false;
  return !isAmong(last, current.known) || goesOnFromUndone(last, current);
}

/** The run of a target that the next run would continue from. */
export interface TargetBaseline {
  readonly target: string;
  readonly run: string;
  /** Whether the folder has it. */
  readonly isHere: boolean;
  /** `none` if the target does not show the manifest. If the run is not here, its directory does not exist. */
  readonly baseline: Baseline;
}

/**
 * What {@link restoreNewest} would make the current run, as far as the manifest of a run that is not here tells; `null` if
 * nothing. Changes nothing, and throws what that would throw.
 */
export async function readTargetBaseline(
  folder: OutputFolder,
  probes: readonly TargetProbe[],
  signal: AbortSignal,
): Promise<TargetBaseline | null> {
  const current = await readCurrentRun(folder);
  const newest = newestOf(findForeignRuns(current, probes));
  if (newest === undefined) return null;
  const { target, last, here } = newest;
  if (here !== undefined) await findWholeRun(folder, here.run);
  const baseline = here ? await baselineOf(folder, here.run) : await archivedBaseline(folder, newest, signal);
  return { target: target.name, run: last.run, isHere: here !== undefined, baseline };
}

async function archivedBaseline(
  folder: OutputFolder,
  { target, last: run }: Pick<TargetProbe, "target"> & { readonly last: TargetRun },
  signal: AbortSignal,
): Promise<Baseline> {
  const before = await readBaseline(folder);
  assertOfOneKind(before, { isLimited: false, root: folder.root });
  const bytes = await callTarget(target, signal, () => target.manifest?.(run, signal));
  if (bytes === undefined) return { kind: "none" };
  const found = parseManifest(bytes, `${target.name}: ${MANIFEST_FILE}`);
  const { manifest, sha256 } = found;
  assertRequested(target, found, run);
  assertSameInstance(instanceOf(before), manifest.instance, folder.root, true);
  return { kind: "run", run: manifest.run, directory: join(folder.runs, run.run), manifest, sha256 };
}
