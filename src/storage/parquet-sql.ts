import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import type { Table } from "../tables/declare.ts";
import { type SqlQuery, scalar } from "./duckdb.ts";
import { metadataLiteral } from "./parquet-metadata.ts";
import { exactPattern, quoteLiteral } from "./sql-text.ts";

/** A quarter of the default: to sort and write takes a third less memory, and two at a time a quarter less time. */
const ROWS_PER_PARQUET_GROUP = 30_720;

/** How each published Parquet file is written. */
export const PARQUET_OPTIONS = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_PER_PARQUET_GROUP}`;

/** Table names that may become file names: what is declared, never what a service sent. */
export const TABLE_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Where a final file lies below the run's directory: `parquet/users/users-000042-0000.parquet`. The sequence is part
 * of the name, so that a reader whose `current` moves between two files gets an error and never a mixture.
 */
export function parquetPath(table: string, sequence: number, part: number): string {
  if (!TABLE_NAME.test(table)) {
    throw new WarehouseError(
      "config.invalid",
      `"${table}" cannot be the name of a table; use lower-case letters, digits and underscores, 63 at most.`,
    );
  }
  const run = String(sequence).padStart(6, "0");
  return join("parquet", table, `${table}-${run}-${String(part).padStart(4, "0")}.parquet`);
}

/** A table function that reads exactly these files: none that a name matches as a pattern, and no column is ever guessed from a folder named `x=1`. `also` are columns about the file that it gives besides. */
export function readParquet(
  files: readonly string[],
  also: readonly ("filename" | "file_row_number")[] = [],
): string {
  const list = files.map((file) => quoteLiteral(exactPattern(file)));
  const options = ["hive_partitioning = false", ...also.map((column) => `${column} = true`)];
  return `read_parquet([${list.join(", ")}], ${options.join(", ")})`;
}

interface ParquetWrite {
  readonly table: Table;
  /** Its rows are written in its order. */
  readonly query: SqlQuery;
  /** Absolute path; its folder is made. */
  readonly file: string;
}

/** Writes the rows of a query as a Parquet file and returns their number. The same rows give the same bytes. */
export async function writeParquet(connection: DuckDBConnection, write: ParquetWrite): Promise<number> {
  await mkdir(dirname(write.file), { recursive: true, mode: 0o700 });
  const target = quoteLiteral(write.file);
  const options = `${PARQUET_OPTIONS}, KV_METADATA ${metadataLiteral(write.table)}`;
  return scalar(connection, `COPY (${write.query.text}) TO ${target} (${options})`, write.query.params);
}
