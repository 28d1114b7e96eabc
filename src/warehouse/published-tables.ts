/** The tables of a published run: in its Parquet files or, where there are none, in its database, which has the same rows. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  all,
  type Database,
  openForReading,
  openForScanning,
  type ReadOptions,
  type Row,
} from "../storage/duckdb.ts";
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

/** Rows of `run_rejects` of a run whose manifest need not be readable: from its database or, without one, from Parquet files. */
export async function readRejects(directory: string, temporaryDirectory: string): Promise<Row[]> {
  const limits = { temporaryDirectory, memoryLimitMb: 256, threads: 1, allowedDirectories: [directory] };
  const file = join(directory, DATABASE_FILE);
  const isThere = existsSync(file);
  await using database = await (isThere ? openForReading({ file, ...limits }) : openForScanning(limits));
  const folder = join(directory, "parquet", "run_rejects");
  const files = isThere ? [] : (await readdir(folder)).toSorted().map((name) => join(folder, name));
  return await all(
    database.connection,
    `FROM ${isThere ? "run_rejects" : readParquet(files)} ORDER BY reject`,
  );
}
