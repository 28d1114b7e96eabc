/** Opens the tables of a published run, from its database or its Parquet files. */
import { join } from "node:path";
import {
  type Database,
  openForScanning,
  type PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
  type ScanSettings,
} from "../storage/database.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { DATABASE_FILE } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

export interface PublishedFiles {
  readonly directory: string;
  readonly manifest: Pick<Manifest, "loaders" | "rows" | "files">;
}

/** Where the tables of a run are read from. */
export interface TablesSource {
  /** Folder whose files may be read. */
  readonly directory: string;
  /** Database that has the tables; `undefined` if Parquet files are read. */
  readonly database: string | undefined;
  /** Absolute paths of a table's Parquet files, in the order of its key. Used only without a database. */
  readonly filesOf: (table: string) => readonly string[];
}

/** If a run has both, questions read its database, and full scans read its Parquet files. */
export function tablesSourceOf(published: PublishedFiles, { isQuestioned = false } = {}): TablesSource {
  const { directory, manifest } = published;
  const { loaders } = manifest;
  const fromDatabase = isQuestioned ? loaders.includes("duckdb") : !loaders.includes("parquet");
  return {
    directory,
    database: fromDatabase ? join(directory, DATABASE_FILE) : undefined,
    filesOf: (table) => parquetFilesOf(published, table),
  };
}

/** Opens a run, and an earlier one beside it. All files in their folders can be read. */
export function openTables(
  source: TablesSource,
  limits: Pick<ScanSettings, "temporaryDirectory" | "memoryLimitMb" | "threads">,
  before?: TablesSource,
): Promise<Database> {
  return openForScanning({
    ...limits,
    published: source.database,
    previous: before?.database,
    allowedDirectories: [source, before].flatMap((each) => each?.directory ?? []),
  });
}

/** SQL for FROM that reads a table. */
export function tableSql(
  { database, filesOf }: TablesSource,
  table: string,
  catalog: typeof PUBLISHED_CATALOG | typeof PREVIOUS_CATALOG = PUBLISHED_CATALOG,
): string {
  return database === undefined
    ? readParquet(filesOf(table))
    : `${quoteIdentifier(catalog)}.main.${quoteIdentifier(table)}`;
}

/** Absolute paths of a table's Parquet files, in the order of its key. */
export function parquetFilesOf({ directory, manifest }: PublishedFiles, table: string): string[] {
  const files = manifest.files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
  return files.map(({ path }) => join(directory, path)).toSorted();
}
