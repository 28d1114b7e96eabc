/** SQL that reads and writes Parquet files. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import type { Table } from "../tables/declare.ts";
import { type SqlQuery, scalar } from "./duckdb.ts";
import { metadataLiteral } from "./parquet-metadata.ts";
import { exactPattern, quoteLiteral } from "./sql-text.ts";

/** A quarter of the default: sorting and writing takes a third less memory, and two writers a quarter less time. */
const ROWS_PER_PARQUET_GROUP = 30_720;

const PARQUET_OPTIONS = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_PER_PARQUET_GROUP}`;

/** Table names that may become file names. They are declared, never sent by a service. */
export const TABLE_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Path of a final file below the run's directory: `parquet/users/users-000042-0000.parquet`. The run's number is part of the
 * name, so that a reader whose `current` changes between two files gets an error rather than a mixture.
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

/**
 * A table function that reads exactly these files. Names are not patterns, and folders named `x=1` are not columns. `also`:
 * additional columns about the file.
 */
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
  /** Rows are written in its order. */
  readonly query: SqlQuery;
  /** Absolute path; its folder is created. */
  readonly file: string;
}

/** Writes the rows of a query as a Parquet file and gives their number. The same rows give the same bytes. */
export async function writeParquet(connection: DuckDBConnection, write: ParquetWrite): Promise<number> {
  await mkdir(dirname(write.file), { recursive: true, mode: 0o700 });
  const target = quoteLiteral(write.file);
  const options = `${PARQUET_OPTIONS}, KV_METADATA ${metadataLiteral(write.table)}`;
  return scalar(connection, `COPY (${write.query.text}) TO ${target} (${options})`, write.query.params);
}
