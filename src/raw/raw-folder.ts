/** A run's folder `raw`, which holds all that the tables of the run are made from: its paths, and how it is opened. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readPart, type StagedPart } from "../storage/parquet-file.ts";
import { EXTRACT_FILE, type ExtractRecord, readExtractRecord } from "./extract-record.ts";
import { ItemIndex } from "./item-index.ts";
import { type LookupMode, type RawDocument, RawFileReader, type RawLookups } from "./raw-file.ts";
import { indexRows, RawIndex } from "./raw-index.ts";

/** Absolute paths of a run's raw files: one for each stage, pass and group. */
export class RawPaths {
  /** Absolute path. */
  readonly folder: string;
  readonly #sequence: string;

  constructor(folder: string, sequence: number) {
    this.folder = folder;
    this.#sequence = padded(sequence, 6);
  }

  /**
   * `stage`: the documents of a listing, single items that it listed, single items after a pass, or a lookup. Items that are
   * `gone` have no documents.
   */
  of(stage: RawDocument["mode"] | "after" | "gone" | LookupMode, pass: number, group: number): string {
    const name = `${stage}-${this.#sequence}-${pass}-${padded(group, 5)}.parquet`;
    return join(this.folder, stage === "after" ? "item" : stage, name);
  }

  /** File with rows of `run_requests` or `run_rejects`. */
  ofNotes(what: "requests" | "rejects", part: number): string {
    return join(this.folder, `${what}-${this.#sequence}-0-${padded(part, 5)}.parquet`);
  }
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
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
  readonly takeIndex: () => RawIndex;
}

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
  return rawFolderOf(folder, facts, index);
}

/** Reads the rows of the lookups in a folder; a lookup without rows has no file. Throws as {@link RawFileReader}. */
export function readFolderLookups(folder: string): RawLookups {
  const rowsOf = (mode: LookupMode) =>
    parquetIn(join(folder, mode)).flatMap((file) => {
      using rows = new RawFileReader(file);
      return rows.ids.map((_, row) => rows.answer(row));
    });
  return { destinations: rowsOf("destinations"), definitions: rowsOf("custom_fields") };
}

/** A run's folder `raw` whose facts and documents are known. */
export function rawFolderOf(folder: string, facts: ExtractRecord, index: RawIndex): RawFolder {
  let kept: RawIndex | undefined = index;
  return {
    facts,
    itemFiles: itemFilesIn(folder),
    lookups: () => readFolderLookups(folder),
    requests: partsIn(folder, "requests-"),
    rejects: partsIn(folder, "rejects-"),
    takeIndex: () => {
      const taken = kept;
      kept = undefined;
      if (taken === undefined) throw new TypeError("the index was taken already");
      return taken;
    },
  };
}

/** Absolute paths of the raw files with documents of items. */
function itemFilesIn(folder: string): string[] {
  return ["dynamic", "full", "item"].flatMap((mode) => parquetIn(join(folder, mode)));
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
