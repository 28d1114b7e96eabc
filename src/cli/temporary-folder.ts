import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../errors.ts";
import { printable } from "../printable.ts";

/** What kill(2) may answer for a process that is there. */
const NOT_OURS = "EPERM";

/**
 * Makes a folder for what a command needs while it works, and removes it afterwards, also on SIGINT and SIGTERM, which
 * end the process. What killed commands left is removed first. Throws `config.output` where none can be made, and
 * `disk.io` where the disk refuses one.
 */
export async function withTemporaryFolder<T>(
  purpose: string,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  await removeAbandoned();
  const made: { directory?: string } = {};
  // Before there is a folder: else a signal could come between the two.
  using _removal = removeOnSignal(made);
  const directory = temporaryFolder(purpose);
  made.directory = directory;
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Ends the process, because the question under way has no other end. The exit codes are those of a run. */
function removeOnSignal(made: { readonly directory?: string }): Disposable {
  const endWith = (code: number) => () => {
    if (made.directory !== undefined) {
      rmSync(made.directory, { recursive: true, force: true, maxRetries: 3 });
    }
    process.exit(code);
  };
  const [interrupt, terminate] = [endWith(130), endWith(143)];
  process.once("SIGINT", interrupt).once("SIGTERM", terminate);
  return {
    [Symbol.dispose]: () => {
      process.off("SIGINT", interrupt).off("SIGTERM", terminate);
    },
  };
}

/** Letters, digits and dots alone, so that the parts of a folder's name can be told apart. */
const host = (): string => hostname().replace(/[^A-Za-z0-9.]/g, "_");

/** `content-warehouse-sql-4711-host-Ab12Cd`: whose folder it is stands in its name. */
const OWNED = /^content-warehouse-[a-z]+-(\d+)-([A-Za-z0-9._]+)-\w{6}$/;

/** Folders of commands of this host that are no longer there; what is another user's, or cannot be removed, stays. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, pid, owner] = OWNED.exec(name) ?? [];
    if (pid === undefined || owner !== host() || isRunning(Number(pid))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === NOT_OURS;
  }
}

function temporaryFolder(purpose: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `content-warehouse-${purpose}-${process.pid}-${host()}-`));
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "internal") throw error;
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : error.message;
    throw new WarehouseError(
      "config.output",
      `No temporary folder can be made in ${printable(tmpdir(), 1000)} (${why}); set TMPDIR to a folder that you may write to.`,
      { cause: thrown },
    );
  }
}
