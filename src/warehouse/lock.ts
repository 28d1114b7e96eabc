/** Makes the folders of a warehouse, proves that a run can be published there, and locks them for one run at a time. */
import { existsSync, statSync } from "node:fs";
import { chmod, link, mkdir, mkdtemp, realpath, rename, rm, rmdir, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { duckdbError, firstLine } from "../storage/duckdb-error.ts";
import { exactPattern } from "../storage/sql-text.ts";
import { currentRun, type OutputFolder, outputError, outputFolder, ownerOf } from "./layout.ts";

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
function assertFoldersApart({ root, runs, staging }: OutputFolder): void {
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

/**
 * Throws `config.output` for a folder in which DuckDB cannot work. It takes a `?` for the beginning of a URL's query and
 * writes its log elsewhere; see also `exactPattern`.
 */
function assertUsableFolder(folder: string): void {
  exactPattern(folder);
  if (!folder.includes("?")) return;
  throw new WarehouseError(
    "config.output",
    `The path ${folder} contains a question mark, which the database engine does not support; name another with --warehouse.`,
  );
}

/**
 * Allows one run at a time in an output folder. The lock is DuckDB's own lock on an empty database that stays open
 * for writing; the kernel frees it when the process dies. Such locks belong to a process and are lost when any handle
 * of the file is closed. So a second guard works within the process, and nothing else may open the lock file.
 */
const heldHere = new Set<string>();

/**
 * Takes the lock of a prepared folder. Throws `run.locked` if it is held. Disposing of the result frees it.
 */
export async function acquireLock(folder: OutputFolder): Promise<AsyncDisposable> {
  const key = await realpath(folder.root).catch((thrown: unknown) => {
    throw outputError(thrown, folder);
  });
  assertFoldersApart(folder);
  if (heldHere.has(key)) throw lockedError(folder, undefined);
  heldHere.add(key);
  try {
    let instance: DuckDBInstance | undefined = await openLock(folder);
    const release = async () => {
      if (instance === undefined) return;
      instance.closeSync();
      instance = undefined;
      heldHere.delete(key);
    };
    return { [Symbol.asyncDispose]: release };
  } catch (thrown) {
    heldHere.delete(key);
    throw thrown;
  }
}

const SETTINGS = { threads: "1", memory_limit: "16MB" };

/** Number of times that another failing run may remove the lock file. */
const MAX_OPENED = 5;

/**
 * Opens the lock file. A failing run removes it, and then a lock on it is worth nothing, so the locked file must be
 * the one on disk. Reading its inode opens no handle.
 */
async function openLock(folder: OutputFolder): Promise<DuckDBInstance> {
  for (let opened = 1; ; opened++) {
    await createLockFile(folder);
    const before = inodeOf(folder.lock);
    const instance = await DuckDBInstance.create(folder.lock, SETTINGS).catch((thrown: unknown) => {
      throw lockError(thrown, folder);
    });
    if (before !== undefined && inodeOf(folder.lock) === before) return instance;
    instance.closeSync();
    if (opened === MAX_OPENED) throw lockedError(folder, undefined);
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Makes the lock file in one step, so that a kill leaves no file that DuckDB cannot open. If the file system has no
 * hard links, DuckDB makes it.
 */
async function createLockFile(folder: OutputFolder): Promise<void> {
  if (existsSync(folder.lock)) return;
  try {
    const place = await mkdtemp(join(folder.root, ".lock-"));
    try {
      const file = join(place, "lock.duckdb");
      const database = await DuckDBInstance.create(file, SETTINGS).catch((thrown: unknown) => {
        throw duckdbError(thrown);
      });
      database.closeSync();
      await link(file, folder.lock);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  } catch (thrown) {
    const hasNoHardLinks = thrown instanceof Error && "syscall" in thrown && thrown.syscall === "link";
    if (!existsSync(folder.lock) && !hasNoHardLinks) throw outputError(thrown, folder);
  }
}

const HELD = /Could not set lock on file.*Conflicting lock is held(?: in .*?\(PID (\d+)\))?/s;

function lockError(thrown: unknown, folder: OutputFolder): WarehouseError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const held = HELD.exec(message);
  if (held !== null) return lockedError(folder, held[1], thrown);
  const owner = existsSync(folder.lock) ? ownerOf(folder.lock) : null;
  const belongs = owner === null ? "" : `, which belongs to ${owner},`;
  return new WarehouseError(
    "config.output",
    `The lock ${folder.lock}${belongs} cannot be acquired (${firstLine(thrown)}); run as the owner of the warehouse, or remove it if no run is under way.`,
    { cause: thrown },
  );
}

function lockedError(folder: OutputFolder, holder: string | undefined, cause?: unknown): WarehouseError {
  const who = holder === undefined ? "" : ` (process ${holder})`;
  return new WarehouseError(
    "run.locked",
    `Another run is under way in ${folder.root}${who}; wait until it ends, or name another folder with --warehouse.`,
    { cause },
  );
}
