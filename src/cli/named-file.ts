import { constants } from "node:fs";
import { type FileHandle, open, readFile, realpath, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { fileSize } from "../common/figures.ts";
import { printableText } from "../show/terminal.ts";
import type { OutputFolder } from "../warehouse/layout.ts";

/** `what`: what the message calls it. Throws `config.not_found`. */
export async function readNamedFile(what: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = codeOf(cause) ?? String(cause);
    const message = `${what} ${file} cannot be read (${why}); name one that exists.`;
    throw new WarehouseError("config.not_found", message, { cause });
  }
}

/** A file that a person named, open to be written; what it had stays until then. */
export interface NamedFile extends AsyncDisposable {
  /** Writes the whole file, once; returns a line for the screen: the file `what`. Throws `config.output`. */
  write(content: string | AsyncIterable<Uint8Array>, what: string): Promise<string>;
}

/**
 * Opens a file that a person named, so that what it is for need not be done where it cannot be written; one that is new
 * and was never written is removed again. Throws `config.output` where it cannot be opened, and where it would lie among
 * what a warehouse has published or staged: nothing there is ever changed.
 */
export async function openNamedFile(file: string, { runs, staging }: OutputFolder): Promise<NamedFile> {
  const target = await realPlace(resolve(file));
  for (const folder of [runs, staging]) {
    if (isWithin(await realPlace(folder), target)) {
      throw new WarehouseError(
        "config.output",
        `The file ${file} would lie in ${folder}, where published runs are never changed; choose another.`,
      );
    }
  }
  const { handle, isNew } = await opened(target).catch((cause: unknown) => {
    throw notWritten(file, cause);
  });
  const before = await handle.stat();
  let isWritten = false;
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
        if (before.isFile()) await handle.truncate();
        await handle.writeFile(pieces());
      } catch (cause) {
        throw notWritten(file, cause);
      }
      isWritten = true;
      const replacing = before.size > 0 ? "; what was in the file before is replaced" : "";
      return printableText(`${resolve(file)} (${fileSize(bytes)}) ${what}${replacing}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      if (isNew && !isWritten) await rm(target, { force: true });
    },
  };
}

async function opened(target: string): Promise<{ handle: FileHandle; isNew: boolean }> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  try {
    return { handle: await open(target, O_WRONLY), isNew: false };
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") throw thrown;
    return { handle: await open(target, O_WRONLY | O_CREAT | O_EXCL), isNew: true };
  }
}

function notWritten(file: string, cause: unknown): WarehouseError {
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
