/**
 * Brings the views of items together that lie in different raw files: items that stood on different pages of the two
 * listings, in one of them alone, or twice. DuckDB joins the files, a bounded number of items at a time.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listValue } from "@duckdb/node-api";
import { execute, openForBuilding } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { loadSql, quoteLiteral } from "../storage/sql-text.ts";
import { type BatchLimits, batches } from "../raw/batches.ts";

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

/** Of the items whose views are written into one file; the bytes are those of one view. */
export const FILE_LIMITS: BatchLimits = { items: 1000, bytes: 24 * 1024 * 1024 };
const MEMORY_MB = 512;

/** Calls `use` with one raw file after another, each with all views of some of the items. */
export async function regroup(request: RegroupRequest, use: (file: string) => Promise<void>): Promise<void> {
  const { contentIds, weightOf, rawFiles, directory, temporaryDirectory } = request;
  if (contentIds.length === 0 || rawFiles.length === 0) return;
  await using database = await openForBuilding({
    file: join(directory, "regroup.duckdb"),
    staging: directory,
    temporaryDirectory,
    memoryLimitMb: MEMORY_MB,
    previous: undefined,
  });
  const { connection } = database;
  const file = join(directory, "regrouped.parquet");
  await execute(connection, "CREATE TEMP TABLE wanted (content_id VARCHAR)");
  for (const ids of batches(contentIds, weightOf, FILE_LIMITS)) {
    await execute(connection, "DELETE FROM wanted");
    await execute(connection, "INSERT INTO wanted SELECT unnest($1::VARCHAR[])", [listValue(ids)]);
    const rows = loadSql("regroup").replace("FROM raw_files", `FROM ${readParquet(rawFiles)}`);
    await execute(connection, `COPY (${rows}) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION zstd)`);
    await use(file);
    await rm(file);
  }
}
