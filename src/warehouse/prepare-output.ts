/** Makes the folders of a warehouse, and proves that a run can be published there. */
import { existsSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, rmdir, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { assertUsableFolder } from "../storage/duckdb.ts";
import { currentRun, type OutputFolder, outputError, outputFolder } from "./layout.ts";

export interface PreparedOutput extends OutputFolder {
  /** Folders that were made, and the lock file to be made, parents first. */
  readonly made: readonly string[];
}

/**
 * Makes the output folder, and proves that a run can be published there: folders can be made, moved from staging to
 * runs, and linked to. Needs no lock. Throws `config.output`, and then leaves nothing behind.
 */
export async function prepareOutput(out: string): Promise<PreparedOutput> {
  const folder = outputFolder(out);
  assertUsableFolder(folder.root);
  const made: string[] = [];
  try {
    await makeFolder(folder.root, made);
    await currentRun(folder);
    if (!existsSync(folder.lock)) made.push(folder.lock);
    await makeFolder(folder.runs, made);
    await makeFolder(folder.staging, made);
    assertFoldersApart(folder);
    await chmod(folder.staging, 0o700);
    await provePublishing(folder);
  } catch (thrown) {
    await discardMade({ made, lock: folder.lock }, { isLocked: false });
    throw outputError(thrown, folder);
  }
  return { ...folder, made };
}

/**
 * Removes what was made for a run that published nothing, up to the first folder that is not empty. Without the lock, another
 * run may use the lock file. With it the file goes too, because `acquireLock` checks that its file still exists.
 */
export async function discardMade(
  { made, lock }: Pick<PreparedOutput, "made" | "lock">,
  { isLocked }: { readonly isLocked: boolean },
): Promise<void> {
  for (const path of made.toReversed()) {
    try {
      if (path !== lock) await rmdir(path);
      else if (isLocked) await rm(path, { force: true });
    } catch {
      // A failure to tidy up does not hide why the run failed.
      return;
    }
  }
}

/** Makes a folder and its parents; adds those that are new to `made`. */
async function makeFolder(path: string, made: string[]): Promise<void> {
  try {
    await mkdir(path);
    made.push(path);
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw thrown;
    await makeFolder(dirname(path), made);
    await makeFolder(path, made);
  }
}

/** Tries again if a run removed the probe as debris. */
async function provePublishing(folder: OutputFolder, attempts = 3): Promise<void> {
  const staged = await mkdtemp(join(folder.staging, ".probe-"));
  const moved = join(folder.runs, basename(staged));
  const link = join(folder.root, basename(staged));
  try {
    await rename(staged, moved);
    await symlink(join("runs", basename(moved)), link);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT" || attempts === 1) throw thrown;
    await provePublishing(folder, attempts - 1);
  } finally {
    for (const path of [staged, moved, link]) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Throws `config.output` if two folders of a warehouse are the same: cleaning `.staging` would remove published runs.
 */
export function assertFoldersApart({ root, runs, staging }: OutputFolder): void {
  const seen = new Map<string, string>();
  for (const path of [root, runs, staging]) {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) continue;
    const identity = `${found.dev}:${found.ino}`;
    const other = seen.get(identity);
    if (other !== undefined) {
      const first = other === root ? root : `${basename(other)} in ${root}`;
      throw new WarehouseError(
        "config.output",
        `${first} and ${basename(path)} are the same folder (by a link or a mount); use two folders, or name another folder with --warehouse.`,
      );
    }
    seen.set(identity, path);
  }
}
