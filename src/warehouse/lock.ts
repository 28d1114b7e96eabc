/** Locks a warehouse folder for one run at a time. */
import { existsSync, statSync } from "node:fs";
import { link, mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { duckdbError } from "../storage/duckdb-error.ts";
import { type OutputFolder, outputError } from "./layout.ts";
import { assertFoldersApart } from "./prepare-output.ts";

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
  const [reason] = message.split("\n", 1);
  return new WarehouseError(
    "config.output",
    `The lock ${folder.lock} cannot be acquired (${reason}); run as the owner of the warehouse, or remove it if no run is under way.`,
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
