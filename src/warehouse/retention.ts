/** Finds, rolls back and removes published runs. */
import { lstatSync } from "node:fs";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { asWarehouseError, codeOf, invalidConfig, WarehouseError } from "../common/errors.ts";
import { pluralize } from "../common/figures.ts";
import { parseIfJson } from "../common/json.ts";
import { nearestSentence } from "../common/nearest.ts";
import { inTemporaryFolder } from "../common/temporary-folder.ts";
import { removeTree, sealTree, sync } from "../common/tree.ts";
import { isAmong, isLaterRun, type RunKey, withAncestors } from "./identity.ts";
import {
  currentRun,
  type OutputFolder,
  outputError,
  pointCurrentAt,
  type RunIdentity,
  removeStaging,
  runsIn,
} from "./layout.ts";
import { type Manifest, readManifestFile, runIdentifier } from "./manifest.ts";
import { examine, findingsOf } from "./verify.ts";

/** Default number of published runs to keep, besides the current one. */
export const RUNS_KEPT = 7;

export interface PublishedRun extends RunIdentity {
  readonly directory: string;
  readonly current: boolean;
  /** SHA-256 of the manifest; `undefined` if the manifest cannot be read. */
  readonly sha256: string | undefined;
  /** The manifest, or why it cannot be read. */
  readonly manifest: Manifest | WarehouseError;
}

/** All published runs, newest first. */
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

/** Finds a published run by its name, its number or `current`. Throws `config.not_found`. */
export async function findRun(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const runs = await listRuns(folder);
  const found = wanted === "current" ? runs.find(({ current }) => current) : runCalled(wanted, runs);
  if (found !== undefined) return found;
  throw new WarehouseError("config.not_found", notFoundSentence(folder, wanted, runs));
}

/** Finds a run by its name or number. Throws `config.not_found` for a number that several runs have. */
export function runCalled<Run extends Pick<RunIdentity, "run" | "sequence">>(
  text: string,
  runs: readonly Run[],
): Run | undefined {
  const byNumber = /^\d+$/.test(text) ? Number(text) : undefined;
  const found = runs.filter(({ run, sequence }) => run === text || sequence === byNumber);
  const names = [...new Set(found.map(({ run }) => run))];
  if (names.length <= 1) return found[0];
  const several = `Several runs have the number ${text}: ${names.join(" and ")}; give the whole name.`;
  throw new WarehouseError("config.not_found", several);
}

function notFoundSentence({ root }: OutputFolder, wanted: string, runs: readonly PublishedRun[]): string {
  const newest = runs[0]?.run;
  if (newest === undefined) {
    return `Nothing was published in ${root} yet; run "content-warehouse run nightly --sample", or name the folder with --warehouse.`;
  }
  if (wanted === "current") {
    return `No run in ${root} is current, though ${newest} was published; "content-warehouse runs rollback ${newest}" makes it current.`;
  }
  const names = ["current", ...runs.flatMap(({ run, sequence }) => [run, String(sequence)])];
  return `There is no run "${wanted}" in ${root}.${nearestSentence(wanted, names, `The newest is ${newest}.`)}`;
}

/**
 * Finds a run as {@link findRun} does, and compares it with its manifest. Throws `verify.failed` if it is not as it was
 * published.
 */
export async function findWholeRun(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const found = await findRun(folder, wanted);
  const { run, directory, manifest } = found;
  if (manifest instanceof WarehouseError) throw manifest;
  const [first, ...others] = await inTemporaryFolder("verify", async (temporaryDirectory) =>
    findingsOf(run, manifest, await examine({ result: directory, temporaryDirectory, stated: manifest })),
  );
  if (first === undefined) return found;
  const more = others.length === 0 ? "" : `, and ${pluralize(others.length, "more finding")}`;
  throw new WarehouseError(
    "verify.failed",
    `The run ${run} is not as it was published (${first}${more}), so nothing was done with it: run again, or look for a whole run with "content-warehouse verify --all".`,
  );
}

/**
 * Makes an earlier run current again; the next run continues it. Needs the lock. Throws `verify.failed`, and changes
 * nothing, if the run is not as it was published.
 */
export async function rollback(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const found = await findWholeRun(folder, wanted);
  await sealTree(found.directory);
  // The next run would finish an interrupted publication, and so undo the rollback.
  for (const each of await runsIn(folder)) await removeStaging(folder, each.run);
  await pointCurrentAt(folder, found.run);
  return findRun(folder, found.run);
}

/**
 * Removes all runs but the newest `keep` and the current one, and returns the removed runs, newest first. Needs the
 * lock.
 */
export async function prune(folder: OutputFolder, keep: number): Promise<RunIdentity[]> {
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw invalidConfig("The number of runs to keep is a whole number from 1.");
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

/**
 * Removes a run, even one that a killed process has half removed. The run leaves `runs/` in one step, so that no half
 * run is listed. Open files stay readable.
 */
async function removeRun(folder: OutputFolder, run: string): Promise<void> {
  const directory = join(folder.runs, run);
  const away = join(folder.staging, `.pruned-${run}`);
  await removeTree(away);
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return;
  await mkdir(folder.staging, { recursive: true, mode: 0o700 });
  // A folder that its owner cannot write to cannot be moved.
  await chmod(directory, 0o755);
  await rename(directory, away);
  await sync(folder.runs);
  await removeTree(away);
}

/** Pruned runs that had been rolled back or replaced. A target may still have one, and only this folder knows it. */
const prunedForm = z.array(
  z.object({ run: runIdentifier, sequence: z.number().int().positive(), sha256: z.string().optional() }),
);

/** Throws `verify.failed` if the file is damaged. */
export async function prunedRuns(folder: OutputFolder): Promise<readonly RunKey[]> {
  const text = await readFile(folder.pruned, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "[]";
    throw outputError(thrown, folder);
  });
  const { data } = prunedForm.safeParse(parseIfJson(text));
  if (data !== undefined) return data;
  throw new WarehouseError(
    "verify.failed",
    `${folder.pruned} is damaged, so it is unknown which runs were rolled back; remove it, and check with "content-warehouse runs show --section targets" that no target has one of them.`,
  );
}

/**
 * Records runs that are about to be removed, except those of the history. Forgets runs that are older than every run
 * left. Needs the lock.
 */
async function recordPruned(
  folder: OutputFolder,
  old: readonly RunKey[],
  { left, past }: { readonly left: readonly RunKey[]; readonly past: readonly RunKey[] },
): Promise<void> {
  const before = await prunedRuns(folder);
  const aside = [...before, ...old.filter((run) => !isAmong(run, [...past, ...before]))];
  const noted = aside.filter((run) => [...left, ...past].some((each) => !isLaterRun(each, run)));
  if (noted.length === before.length && noted.every((run) => before.includes(run))) return;
  const keys = noted.map(({ run, sequence, sha256 }) => ({ run, sequence, sha256 }));
  const unnamed = join(folder.root, ".pruned-runs");
  await writeFile(unnamed, `${JSON.stringify(keys)}\n`, { mode: 0o644 });
  await sync(unnamed);
  await rename(unnamed, folder.pruned);
  await sync(folder.root);
}
