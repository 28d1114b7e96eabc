/**
 * Brings the views of items together that lie in different raw files: items that stood on different pages of the two
 * listings, in one of them alone, or twice. DuckDB joins the files, a bounded number of items at a time.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listValue } from "@duckdb/node-api";
import { execute, openForBuilding } from "../load/duckdb.ts";
import { readParquet } from "../load/parquet.ts";
import { loadSql, quoteLiteral } from "../load/sql-text.ts";

export interface RegroupRequest {
  readonly contentIds: readonly string[];
  /** Bytes of an answer that an item takes, roughly. */
  readonly weightOf: (contentId: string) => number;
  /** Raw files that may hold their views; absolute. */
  readonly rawFiles: readonly string[];
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
}

/** Items whose views are written into one file, at most. */
const ITEMS_PER_FILE = 1000;
/** Bytes of one view of these items, at most; a single item may have more. */
const BYTES_PER_FILE = 24 * 1024 * 1024;
const MEMORY_MB = 512;

/** Calls `use` with one raw file after another, each with all views of some of the items. */
export async function regroup(request: RegroupRequest, use: (file: string) => Promise<void>): Promise<void> {
  const { contentIds, rawFiles, directory, temporaryDirectory } = request;
  if (contentIds.length === 0 || rawFiles.length === 0) return;
  await using database = await openForBuilding({
    file: join(directory, "regroup.duckdb"),
    staging: directory,
    temporaryDirectory,
    memoryLimitMb: MEMORY_MB,
    threads: 2,
    previous: undefined,
  });
  const { connection } = database;
  const file = join(directory, "regrouped.parquet");
  await execute(connection, "CREATE TEMP TABLE wanted (content_id VARCHAR)");
  for (const ids of batches(request)) {
    await execute(connection, "DELETE FROM wanted");
    await execute(connection, "INSERT INTO wanted SELECT unnest($1::VARCHAR[])", [listValue(ids)]);
    const rows = loadSql("regroup").replace("FROM raw_files", `FROM ${readParquet(rawFiles)}`);
    await execute(connection, `COPY (${rows}) TO ${quoteLiteral(file)} (FORMAT parquet)`);
    await use(file);
    await rm(file);
  }
}

/** Items for one file after another, in their order. */
export function* batches({
  contentIds,
  weightOf,
}: Pick<RegroupRequest, "contentIds" | "weightOf">): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const id of contentIds) {
    const weight = weightOf(id);
    if (batch.length === ITEMS_PER_FILE || (batch.length > 0 && bytes + weight > BYTES_PER_FILE)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += weight;
  }
  if (batch.length > 0) yield batch;
}
