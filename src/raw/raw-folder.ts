/** Opens a run's folder `raw`, which holds all that the tables of the run are made from. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readPart, type StagedPart } from "../storage/parquet-file.ts";
import { EXTRACT_FILE, type ExtractRecord, readExtractRecord } from "./extract-record.ts";
import { ItemIndex } from "./item-index.ts";
import { RawFileReader, type RawLookups, readLookups } from "./raw-file.ts";
import { indexRows, RawIndex } from "./raw-index.ts";

export interface IndexedItems {
  readonly items: ItemIndex;
  readonly index: RawIndex;
}

export interface RawFolder {
  /** Absolute paths of the raw files with documents of items. */
  readonly itemFiles: readonly string[];
  /** The content of `extract.json`. */
  readonly facts: ExtractRecord;
  /** Reads the rows of the lookups. Throws as {@link RawFileReader}. */
  readonly lookups: () => RawLookups;
  /** Rows of the tables `run_requests` and `run_rejects`. */
  readonly requests: readonly StagedPart[];
  readonly rejects: readonly StagedPart[];
  /** Returns the index, once: it is large, and its reader must be able to release it. */
  readonly takeItems: () => IndexedItems;
}

const ITEM_MODES = ["dynamic", "full", "item"] as const;

/**
 * Reads a run's folder `raw`. The size of an item without a listed document is not known, so large tables may be split at
 * another item. Throws `verify.failed` or a TypeError if a file is damaged, and the system's errors.
 */
export async function readRawFolder(folder: string): Promise<RawFolder> {
  const facts = await readExtractRecord(join(folder, EXTRACT_FILE));
  const items = new ItemIndex();
  const index = new RawIndex(items);
  for (const file of itemFilesIn(folder)) {
    using rows = new RawFileReader(file);
    index.add(file, indexRows(rows));
    for (const [row, listed] of rows.listed().entries()) {
      const pages = listed === undefined ? undefined : facts.bytesPerItem[listed.pass];
      items.weigh(rows.ids[row] ?? "", pages?.[(listed?.page ?? 0) - 1] ?? 0);
    }
  }
  return rawFolderOf(folder, facts, { items, index });
}

/** Reads the rows of the lookups in a folder. Throws as {@link RawFileReader}. */
export function readFolderLookups(folder: string): RawLookups {
  const [destinations] = parquetIn(join(folder, "destinations"));
  const [custom_fields] = parquetIn(join(folder, "custom_fields"));
  return readLookups({ destinations, custom_fields });
}

/** A run's folder `raw` whose facts and items are known. */
export function rawFolderOf(folder: string, facts: ExtractRecord, items: IndexedItems): RawFolder {
  return {
    facts,
    itemFiles: itemFilesIn(folder),
    lookups: () => readFolderLookups(folder),
    requests: partsIn(folder, "requests-"),
    rejects: partsIn(folder, "rejects-"),
    takeItems: once(items),
  };
}

/** Absolute paths of the raw files with documents of items. */
function itemFilesIn(folder: string): string[] {
  return ITEM_MODES.flatMap((mode) => parquetIn(join(folder, mode)));
}

/** Absolute paths of Parquet files, in the order of their names. */
function parquetIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".parquet"));
  return names.toSorted().map((name) => join(directory, name));
}

function partsIn(folder: string, prefix: string): StagedPart[] {
  const files = parquetIn(folder).filter((file) => file.startsWith(join(folder, prefix)));
  return files.map((file) => {
    using columns = readPart(file);
    return { file, rows: columns.rows, firstKey: "", lastKey: "" };
  });
}

function once<Value>(value: Value): () => Value {
  let kept: Value | undefined = value;
  return () => {
    if (kept === undefined) throw new TypeError("the items were taken already");
    const given = kept;
    kept = undefined;
    return given;
  };
}
