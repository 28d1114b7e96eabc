import { existsSync, statSync } from "node:fs";
import { link, mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { duckdbError } from "../storage/duckdb.ts";
import { assertFoldersApart } from "./folders-apart.ts";
import { type OutputFolder, outputError } from "./layout.ts";

/**
 * One run at a time per output folder.
 *
 * The lock is DuckDB's own on an empty database that is open for writing during the whole run: the kernel frees it
 * when the process dies, however it dies, so there is never a lock file to delete. The system gives such locks per
 * process, and takes them away when any handle on the file is closed: hence the second, in-process guard, and nobody
 * may open the lock file by other means.
 */
const heldHere = new Set<string>();

/** Takes the lock of a prepared folder at once, or throws `run.locked`. It is free again once it is disposed of. */
export async function acquireLock(folder: OutputFolder): Promise<AsyncDisposable> {
  const key = await realpath(folder.root).catch((thrown: unknown) => {
    throw outputError(thrown, folder);
  });
  assertFoldersApart(folder);
  if (heldHere.has(key)) throw locked(folder, undefined);
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

/** More often than this a lock file does not go away by the doing of runs that fail. */
const MAX_OPENED = 5;

/**
 * A run that failed in a new folder takes its lock file away: a lock on that file is worth nothing, for the next run
 * makes another. So the file that was locked must be the one that stands there; looking at it opens no handle.
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
    if (opened === MAX_OPENED) throw locked(folder, undefined);
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Makes the lock file complete or not at all, so that a process killed on the way leaves nothing that DuckDB cannot
 * open. Where the file system has no hard links, DuckDB makes the file itself.
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
  if (held !== null) return locked(folder, held[1], thrown);
  const reason = message.split("\n", 1)[0];
  const wayOut = /permission denied/i.test(message)
    ? "run as the user whom the warehouse belongs to"
    : "it is none that a run has made: remove it if no run is under way";
  return new WarehouseError(
    "config.output",
    `The lock ${folder.lock} cannot be taken (${reason}); ${wayOut}.`,
    { cause: thrown },
  );
}

function locked(folder: OutputFolder, holder: string | undefined, cause?: unknown): WarehouseError {
  const who = holder === undefined ? "" : ` (process ${holder})`;
  return new WarehouseError(
    "run.locked",
    `Another run is under way in ${folder.root}${who}; wait until it ends, or name another folder with --warehouse.`,
    { cause },
  );
}
