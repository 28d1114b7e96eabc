import { mkdtempSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { asWarehouseError, codeOf, WarehouseError } from "./errors.ts";
import { printable } from "./printable.ts";

/**
 * Makes a folder in TMPDIR, for its owner alone; what killed processes left there is removed first. `purpose`: lower-case
 * letters, for people. Throws `config.output` where none can be made, and what a disk does.
 */
export async function makeTemporaryFolder(purpose: string): Promise<string> {
  await removeAbandoned();
  try {
    return mkdtempSync(join(tmpdir(), `content-warehouse-${purpose}-${process.pid}-${host()}-`));
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "internal") throw error;
    const why = codeOf(thrown) ?? error.message;
    throw new WarehouseError(
      "config.output",
      `No temporary folder can be made in ${printable(tmpdir(), 1000)} (${why}); set TMPDIR to a folder that you may write to.`,
      { cause: thrown },
    );
  }
}

/** Letters, digits and dots alone, so that the parts of a folder's name can be told apart. */
const host = (): string => hostname().replace(/[^A-Za-z0-9.]/g, "_");

/** `content-warehouse-sql-4711-host-Ab12Cd`: whose folder it is stands in its name. */
const OWNED = /^content-warehouse-[a-z]+-(\d+)-([A-Za-z0-9._]+)-\w{6}$/;

/** Folders of processes of this host that are no longer there; what is another user's, or cannot be removed, stays. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, pid, owner] = OWNED.exec(name) ?? [];
    if (pid === undefined || owner !== host() || isRunning(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    if (await isOwn(folder)) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The superuser could remove what is another's; a link could lead anywhere. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // It is there, and not ours.
    return codeOf(thrown) === "EPERM";
  }
}
