/** Finds files of the package. */
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** Absolute path of a file of the package, such as `packagePath("data/sample")`, from `src` and from `dist/src`. */
export function packagePath(relative: string): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error("There is no package.json above the program's own files.");
  return join(dirname(manifest), relative);
}
