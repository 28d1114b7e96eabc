/** Files that a user names: reads one, or replaces one without leaving half of it. */
import { constants } from "node:fs";
import { access, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
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
   * Writes the whole file, once. Returns a line for the screen: path, size, then `what`. Throws `config.output`, errors of
   * the disk and those of `content`, and leaves a regular file as it was.
   */
  write(content: string | AsyncIterable<string | Uint8Array>, what: string): Promise<string>;
}

/**
 * Opens a file, which `option` names, before the work for it begins. A new file takes the place of a regular one, with its
 * owner and, without `mode`, its rights; what other programs have open, such as `/dev/stdout`, is written itself. Throws
 * `config.output` if it cannot be written, or would lie among published or staged runs, which never change.
 */
export async function openOutputFile(
  file: string,
  option: string,
  { runs, staging }: OutputFolder,
  mode?: number,
): Promise<OutputFile> {
  const target = await resolveLinks(resolve(file));
  for (const folder of [runs, staging]) {
    if (`${target}/`.startsWith(`${await resolveLinks(folder)}/`)) {
      throw new WarehouseError(
        "config.output",
        `The file ${file} would lie among the runs in ${folder}, which never change; name another with ${option}.`,
      );
    }
  }
  const before = await stat(target).catch(() => undefined);
  const isReplaced = before === undefined || (before.isFile() && !/^\/(?:dev|proc)\//.test(resolve(file)));
  const path = isReplaced ? `${target}.${process.pid}.tmp` : target;
  const opening = async () => {
    if (before !== undefined) await access(target, constants.W_OK);
    if (isReplaced) await rm(path, { force: true });
    return open(path, isReplaced ? "wx" : constants.O_WRONLY, mode);
  };
  const handle = await opening().catch((cause: unknown) => {
    throw notWritten(file, option, cause);
  });
  return {
    write: async (content, what) => {
      let bytes = 0;
      const pieces = async function* () {
        for await (const piece of typeof content === "string" ? [content] : content) {
          const written = Buffer.from(piece);
          bytes += written.length;
          yield written;
        }
      };
      try {
        if (!isReplaced && before.isFile()) await handle.truncate();
        await handle.writeFile(pieces());
        if (isReplaced && before !== undefined) {
          await handle.chown(before.uid, before.gid);
          await handle.chmod(mode ?? before.mode & 0o7777);
        }
        if (isReplaced) await rename(path, target);
      } catch (cause) {
        throw notWritten(file, option, cause);
      }
      const replacing = (before?.size ?? 0) > 0 ? "; the old content is replaced" : "";
      return printableText(`${resolve(file)} (${fileSize(bytes)}) ${what}${replacing}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      if (isReplaced) await rm(path, { force: true });
    },
  };
}

/** `config.output`, or the error of the disk or of what was to be written. */
function notWritten(file: string, option: string, cause: unknown): WarehouseError {
  const error = asWarehouseError(cause);
  if (isOfTheDisk(error) || error === cause) return error;
  const why = codeOf(cause) ?? String(cause);
  const sentence = `The file ${file} cannot be written (${why}); name another with ${option}.`;
  return new WarehouseError("config.output", sentence, { cause });
}

/** Resolves links, as far as the path exists and can be read. */
async function resolveLinks(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || path === dirname(path)) return found ?? path;
  return join(await resolveLinks(dirname(path)), basename(path));
}
