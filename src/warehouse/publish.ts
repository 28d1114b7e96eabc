import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, endMs } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { sealTree, sync, syncTree } from "../common/tree.ts";
import {
  currentRun,
  databaseOf,
  type OutputFolder,
  reasonOf,
  removeStaging,
  runsIn,
  type StagingFolder,
  stagingLeftovers,
} from "./layout.ts";
import { type Manifest, type ManifestDraft, readManifest, writeManifest } from "./manifest.ts";
import { pointCurrentAt } from "./run-folders.ts";
import { linkUnchanged, runBefore } from "./unchanged.ts";
import { examine, verifyResult } from "./verify.ts";
import { findingsOf } from "./verify-run.ts";

/**
 * Publishes a finished result, or throws with nothing changed that a reader can see; the staged files of one that failed
 * are for `discardStaging`. The database of the result is closed; the lock is held. The run has ended when it is proven.
 * A file that is as in the run before becomes a link to it.
 * Once this returns, the run survives a loss of power.
 */
export async function publishRun(
  folder: OutputFolder,
  staging: StagingFolder,
  stated: ManifestDraft,
  clock: Clock,
): Promise<Manifest> {
  const files = await verifyResult({
    result: staging.result,
    database: databaseOf(staging, stated.loaders.includes("duckdb")),
    temporaryDirectory: staging.temporary,
    stated,
  });
  const before = await runBefore(folder.runs, stated);
  if (before !== undefined) await linkUnchanged(staging.result, files, before);
  const endedAt = new Date(endMs(Date.parse(stated.startedAt), clock)).toISOString();
  const manifest = await writeManifest(staging.result, { ...stated, endedAt }, files);
  await makeVisible(folder, staging);
  return manifest;
}

/**
 * Publishes a copy of a run that was published elsewhere, as it was there. Throws `verify.failed` where it is not what
 * its manifest says, or another run; then nothing is changed that a reader can see.
 */
export async function publishCopy(folder: OutputFolder, staging: StagingFolder): Promise<Manifest> {
  const { result, temporary: temporaryDirectory, run } = staging;
  const manifest = await readManifest(result);
  const [first] = findingsOf(run, manifest, await examine({ result, temporaryDirectory, stated: manifest }));
  if (first !== undefined) {
    throw new WarehouseError(
      "verify.failed",
      `The copy of the run ${run} is not as it was published: ${first}; nothing was restored: restore another run.`,
    );
  }
  await makeVisible(folder, staging);
  return manifest;
}

/**
 * The order is the point: the proof, then the manifest as the last file; everything on the disk before the folder
 * takes its final name; read-only only after it has it, because a read-only folder cannot be moved; `current` last, by
 * rename, so that a reader sees the run before or this one. The staged files are the caller's to remove afterwards;
 * until then `finishPublication` knows the publication as under way.
 */
async function makeVisible(folder: OutputFolder, { run, root, result }: StagingFolder): Promise<void> {
  await syncTree(result);
  const published = join(folder.runs, run);
  await rename(result, published);
  try {
    await sync(folder.runs);
    await sync(root);
    await sealTree(published);
    await pointCurrentAt(folder, run);
  } catch (thrown) {
    throw (await isUnfinished(folder, run)) ? unfinished(folder, run, thrown) : thrown;
  }
}

/** Whether a run has its final name, and is still to be made current. */
async function isUnfinished(folder: OutputFolder, run: string): Promise<boolean> {
  if (!existsSync(join(folder.runs, run))) return false;
  return (await currentRun(folder).catch(() => undefined)) !== run;
}

function unfinished(folder: OutputFolder, run: string, thrown: unknown): WarehouseError {
  const { code, message } = asWarehouseError(thrown);
  const reason = code === "internal" ? reasonOf(thrown) : undefined;
  const why = reason === undefined ? message.replace(/\.?$/, ".") : `${reason} there; fix that.`;
  return new WarehouseError(
    reason === undefined ? code : "config.output",
    `The run ${run} is whole in ${folder.root}, but is not current yet: ${why} The next run makes it current first.`,
    { cause: thrown },
  );
}

/** Removes the staged files of a run that failed, but those by which `finishPublication` knows that it has to be finished. */
export async function discardStaging(folder: OutputFolder, run: string): Promise<void> {
  if (!(await isUnfinished(folder, run))) await removeStaging(folder, run);
}

/**
 * Finishes what a publication that was killed or failed left between giving the folder its final name and removing its staged files:
 * such a run is proven and on the disk, and only `current` may be missing. Returns the run, if there was one. Needs the lock, and comes before what is left of dead runs is
 * cleared away.
 */
export async function finishPublication(folder: OutputFolder): Promise<string | undefined> {
  const published = new Set((await runsIn(folder)).map(({ run }) => run));
  const interrupted = (await stagingLeftovers(folder)).filter(({ run }) => published.has(run));
  const newest = interrupted[0];
  if (newest !== undefined) {
    await sealTree(join(folder.runs, newest.run));
    // Whatever the number of the current one: a run that is restored need not be later. After a rollback nothing is staged.
    await pointCurrentAt(folder, newest.run);
  }
  for (const { run } of interrupted) await removeStaging(folder, run);
  return newest?.run;
}
