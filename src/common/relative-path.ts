/** Paths that are read from a file: below a folder, also where a symbolic link is in the way. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { codeOf } from "./errors.ts";
import { printable } from "./printable.ts";

/** Whether a path has segments between slashes only, none of them empty, `.` or `..`, and no backslash or NUL. */
export function isRelativePath(path: string): boolean {
  return !/[\\\0]/.test(path) && path.split("/").every((segment) => !["", ".", ".."].includes(segment));
}

/** Form of a path in a file. `decode`: from how the file writes it. The message shows the path. */
export const relativePath = (decode = (written: string) => written) =>
  z.string().refine((written) => isRelativePath(decode(written)), {
    error: ({ input }) => `the path "${printable(String(input), 1000)}" leads out of its folder`,
  });

/**
 * The first symbolic link from a folder to a path below it, which need not exist; `undefined` if there is none. The folder
 * itself may be a link.
 */
export async function linkInTheWay(folder: string, path: string): Promise<string | undefined> {
  let file = folder;
  for (const segment of path.split("/").filter((each) => each !== "")) {
    file = join(file, segment);
    try {
      if ((await lstat(file)).isSymbolicLink()) return file;
    } catch (thrown) {
      if (["ENOENT", "ENOTDIR"].includes(codeOf(thrown) ?? "")) return undefined;
      throw thrown;
    }
  }
  return undefined;
}
