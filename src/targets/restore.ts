/** Restores a run from a target that keeps whole runs. */

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { rebuildDatabase } from "../load/rebuild-database.ts";
import type { Target, TargetRun } from "../pipeline.ts";
import { assertOfOneKind, assertSameInstance, instanceOf, readBaseline } from "../warehouse/baseline.ts";
import { runText, sameRun } from "../warehouse/identity.ts";
import {
  createStaging,
  DATABASE_FILE,
  DIGEST_DIGITS,
  type OutputFolder,
  removeStaging,
  runsIn,
  type StagingFolder,
} from "../warehouse/layout.ts";
import { MANIFEST_FILE, type ManifestFile, readManifestFile, writeManifest } from "../warehouse/manifest.ts";
import { discardStaging, publishCopy } from "../warehouse/publish.ts";
import { digestFile } from "../warehouse/verify.ts";
import { targetError } from "./deliver.ts";
import { readRunTables } from "./published-run.ts";

/** A target that keeps whole runs. */
export type ArchiveTarget = Target & Required<Pick<Target, "restore">>;

export function isArchive(target: Target): target is ArchiveTarget {
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
  target: ArchiveTarget,
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
    await callTarget(target, signal, () => target.restore(run, staging.result, signal));
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
export async function callTarget<T>(
  target: Target,
  signal: AbortSignal,
  call: () => T | Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    signal.throwIfAborted();
    throw targetError(target, thrown);
  }
}

/** Throws `verify.failed` if the manifest is not that of the run. */
export function assertRequested({ name }: Target, { manifest, sha256 }: ManifestFile, run: TargetRun): void {
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
  await rebuildDatabase({ file, staging: staging.root, temporaryDirectory, tables, signal });
  signal.throwIfAborted();
  const content = await digestFile(file);
  await rm(join(directory, MANIFEST_FILE));
  await writeManifest(
    directory,
    { ...manifest, restored: { sha256, version: VERSION } },
    manifest.files.map((each) => (each.path === DATABASE_FILE ? { ...each, ...content } : each)),
  );
}
