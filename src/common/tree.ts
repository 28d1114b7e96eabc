/** Reads, syncs, seals and removes trees of files. */
import { type Dirent, lstatSync } from "node:fs";
import { chmod, lstat, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, WarehouseError } from "./errors.ts";

/** Called for each path that cannot be read. */
type UnreadableHandler = (path: string, thrown: unknown) => void;

/**
 * Absolute paths of files and folders below a folder, ordered by name; a folder comes after its content, and `root` last.
 * Calls `refused`, which throws by default, for unreadable folders and for anything but files and folders
 * (`verify.failed`).
 */
export async function readTree(
  root: string,
  refused: UnreadableHandler = rethrow,
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
    else refused(path, unpublished(path));
  }
  return { files, folders: [...folders, root] };
}

function unpublished(path: string): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `${path} is neither a file nor a folder, so it is not published.`,
  );
}

function rethrow(_path: string, thrown: unknown): never {
  throw thrown;
}

async function entriesOf(folder: string, refused: UnreadableHandler): Promise<Dirent[]> {
  try {
    if ((await lstat(folder)).isSymbolicLink()) throw unpublished(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    refused(folder, thrown);
    return [];
  }
}

/** Writes a file or folder through to the disk. Errors are final: a second attempt could hide lost data. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } catch (thrown) {
    // On a full disk too, earlier writes may be lost, so the code is not `disk.full`, which a run can resume from.
    if (codeOf(thrown) !== "ENOSPC" && codeOf(thrown) !== "EDQUOT") throw thrown;
    throw new WarehouseError("disk.io", `The disk is full and cannot keep ${path}; free space.`, {
      cause: thrown,
    });
  } finally {
    await handle.close();
  }
}

/** Files handled at the same time, so that one journal entry of the disk serves several. */
const CONCURRENT_FILES = 16;

async function forEach(paths: readonly string[], act: (path: string) => Promise<void>): Promise<void> {
  for (let first = 0; first < paths.length; first += CONCURRENT_FILES) {
    await Promise.all(paths.slice(first, first + CONCURRENT_FILES).map(act));
  }
}

/** Syncs a tree: files first, then folders from the bottom up. */
export async function syncTree(root: string): Promise<void> {
  const { files, folders } = await readTree(root);
  await forEach(files, sync);
  for (const path of folders) await sync(path);
}

/** Makes a tree read-only for everybody: files 0444, folders 0555. Can be repeated. */
export async function sealTree(root: string): Promise<void> {
  const { files, folders } = await readTree(root);
  await forEach(files, (path) => chmod(path, 0o444));
  for (const path of folders) await chmod(path, 0o555);
}

/** Removes a tree or file, read-only or not, if it exists. */
export async function removeTree(path: string): Promise<void> {
  await openUp(path);
  await rm(path, { recursive: true, force: true });
}

/** Makes folders writable, so that their content can be removed. */
async function openUp(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(path, entry.name));
  }
}
