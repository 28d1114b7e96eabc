/** A raw folder, read without a service: all that the tables of its run are made from. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { EXTRACT_FILE, readExtractRecord } from "./extract-record.ts";
import { ItemIndex } from "./item-index.ts";
import { RawRows, readLookups } from "./raw-file.ts";
import { indexOfRows, RawIndex } from "./raw-index.ts";

const ITEM_MODES = ["dynamic", "full", "item"] as const;

/**
 * Reads a run's folder `raw`. The room of an item whose listed document did not land is not known, so that large tables
 * may be cut at another item. Throws `config.newer_version`, `verify.failed` or a TypeError where a file is not what it
 * should be, and what the system says of one that cannot be read.
 */
export async function readRaw(folder: string) {
  const record = await readExtractRecord(join(folder, EXTRACT_FILE));
  const items = new ItemIndex();
  const index = new RawIndex(items);
  for (const file of ITEM_MODES.flatMap((mode) => filesOf(folder, mode))) {
    using rows = new RawRows(file);
    index.add(file, indexOfRows(rows));
    for (const [row, listed] of rows.listed().entries()) {
      const pages = listed === undefined ? undefined : record.bytesPerItem[listed.pass];
      items.weigh(rows.ids[row] ?? "", pages?.[(listed?.page ?? 0) - 1] ?? 0);
    }
  }
  const [destinations] = filesOf(folder, "destinations");
  const [custom_fields] = filesOf(folder, "custom_fields");
  return { items, index, lookups: readLookups({ destinations, custom_fields }), record };
}

/** Absolute paths of the raw files of a mode, in the order of their names. */
function filesOf(folder: string, mode: string): string[] {
  const directory = join(folder, mode);
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".parquet"));
  return names.toSorted().map((name) => join(directory, name));
}
