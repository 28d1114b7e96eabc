/** Checks that links or mounts do not make one folder of two. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { WarehouseError } from "../common/errors.ts";

/**
 * Throws `config.output` if two folders of a warehouse are the same: cleaning `.staging` would remove published runs.
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
        `${first} and ${basename(path)} are the same folder (by a link or a mount); use two folders, or name another folder with --warehouse.`,
      );
    }
    seen.set(identity, path);
  }
}
