/** The rows of a published run, wherever they stand: in its Parquet files or, where there are none, in its database. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, type Database, openForReading, openForScanning } from "../../storage/duckdb.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { DATABASE_FILE } from "../layout.ts";
import type { Manifest } from "../manifest.ts";

export interface PublishedFiles {
  readonly directory: string;
  readonly manifest: Pick<Manifest, "loaders" | "rows">;
}

/** Rows in SQL. */
export interface Source {
  /** What stands after FROM. */
  readonly from: string;
  /** Column that says where a row stands. */
  readonly place: string;
}

export function fileSource(file: string): Source {
  const list = `[${quoteLiteral(exactPattern(file))}]`;
  return {
    from: `read_parquet(${list}, hive_partitioning = false, file_row_number = true)`,
    place: "file_row_number",
  };
}

/** Of whoever reads a run in search of a person. */
export const READING_LIMITS = { memoryLimitMb: 224, threads: 2 };

/** The tables of a run: its Parquet files or, where there are none, its database, which has the same rows. */
export async function openRun(
  { directory, manifest }: PublishedFiles,
  temporaryDirectory: string,
): Promise<Database> {
  const limits = { temporaryDirectory, ...READING_LIMITS };
  return manifest.loaders.includes("parquet")
    ? openForScanning({ allowedDirectories: [directory], ...limits })
    : openForReading({ file: join(directory, DATABASE_FILE), allowedDirectories: [], ...limits });
}

export async function sourcesOf({ directory, manifest }: PublishedFiles, table: string): Promise<Source[]> {
  if (!manifest.loaders.includes("parquet")) return [{ from: quoteIdentifier(table), place: "rowid" }];
  return (await tableFiles(directory, table)).map(fileSource);
}

/** Parquet files of a table, as absolute paths, in order. */
async function tableFiles(directory: string, table: string): Promise<string[]> {
  const folder = join(directory, "parquet", table);
  return (await readdir(folder)).toSorted().map((name) => join(folder, name));
}

/** Raw files of a run, below its folder. */
export async function rawFiles(directory: string): Promise<string[]> {
  const folder = join(directory, "raw");
  if (!existsSync(folder)) return [];
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => name.endsWith(".parquet"))
    .toSorted()
    .map((name) => join("raw", name));
}

export interface SourceColumn {
  readonly name: string;
  /** As DuckDB names it. */
  readonly type: string;
}

export async function columnsOf(connection: DuckDBConnection, from: string): Promise<SourceColumn[]> {
  const rows = await all(connection, `DESCRIBE SELECT * FROM ${from}`);
  const own = rows.filter((row) => row.column_name !== "file_row_number");
  return own.map((row) => ({
    name: String(row.column_name),
    type: String(row.column_type),
  }));
}
