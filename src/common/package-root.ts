import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/**
 * The absolute path of something that the package brings with it, e.g. `packagePath("data/sample")`: relative to the
 * folder of the nearest `package.json`, so that it holds when running from `src` and from `dist/src`.
 */
export function packagePath(relative: string): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error("No package.json stands above the program's own files.");
  return join(dirname(manifest), relative);
}
