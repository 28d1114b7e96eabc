/** Makes temporary folders, and removes those that killed processes left. */
import { mkdtempSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { asWarehouseError, codeOf, WarehouseError } from "./errors.ts";
import { printable } from "./printable.ts";

/**
 * Runs `use` with a folder in TMPDIR that only its owner can read, and removes it. `purpose`: lower-case letters for its
 * name. Throws `config.output`, and errors of the disk.
 */
export async function inTemporaryFolder<T>(purpose: string, use: (folder: string) => Promise<T>): Promise<T> {
  await removeAbandoned();
  const folder = makeFolder(purpose);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function makeFolder(purpose: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `content-warehouse-${purpose}-${process.pid}-${host()}-`));
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "internal") throw error;
    const why = codeOf(thrown) ?? error.message;
    throw new WarehouseError(
      "config.output",
      `No temporary folder can be made in ${printable(tmpdir(), 1000)} (${why}); set TMPDIR to a folder that you can write to.`,
      { cause: thrown },
    );
  }
}

/** Host name without characters that separate the parts of a folder name. */
const host = (): string => hostname().replace(/[^A-Za-z0-9.]/g, "_");

/** Matches `content-warehouse-sql-4711-host-Ab12Cd`, with the process and host that made the folder. */
const OWNED = /^content-warehouse-[a-z]+-(\d+)-([A-Za-z0-9._]+)-\w{6}$/;

/** Removes folders of ended processes of this host and user, if possible. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, pid, owner] = OWNED.exec(name) ?? [];
    if (pid === undefined || owner !== host() || isRunning(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    if (await isOwn(folder)) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Whether it is a folder of this user and not a link. Root could remove the folders of others. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: the process exists, but belongs to another user.
    return codeOf(thrown) === "EPERM";
  }
}
