/** Parquet from and to Arrow, inside the calling thread: how staged parts and raw documents are written and read. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { RecordBatchReader, Table } from "apache-arrow";
import {
  Compression,
  EnabledStatistics,
  readParquet,
  Table as WasmTable,
  type WriterProperties,
  WriterPropertiesBuilder,
  writeParquet,
} from "parquet-wasm";
import { release } from "../release.ts";

/** `fast`: read again in minutes and then removed. `small`: kept. */
export type PartCompression = "fast" | "small";

const CODECS: Record<PartCompression, Compression> = {
  fast: Compression.SNAPPY,
  small: Compression.ZSTD,
};

/** A page of a column holds a group's documents; one that long compresses better, and in less time. */
const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Made anew for each file: the writer takes them over. Parts and raw files are read as a whole, so statistics would help
 * nobody; what repeats in a column is found by the compression. A dictionary as well takes half as long again.
 */
function properties(compression: PartCompression): WriterProperties {
  return new WriterPropertiesBuilder()
    .setCompression(CODECS[compression])
    .setDictionaryEnabled(false)
    .setStatisticsEnabled(EnabledStatistics.None)
    .setDataPageSizeLimit(PAGE_BYTES)
    .setCreatedBy("content-warehouse")
    .build();
}

/**
 * Writes a part from an Arrow IPC stream, which it releases, complete or not at all: under a temporary name first, for
 * its owner alone. Returns what was written.
 */
export function writePart(file: string, ipcStream: Uint8Array, compression: PartCompression): Uint8Array {
  const table = WasmTable.fromIPCStream(ipcStream);
  release(ipcStream);
  const bytes = writeParquet(table, properties(compression));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, bytes, { mode: 0o600 });
  renameSync(temporary, file);
  return bytes;
}

/** Rows of a part as an Arrow table; `columns`: those that are read. */
export function readPart(file: string, columns: readonly string[]): Table {
  const ipcStream = readParquet(readFileSync(file), { columns: [...columns] }).intoIPCStream();
  return new Table([...RecordBatchReader.from(ipcStream)]);
}
