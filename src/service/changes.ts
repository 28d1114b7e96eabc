/**
 * Applies changes to a content set: a folder with changed and new lines in files of the same names, and `removed.ndjson`
 * with removed ones: `{"file": "content.ndjson", "id": "..."}`.
 */
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parsedLines } from "./load.ts";

const REMOVED = "removed.ndjson";
const identified = z.object({ id: z.string() });
const removal = z.object({ file: z.string(), id: z.string() });

/**
 * Writes the changed content set into a new folder. Changed lines keep their position; new ones come last. Throws
 * `config.content_set` for the removal of a missing line, or a line that cannot be read.
 */
export async function applyChanges(set: string, changes: string, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const changed = await readdir(changes);
  const removed = changed.includes(REMOVED) ? await parsedLines(changes, REMOVED, removal) : [];
  for (const name of await readdir(set)) {
    const gone = removed.filter(({ value }) => value.file === name).map(({ value }) => value.id);
    if (!changed.includes(name) && gone.length === 0) {
      await copyFile(join(set, name), join(out, name));
      continue;
    }
    const lines = new Map<string, string>();
    for (const folder of changed.includes(name) ? [set, changes] : [set]) {
      for (const { value, text } of await parsedLines(folder, name, identified)) lines.set(value.id, text);
    }
    for (const id of gone) {
      if (lines.delete(id)) continue;
      throw new WarehouseError(
        "config.content_set",
        `The changes cannot be applied: ${join(changes, REMOVED)}: ${name} has no ${id}.`,
      );
    }
    await writeFile(join(out, name), [...lines.values()].map((line) => `${line}\n`).join(""));
  }
}
