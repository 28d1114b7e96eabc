/** The tables of a run: what they are read from, how a database that reads them is opened, and their names in it. */
import { join } from "node:path";
import {
  type Database,
  openForScanning,
  type PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
  type ScanSettings,
} from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { DATABASE_FILE } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

export interface PublishedFiles {
  readonly directory: string;
  readonly manifest: Pick<Manifest, "loaders" | "rows" | "files">;
}

/** What the tables of a run are read from, be it published or about to be. */
export interface TablesSource {
  /** Folder whose files may be read. */
  readonly directory: string;
  /** Database that has the tables; undefined: their Parquet files are read. */
  readonly database: string | undefined;
  /** Absolute paths of the Parquet files of a table, in the order of its keys; only asked where there is no database. */
  readonly filesOf: (table: string) => readonly string[];
}

/** Of a published run. Where it has both, its database for questions, its Parquet files for what is read once from end to end. */
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

/** Opens what `fromTable` reads, of a run and of an earlier one beside it. Every file in their folders may be read. */
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

/** What stands after FROM for the rows of a table; `catalog`: that of the run's database. */
export function tableSql(
  { database, filesOf }: TablesSource,
  table: string,
  catalog: typeof PUBLISHED_CATALOG | typeof PREVIOUS_CATALOG = PUBLISHED_CATALOG,
): string {
  return database === undefined
    ? readParquet(filesOf(table))
    : `${quoteIdentifier(catalog)}.main.${quoteIdentifier(table)}`;
}

/** Its Parquet files, as absolute paths, in the order of its keys; none where the run has none. */
export function parquetFilesOf({ directory, manifest }: PublishedFiles, table: string): string[] {
  const files = manifest.files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
  return files.map(({ path }) => join(directory, path)).toSorted();
}
