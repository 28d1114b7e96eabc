/**
 * Groups items whose documents lie in many raw files: items that stood on different pages of the two listings, in only
 * one listing, or twice. DuckDB joins the files, a bounded number of items at a time.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listValue } from "@duckdb/node-api";
import { execute, openForBuilding } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteLiteral, sqlSteps } from "../storage/sql-text.ts";
import { type BatchLimits, splitIntoBatches } from "./batches.ts";
import type { ItemGroup } from "./groups.ts";
import type { RawIndex } from "./raw-index.ts";

const loadSql = sqlSteps(new URL("./sql/", import.meta.url));

export interface RegroupRequest {
  readonly index: RawIndex;
  /** Numbers of the items. */
  readonly items: readonly number[];
  /** Approximate bytes of an item's document. */
  readonly weightOf: (item: number) => number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
}

/** Of one file. An item counts with the bytes of one document. */
export const FILE_LIMITS: BatchLimits = { items: 1000, bytes: 24 * 1024 * 1024 };
const MEMORY_MB = 512;

/** Calls `use` for each group. Its file is removed afterwards. */
export async function regroup(
  request: RegroupRequest,
  use: (group: ItemGroup) => Promise<void>,
): Promise<void> {
  const { index, items, weightOf, directory, temporaryDirectory } = request;
  if (items.length === 0) return;
  await using database = await openForBuilding({
    file: join(directory, "regroup.duckdb"),
    staging: directory,
    temporaryDirectory,
    memoryLimitMb: MEMORY_MB,
    previous: undefined,
  });
  const { connection } = database;
  const file = join(directory, "regrouped.parquet");
  await execute(
    connection,
    "CREATE TEMP TABLE wanted (place INTEGER, filename VARCHAR, file_row_number BIGINT)",
  );
  for (const batch of splitIntoBatches(items, weightOf, FILE_LIMITS)) {
    const counting = batch.map((item) => index.counting(item));
    const places = counting.flat();
    const files = [...new Set(places.map((at) => at.file))].map((at) => index.files[at] ?? "");
    await execute(connection, "DELETE FROM wanted");
    await execute(
      connection,
      "INSERT INTO wanted SELECT unnest(range($1)), unnest($2::VARCHAR[]), unnest($3::BIGINT[])",
      [
        places.length,
        listValue(places.map((at) => index.files[at.file] ?? "")),
        listValue(places.map((at) => BigInt(at.row))),
      ],
    );
    const source = readParquet(files, ["filename", "file_row_number"]);
    const rows = loadSql("regroup").replace("FROM raw_files", () => `FROM ${source}`);
    await execute(connection, `COPY (${rows}) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION zstd)`);
    await use({ files: [file], documents: inOrder(counting.map(({ length }) => length)) });
    await rm(file);
  }
}

/** The documents of an {@link ItemGroup} that lie in one file, one after another. */
function inOrder(counts: readonly number[]): ItemGroup["documents"] {
  let row = 0;
  return Uint32Array.from(
    counts.flatMap((count) => [count, ...Array.from({ length: count }, () => [0, row++]).flat()]),
  );
}
