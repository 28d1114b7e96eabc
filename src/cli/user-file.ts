import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { asWarehouseError, codeOf, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { fileSize } from "../common/figures.ts";
import { printableText } from "../show/terminal.ts";
import type { OutputFolder } from "../warehouse/layout.ts";

/** `what`: what the message calls it. Throws `config.not_found`. */
export async function readInputFile(what: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = codeOf(cause) ?? String(cause);
    const message = `${what} ${file} cannot be read (${why}); name one that exists.`;
    throw new WarehouseError("config.not_found", message, { cause });
  }
}

/** A file that a person named, open to be written; what it had stays until then. */
export interface OutputFile extends AsyncDisposable {
  /**
   * Writes the whole file, once; returns a line for the screen: the file `what`. Throws `config.output` and the disk's
   * errors, and leaves a regular file as it was.
   */
  write(content: string | AsyncIterable<Uint8Array>, what: string): Promise<string>;
}

/**
 * Opens a file that a person named, so that what it is for need not be done where it cannot be written. Throws
 * `config.output` where it cannot be opened, and where it would lie among what a warehouse has published or staged:
 * nothing there is ever changed.
 */
export async function openOutputFile(file: string, { runs, staging }: OutputFolder): Promise<OutputFile> {
  const target = await realPlace(resolve(file));
  for (const folder of [runs, staging]) {
    if (isWithin(await realPlace(folder), target)) {
      throw new WarehouseError(
        "config.output",
        `The file ${file} would lie in ${folder}, where published runs are never changed; choose another.`,
      );
    }
  }
  const { handle, before, beside } = await opened(file, target).catch((cause: unknown) => {
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
      const replacing = (before?.size ?? 0) > 0 ? "; what was in the file before is replaced" : "";
      return printableText(`${resolve(file)} (${fileSize(bytes)}) ${what}${replacing}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      if (beside !== null) await rm(beside, { force: true });
    },
  };
}

/** What is written to, and what was there; `beside`: a file that is to take its place; null: it is the file itself. */
interface Opened {
  readonly handle: FileHandle;
  readonly before: Stats | undefined;
  readonly beside: string | null;
}

async function opened(file: string, target: string): Promise<Opened> {
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

/** Such as `/dev/stdout`, which others have open, whatever it is. */
function isOfProcess(file: string): boolean {
  return /^\/(?:dev|proc)\//.test(resolve(file));
}

/** Not a pipe or a device, nor a file whose owner, whose other names or whose folder would not have the new one. */
async function isReplaceable(target: string, before: Stats): Promise<boolean> {
  const user = process.geteuid?.();
  const isOwn = before.uid === user && process.getgroups?.().includes(before.gid) === true;
  if (!before.isFile() || before.nlink !== 1 || !(isOwn || user === 0)) return false;
  return access(dirname(target), constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Whoever reads the file has what it had or all that is new, with the owner and the rights that it had. */
async function putInPlace(
  handle: FileHandle,
  { beside, target, before }: { readonly beside: string; readonly target: string } & Pick<Opened, "before">,
): Promise<void> {
  if (before !== undefined) {
    await handle.chown(before.uid, before.gid);
    await handle.chmod(before.mode & 0o7777);
  }
  await handle.close();
  await rename(beside, target);
}

/** `config.output`, or the disk's error. */
export function notWritten(file: string, cause: unknown): WarehouseError {
  const error = asWarehouseError(cause);
  if (isOfTheDisk(error)) return error;
  const why = codeOf(cause) ?? String(cause);
  return new WarehouseError("config.output", `The file ${file} cannot be written (${why}); choose another.`, {
    cause,
  });
}

/** Where links lead to, as far as the path exists. What cannot be looked at is told where it is opened. */
async function realPlace(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || path === dirname(path)) return found ?? path;
  return join(await realPlace(dirname(path)), basename(path));
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way.startsWith("..") || way.startsWith("/"));
}
