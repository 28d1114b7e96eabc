import { statSync } from "node:fs";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { nearestSentence } from "../common/nearest.ts";
import { sealTree } from "../common/tree.ts";
import { assertNoWal } from "../storage/duckdb.ts";
import { withAncestors } from "./identity.ts";
import {
  currentRun,
  DATABASE_FILE,
  type OutputFolder,
  type RunIdentity,
  removeStaging,
  runsIn,
} from "./layout.ts";
import { type Manifest, readManifestFile } from "./manifest.ts";
import { recordPruned } from "./pruned.ts";
import { pointCurrentAt, removeRun } from "./run-folders.ts";

/** Published runs that are kept unless somebody says otherwise; the current one is kept besides. */
export const RUNS_KEPT = 7;

/** A run in `runs/`. */
export interface PublishedRun extends RunIdentity {
  readonly directory: string;
  readonly current: boolean;
  /** Of its manifest; undefined where that cannot be read. */
  readonly sha256: string | undefined;
  /** The manifest, or why it cannot be read. */
  readonly manifest: Manifest | WarehouseError;
}

/** All published runs, the newest first. */
export async function listRuns(folder: OutputFolder): Promise<PublishedRun[]> {
  const current = await currentRun(folder);
  const runs = (await runsIn(folder)).map(async (identity) => {
    const directory = join(folder.runs, identity.run);
    const found = await readManifestFile(directory).catch(asWarehouseError);
    const [manifest, sha256] =
      found instanceof WarehouseError ? [found, undefined] : [found.manifest, found.sha256];
    return { ...identity, directory, current: identity.run === current, manifest, sha256 };
  });
  return Promise.all(runs);
}

/** A published run by its name, its number or `current`. Throws `config.not_found`. */
export async function findRun(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const runs = await listRuns(folder);
  const found = wanted === "current" ? runs.find(({ current }) => current) : runCalled(wanted, runs);
  if (found !== undefined) return found;
  throw new WarehouseError("config.not_found", notFound(folder, wanted, runs));
}

/**
 * The run that a name or a number means; undefined: none of these. Throws `config.not_found` for the number of several:
 * two machines that deliver to one lake, and do not know each other's last run, give the same.
 */
export function runCalled<Run extends Pick<RunIdentity, "run" | "sequence">>(
  text: string,
  runs: readonly Run[],
): Run | undefined {
  const byNumber = /^\d+$/.test(text) ? Number(text) : undefined;
  const found = runs.filter(({ run, sequence }) => run === text || sequence === byNumber);
  const names = [...new Set(found.map(({ run }) => run))];
  if (names.length <= 1) return found[0];
  const several = `The number ${text} is that of several runs: ${names.join(" and ")}; give the whole name.`;
  throw new WarehouseError("config.not_found", several);
}

function notFound({ root }: OutputFolder, wanted: string, runs: readonly PublishedRun[]): string {
  const newest = runs[0]?.run;
  if (newest === undefined) {
    return `Nothing was published in ${root} yet; run "content-warehouse run nightly --sample", or name the folder with --warehouse.`;
  }
  if (wanted === "current") {
    return `No run in ${root} is current, though ${newest} was published; "content-warehouse runs rollback ${newest}" makes it so.`;
  }
  const names = ["current", ...runs.flatMap(({ run, sequence }) => [run, String(sequence)])];
  return `There is no run "${wanted}" in ${root}.${nearestSentence(wanted, names, `The newest is ${newest}.`)}`;
}

/**
 * Makes an earlier run current again, with the guarantees of a publication; the next run goes on from it. Needs the lock.
 * Throws `verify.failed`, and changes nothing, where the run lacks a file, has one of another size, or has a log beside
 * its database.
 */
export async function rollback(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const found = await findRun(folder, wanted);
  assertReadable(found);
  await sealTree(found.directory);
  // An interrupted publication is finished by the next run; after a rollback that would undo explicit approval.
  for (const each of await runsIn(folder)) await removeStaging(folder, each.run);
  await pointCurrentAt(folder, found.run);
  return findRun(folder, found.run);
}

/** Throws `verify.failed` where the files of a run are not there with their sizes, and what is wrong with its manifest. */
export function assertReadable({ directory, manifest }: PublishedRun): void {
  if (manifest instanceof WarehouseError) throw manifest;
  assertNoWal(join(directory, DATABASE_FILE));
  for (const file of manifest.files) {
    const size = statSync(join(directory, file.path), { throwIfNoEntry: false })?.size;
    if (size === file.bytes) continue;
    const found = size === undefined ? "is missing" : `has ${size} bytes instead of ${file.bytes}`;
    throw new WarehouseError(
      "verify.failed",
      `${file.path} of run ${manifest.run} ${found}; this run is damaged, choose another.`,
    );
  }
}

/**
 * Removes old runs, all but the newest `keep` and the current one; gives them, the newest first. Those that were rolled back stay known. Needs the lock.
 */
export async function prune(folder: OutputFolder, keep: number): Promise<RunIdentity[]> {
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw new WarehouseError("config.invalid", "The number of runs to keep is a whole number from 1.");
  }
  const runs = await listRuns(folder);
  const old = runs.slice(keep).filter(({ current }) => !current);
  if (old.length === 0) return [];
  const current = runs.find((each) => each.current);
  const left = runs.filter((each) => !old.includes(each));
  await recordPruned(folder, old, { left, past: withAncestors(current, runs) });
  for (const { run } of old) await removeRun(folder, run);
  return old;
}
