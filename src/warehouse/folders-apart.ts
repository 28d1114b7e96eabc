/** Whether the folders of a warehouse are folders of their own: links and mounts can make one of two. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { WarehouseError } from "../common/errors.ts";

/**
 * What lies in `.staging` and is not the run under way is removed: published runs would go with it. A folder that is not
 * there yet is nobody else's. Throws `config.output`.
 */
export function assertFoldersApart(folder: Readonly<Record<"root" | "runs" | "staging", string>>): void {
  const { root, runs, staging } = folder;
  const seen = new Map<string, string>();
  for (const path of [root, runs, staging]) {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) continue;
    const identity = `${found.dev}:${found.ino}`;
    const other = seen.get(identity);
    if (other !== undefined) {
      const first = other === root ? root : `${basename(other)} in ${root}`;
      throw new WarehouseError(
        "config.output",
        `${first} and ${basename(path)} are one folder, by a link or a mount; make them two, or name another folder with --warehouse.`,
      );
    }
    seen.set(identity, path);
  }
}
