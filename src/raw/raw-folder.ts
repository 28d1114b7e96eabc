/** A raw folder: all that the tables of its run are made from, be it that it has just landed or that it is read again. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readPart, type StagedPart } from "../storage/parquet-file.ts";
import { EXTRACT_FILE, type ExtractRecord, readExtractRecord } from "./extract-record.ts";
import { ItemIndex } from "./item-index.ts";
import { RawFileReader, type RawLookups, readLookups } from "./raw-file.ts";
import { indexRows, RawIndex } from "./raw-index.ts";

/** Which items there are, and where their documents lie. */
export interface ItemDocuments {
  readonly items: ItemIndex;
  readonly index: RawIndex;
}

/** What landed. */
export interface RawFolder {
  /** Absolute paths of the raw files with documents of items. */
  readonly itemFiles: readonly string[];
  /** What the documents do not say: what stands in `extract.json`. */
  readonly facts: ExtractRecord;
  /** Reads what the lookups landed. Errors: those of {@link RawFileReader}. */
  readonly lookups: () => RawLookups;
  /** Rows of the tables `run_requests` and `run_rejects`. */
  readonly requests: readonly StagedPart[];
  readonly rejects: readonly StagedPart[];
  /** Gives the index away, once: it is large, and whoever takes it lets it go when the documents are read. */
  readonly takeItems: () => ItemDocuments;
}

const ITEM_MODES = ["dynamic", "full", "item"] as const;

/**
 * Reads a run's folder `raw`. The room of an item whose listed document did not land is not known, so that large tables
 * may be cut at another item. Throws `verify.failed`
 * or a TypeError where a file is not what it should be, and what the system says of one that cannot be read.
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

/** What the lookups landed there. Errors: those of {@link RawFileReader}. */
export function readFolderLookups(folder: string): RawLookups {
  const [destinations] = parquetIn(join(folder, "destinations"));
  const [custom_fields] = parquetIn(join(folder, "custom_fields"));
  return readLookups({ destinations, custom_fields });
}

/** What landed in a run's folder `raw`, whose facts and items are known. */
export function rawFolderOf(folder: string, facts: ExtractRecord, items: ItemDocuments): RawFolder {
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
