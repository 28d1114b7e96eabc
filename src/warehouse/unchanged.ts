/** Links files that are equal in the run before. */
import { link, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { type Manifest, type PublishedFile, readManifest } from "./manifest.ts";
import type { PublishedFiles } from "./published-tables.ts";
import { digestFile } from "./verify.ts";

export interface UnchangedFiles {
  readonly files: number;
  readonly bytes: number;
}

/** Number and bytes of files that the run before has too. */
export function unchangedFiles(
  files: readonly PublishedFile[],
  before: readonly PublishedFile[],
): UnchangedFiles {
  const known = new Set(before.map(({ sha256 }) => sha256));
  const same = files.filter(({ sha256 }) => known.has(sha256));
  return { files: same.length, bytes: same.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** The run before; `undefined` if there is none, it was removed, or its manifest cannot be read. */
export async function runBefore(
  runs: string,
  { previousRun }: Pick<Manifest, "previousRun">,
): Promise<PublishedFiles | undefined> {
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
export async function linkUnchanged(
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
