/** Publishes a staged run, and finishes publications that were interrupted. */
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
  pointCurrentAt,
  reasonOf,
  removeStaging,
  runsIn,
  type StagingFolder,
  stagingLeftovers,
} from "./layout.ts";
import { type Manifest, type ManifestDraft, readManifest, writeManifest } from "./manifest.ts";
import { linkUnchanged, runBefore } from "./unchanged.ts";
import { examine, verifyResult } from "./verify.ts";
import { findingsOf } from "./verify-run.ts";

/**
 * Publishes a finished result, or throws and changes nothing that readers see. Needs the lock and a closed database.
 * Files that are equal in the run before become links to them. A published run survives a loss of power.
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
 * Publishes a copy of a run that was published elsewhere. Throws `verify.failed` if it differs from its manifest, and
 * then changes nothing that readers see.
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
 * Order matters. Everything is on the disk before the folder takes its final name. It becomes read-only afterwards,
 * because a read-only folder cannot be moved. `current` moves last, by rename. Until the caller removes the staged
 * files, `finishPublication` takes the publication for unfinished.
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
    throw (await isUnfinished(folder, run)) ? unfinishedError(folder, run, thrown) : thrown;
  }
}

/** Whether a run has its final name but is not current yet. */
async function isUnfinished(folder: OutputFolder, run: string): Promise<boolean> {
  if (!existsSync(join(folder.runs, run))) return false;
  return (await currentRun(folder).catch(() => undefined)) !== run;
}

function unfinishedError(folder: OutputFolder, run: string, thrown: unknown): WarehouseError {
  const { code, message } = asWarehouseError(thrown);
  const reason = code === "internal" ? reasonOf(thrown) : undefined;
  const why = reason === undefined ? message.replace(/\.?$/, ".") : `${reason} there; fix that.`;
  return new WarehouseError(
    reason === undefined ? code : "config.output",
    `The run ${run} is whole in ${folder.root}, but is not current yet: ${why} The next run makes it current first.`,
    { cause: thrown },
  );
}

/** Removes the staged files of a failed run, unless `finishPublication` needs them. */
export async function discardStaging(folder: OutputFolder, run: string): Promise<void> {
  if (!(await isUnfinished(folder, run))) await removeStaging(folder, run);
}

/**
 * Finishes a publication that was killed or failed after the folder got its final name: the run is verified and on
 * the disk, and only `current` may be missing. Returns the run, if there is one. Needs the lock, before leftovers are
 * removed.
 */
export async function finishPublication(folder: OutputFolder): Promise<string | undefined> {
  const published = new Set((await runsIn(folder)).map(({ run }) => run));
  const interrupted = (await stagingLeftovers(folder)).filter(({ run }) => published.has(run));
  const newest = interrupted[0];
  if (newest !== undefined) {
    await sealTree(join(folder.runs, newest.run));
    // A restored run need not be later than the current one. A rollback leaves nothing staged.
    await pointCurrentAt(folder, newest.run);
  }
  for (const { run } of interrupted) await removeStaging(folder, run);
  return newest?.run;
}
