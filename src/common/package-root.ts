import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The absolute path of something that the package brings with it, e.g. `packagePath("data/sample")`: relative to the
 * folder of the nearest `package.json`, so that it holds when running from `src` and from `dist/src`.
 */
export function packagePath(relative: string): string {
  return join(packageRoot(dirname(fileURLToPath(import.meta.url))), relative);
}

function packageRoot(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error("No package.json stands above the program's own files.");
  return packageRoot(parent);
}
