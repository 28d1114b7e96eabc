import { realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { WarehouseError } from "../errors.ts";
import type { OutputFolder } from "../run/directory.ts";

/**
 * Writes a file that a person named. Throws `config.output` where it cannot be written, and where it would lie among
 * what a warehouse has published or staged: nothing there is ever changed.
 */
export async function writeNamedFile(
  file: string,
  text: string,
  { runs, staging }: OutputFolder,
): Promise<void> {
  const target = await realPlace(resolve(file));
  for (const folder of [runs, staging]) {
    if (isWithin(await realPlace(folder), target)) {
      throw new WarehouseError(
        "config.output",
        `The file ${file} would lie in ${folder}, where published runs are never changed; choose another.`,
      );
    }
  }
  try {
    await writeFile(target, text);
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new WarehouseError(
      "config.output",
      `The file ${file} cannot be written (${why}); choose another.`,
      {
        cause,
      },
    );
  }
}

/** Where links lead to, as far as the path exists. */
async function realPlace(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || path === dirname(path)) return found ?? path;
  return join(await realPlace(dirname(path)), basename(path));
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way.startsWith("..") || way.startsWith("/"));
}
