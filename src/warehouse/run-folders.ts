/** Moves `current`, and removes runs. Both need the lock. */
import { lstatSync } from "node:fs";
import { chmod, mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { removeTree, sync } from "../common/tree.ts";
import { currentRun, type OutputFolder } from "./layout.ts";

/** Points `current` to a run in `runs/`, in one durable step. */
export async function pointCurrentAt(folder: OutputFolder, run: string): Promise<void> {
  if ((await currentRun(folder)) === run) return;
  const link = join(folder.root, `.current-${run}`);
  await rm(link, { force: true });
  await symlink(join("runs", run), link);
  await rename(link, folder.current);
  await sync(folder.root);
}

/**
 * Removes a run, even one that a killed process has half removed. The run leaves `runs/` in one step, so that no half
 * run is listed. Open files stay readable.
 */
export async function removeRun(folder: OutputFolder, run: string): Promise<void> {
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
