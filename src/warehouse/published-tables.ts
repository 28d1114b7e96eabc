/** The tables of a published run: in its Parquet files or, where there are none, in its database, which has the same rows. */
import { join } from "node:path";
import { type Database, openForReading, openForScanning, type ReadOptions } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { DATABASE_FILE } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

export interface PublishedFiles {
  readonly directory: string;
  readonly manifest: Pick<Manifest, "loaders" | "rows" | "files">;
}

/** Opens what `fromTable` reads; every file of the run may be read. */
export async function openTables(
  { directory, manifest }: PublishedFiles,
  limits: Omit<ReadOptions, "file" | "allowedDirectories">,
): Promise<Database> {
  const options = { ...limits, allowedDirectories: [directory] };
  return manifest.loaders.includes("parquet")
    ? openForScanning(options)
    : openForReading({ file: join(directory, DATABASE_FILE), ...options });
}

/** Its Parquet files, as absolute paths, in the order of its keys; none where the run has none. */
export function filesOf({ directory, manifest }: PublishedFiles, table: string): string[] {
  const files = manifest.files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
  return files.map(({ path }) => join(directory, path)).toSorted();
}

/** What stands after FROM for the rows of a table. */
export function fromTable(published: PublishedFiles, table: string): string {
  const parquet = published.manifest.loaders.includes("parquet");
  return parquet ? readParquet(filesOf(published, table)) : quoteIdentifier(table);
}
