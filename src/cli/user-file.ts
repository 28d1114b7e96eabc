/** Files that a user names: reads one, or replaces one without leaving half of it. */
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { asWarehouseError, codeOf, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { fileSize } from "../common/figures.ts";
import { printableText } from "../show/terminal.ts";
import type { OutputFolder } from "../warehouse/layout.ts";

/** Reads a file, which messages call `what`. Throws `config.not_found`. */
export async function readInputFile(what: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = codeOf(cause) ?? String(cause);
    const message = `${what} ${file} cannot be read (${why}); name one that exists.`;
    throw new WarehouseError("config.not_found", message, { cause });
  }
}

/** A file that can be written. Its old content stays until then. */
interface OutputFile extends AsyncDisposable {
  /**
   * Writes the whole file, once. Returns a line for the screen: path, size, then `what`. Throws `config.output` and errors
   * of the disk, and leaves a regular file as it was.
   */
  write(content: string | AsyncIterable<Uint8Array>, what: string): Promise<string>;
}

/**
 * Opens a file before the work for it begins. Throws `config.output` if it cannot be written, or would lie among published
 * or staged runs, which never change.
 */
export async function openOutputFile(file: string, { runs, staging }: OutputFolder): Promise<OutputFile> {
  const target = await resolveLinks(resolve(file));
  for (const folder of [runs, staging]) {
    if (isWithin(await resolveLinks(folder), target)) {
      throw new WarehouseError(
        "config.output",
        `The file ${file} would lie among the runs in ${folder}, which never change; choose another.`,
      );
    }
  }
  const { handle, before, beside } = await openTarget(file, target).catch((cause: unknown) => {
    throw notWritten(file, cause);
  });
  return {
    write: async (content, what) => {
      let bytes = 0;
      const pieces = async function* () {
        for await (const piece of typeof content === "string" ? [Buffer.from(content)] : content) {
          bytes += piece.length;
          yield piece;
        }
      };
      try {
        if (beside === null && before?.isFile() === true) await handle.truncate();
        await handle.writeFile(pieces());
        if (beside !== null) await putInPlace(handle, { beside, target, before });
      } catch (cause) {
        throw notWritten(file, cause);
      }
      const replacing = (before?.size ?? 0) > 0 ? "; the old content is replaced" : "";
      return printableText(`${resolve(file)} (${fileSize(bytes)}) ${what}${replacing}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      if (beside !== null) await rm(beside, { force: true });
    },
  };
}

/**
 * Opens the file to write. `before`: the file that is there. `beside`: path of a new file that will replace it; `null` if
 * the file itself is written.
 */
async function openTarget(
  file: string,
  target: string,
): Promise<{
  readonly handle: FileHandle;
  readonly before: Stats | undefined;
  readonly beside: string | null;
}> {
  const itself = await open(target, constants.O_WRONLY).catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  const before = await itself?.stat();
  if (itself !== undefined && before !== undefined) {
    if (isOfProcess(file) || !(await isReplaceable(target, before)))
      return { handle: itself, before, beside: null };
    await itself.close();
  }
  const beside = `${target}.${process.pid}.tmp`;
  await rm(beside, { force: true });
  return { handle: await open(beside, "wx"), before, beside };
}

/** Whether a path is one like `/dev/stdout`, which other programs have open. */
function isOfProcess(file: string): boolean {
  return /^\/(?:dev|proc)\//.test(resolve(file));
}

/** Whether a new file can take the place: not of a pipe or device, another user's file, or one with several names. */
async function isReplaceable(target: string, before: Stats): Promise<boolean> {
  const user = process.geteuid?.();
  const isOwn = before.uid === user && process.getgroups?.().includes(before.gid) === true;
  if (!before.isFile() || before.nlink !== 1 || !(isOwn || user === 0)) return false;
  return access(dirname(target), constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Replaces the file in one step; owner and rights stay. */
async function putInPlace(
  handle: FileHandle,
  {
    beside,
    target,
    before,
  }: { readonly beside: string; readonly target: string } & {
    readonly before: Stats | undefined;
  },
): Promise<void> {
  if (before !== undefined) {
    await handle.chown(before.uid, before.gid);
    await handle.chmod(before.mode & 0o7777);
  }
  await handle.close();
  await rename(beside, target);
}

/** `config.output`, or the error of the disk. */
function notWritten(file: string, cause: unknown): WarehouseError {
  const error = asWarehouseError(cause);
  if (isOfTheDisk(error)) return error;
  const why = codeOf(cause) ?? String(cause);
  return new WarehouseError("config.output", `The file ${file} cannot be written (${why}); choose another.`, {
    cause,
  });
}

/** Resolves links, as far as the path exists and can be read. */
async function resolveLinks(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || path === dirname(path)) return found ?? path;
  return join(await resolveLinks(dirname(path)), basename(path));
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way.startsWith("..") || way.startsWith("/"));
}
