/** Publishes a staged run, and finishes publications that were interrupted. */
import { existsSync } from "node:fs";
import { link, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Clock, endMs } from "../common/clock.ts";
import { WarehouseError } from "../common/errors.ts";
import { linkInTheWay } from "../common/relative-path.ts";
import { sealTree, sync, syncTree } from "../common/tree.ts";
import {
  currentRun,
  databaseOf,
  type OutputFolder,
  outputError,
  pointCurrentAt,
  removeStaging,
  runsIn,
  type StagingFolder,
  stagingLeftovers,
} from "./layout.ts";
import {
  type Manifest,
  type ManifestDraft,
  type PublishedFile,
  readManifest,
  writeManifest,
} from "./manifest.ts";
import type { PublishedFiles } from "./published-tables.ts";
import { digestFile, examine, findingsOf } from "./verify.ts";

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
  const { files, unread, findings } = await examine({
    result: staging.result,
    database: databaseOf(staging, stated.loaders.includes("duckdb")),
    temporaryDirectory: staging.temporary,
    stated,
  });
  const [finding] = [...unread.map((each) => each.finding), ...findings];
  if (finding !== undefined)
    throw new WarehouseError(
      "verify.failed",
      `Verification failed: ${finding}; nothing was published, run again.`,
    );
  const before = await runBefore(folder.runs, stated);
  if (before !== undefined) await linkUnchanged(staging.result, files, before);
  const endedAt = new Date(endMs(Date.parse(stated.found.startedAt), clock)).toISOString();
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
  const { code, message } = outputError(thrown, folder);
  return new WarehouseError(
    code,
    `The run ${run} is whole in ${folder.root}, but is not current yet: ${message.replace(/\.?$/, ".")} The next run makes it current first.`,
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

/** Number and bytes of files that the run before has too. */
export function unchangedFiles(files: readonly PublishedFile[], before: readonly PublishedFile[]) {
  const known = new Set(before.map(({ sha256 }) => sha256));
  const same = files.filter(({ sha256 }) => known.has(sha256));
  return { files: same.length, bytes: same.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** The run before; `undefined` if there is none, it was removed, or its manifest cannot be read. */
export async function runBefore(
  runs: string,
  { previousRun }: Pick<Manifest, "previousRun">,
): Promise<(PublishedFiles & { readonly manifest: Manifest }) | undefined> {
  if (previousRun === null) return undefined;
  const directory = join(runs, previousRun);
  const manifest = await readManifest(directory).catch((thrown: unknown) => {
    if (thrown instanceof WarehouseError) return undefined;
    throw thrown;
  });
  return manifest && { directory, manifest };
}

/**
 * Replaces files of a result by links to equal files of the run before. Reads those files again, so that no damage
 * spreads. Files that cannot be linked stay.
 */
async function linkUnchanged(
  result: string,
  files: readonly PublishedFile[],
  before: PublishedFiles,
): Promise<void> {
  const known = new Map(before.manifest.files.map((file) => [file.sha256, file.path]));
  for (const { path, sha256 } of files) {
    const same = known.get(sha256);
    if (same === undefined) continue;
    const file = join(result, path);
    const linked = join(dirname(result), "linked.tmp");
    await rm(linked, { force: true });
    if ((await linkInTheWay(before.directory, same)) !== undefined) continue;
    if (!(await linkTo(join(before.directory, same), linked))) continue;
    if ((await digestFile(linked)).sha256 === sha256) await rename(linked, file);
    else await rm(linked);
  }
}

/** Makes a hard link. Returns false without links on the file system, without the file, or for a file of another user. */
async function linkTo(file: string, name: string): Promise<boolean> {
  try {
    if ((await stat(file)).uid !== process.geteuid?.()) return false;
    await link(file, name);
    return true;
  } catch {
    return false;
  }
}
