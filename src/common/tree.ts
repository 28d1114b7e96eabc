import { type Dirent, lstatSync } from "node:fs";
import { chmod, link, open, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, WarehouseError } from "./errors.ts";

/** Gets what a tree cannot be read at: the path of it, and why. */
export type OnUnreadable = (path: string, thrown: unknown) => void;

/**
 * Absolute paths of the files and folders below a folder, in the order of the names; of `folders`, each comes after what
 * is in it, and the folder itself last. Throws at a folder that cannot be listed, and at anything but
 * files and folders (`verify.failed`), unless `refused` takes it: then the rest is read.
 */
export async function readTree(
  root: string,
  refused: OnUnreadable = rethrow,
): Promise<Readonly<Record<"files" | "folders", readonly string[]>>> {
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of await entriesOf(root, refused)) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) {
      const below = await readTree(path, refused);
      files.push(...below.files);
      folders.push(...below.folders);
    } else if (entry.isFile()) files.push(path);
    else {
      const sentence = `${path} is neither a file nor a folder, so it is not published.`;
      refused(path, new WarehouseError("verify.failed", sentence));
    }
  }
  return { files, folders: [...folders, root] };
}

function rethrow(_path: string, thrown: unknown): never {
  throw thrown;
}

async function entriesOf(folder: string, refused: OnUnreadable): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    refused(folder, thrown);
    return [];
  }
}

/** Brings a file's or folder's content to the disk; an error of the disk is thrown, and never tried again. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } catch (thrown) {
    // Even a full disk: what was written before may be lost by now, so nobody may go on from it.
    if (codeOf(thrown) !== "ENOSPC" && codeOf(thrown) !== "EDQUOT") throw thrown;
    throw new WarehouseError("disk.io", `The disk has no room for ${path}; free space.`, { cause: thrown });
  } finally {
    await handle.close();
  }
}

/** Writes a file in one step and for good. `unnamed`: where it is made, in the same folder. */
export async function replaceFile(
  file: string,
  text: string,
  { unnamed, mode }: { readonly unnamed: string; readonly mode: number },
): Promise<void> {
  await writeFile(unnamed, text, { mode });
  await sync(unnamed);
  await rename(unnamed, file);
  await sync(dirname(file));
}

/** Files at the same time: waits for the disk come together, and one journal entry serves several. */
const FILES_AT_ONCE = 16;

async function forEach(paths: readonly string[], act: (path: string) => Promise<void>): Promise<void> {
  for (let first = 0; first < paths.length; first += FILES_AT_ONCE) {
    await Promise.all(paths.slice(first, first + FILES_AT_ONCE).map(act));
  }
}

/** Brings a tree to the disk: the files, then the folders from the bottom up. */
export async function syncTree(root: string): Promise<void> {
  const { files, folders } = await readTree(root);
  await forEach(files, sync);
  for (const path of folders) await sync(path);
}

/**
 * Gives a file another name. False, and nothing is done: the file system has no links, the file is gone, or it is
 * another user's, who alone may seal it.
 */
export async function linkTo(file: string, name: string): Promise<boolean> {
  try {
    if ((await stat(file)).uid !== process.geteuid?.()) return false;
    await link(file, name);
    return true;
  } catch {
    return false;
  }
}

/** Makes a tree read-only for everybody: files 0444, folders 0555. Repeatable. */
export async function sealTree(root: string): Promise<void> {
  const { files, folders } = await readTree(root);
  await forEach(files, (path) => chmod(path, 0o444));
  for (const path of folders) await chmod(path, 0o555);
}

/** Removes a tree, read-only or not, or a single file; what is not there is no error. */
export async function removeTree(path: string): Promise<void> {
  await openUp(path);
  await rm(path, { recursive: true, force: true });
}

/** Removes all that is below a folder but the files that are `kept`, which are absolute paths, and their folders. */
export async function removeAllBut(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (kept.has(path)) continue;
    if (!entry.isDirectory()) {
      await rm(path);
      continue;
    }
    await removeAllBut(path, kept);
    if ((await readdir(path)).length === 0) await rmdir(path);
  }
}

/** Gives the owner leave to remove what is in the folders. */
async function openUp(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(path, entry.name));
  }
}
