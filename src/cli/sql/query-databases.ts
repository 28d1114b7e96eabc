/** Finds the databases that a query reads: that of the run, and that of the run before if the query names it. */
import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { previousOf } from "../../warehouse/identity.ts";
import { DATABASE_FILE, type OutputFolder, outputFolder } from "../../warehouse/layout.ts";
import { findRun, listRuns, type PublishedRun } from "../../warehouse/retention.ts";

export interface QueryDatabases {
  /** Path of the database file. */
  readonly database: string;
  /** Path for the catalog `previous`, or a clause that says why it is missing; `undefined` if the query does not use it. */
  readonly previous: { readonly database: string } | { readonly missing: string } | undefined;
}

/** Matches statements that may use the catalog `previous`. A match in a text or comment does no harm. */
const NAMES_PREVIOUS = /\bprevious\b/i;

/**
 * Databases for a run, by name, number or `current`. Reads the link `current` once, so that a publication in between does
 * not mix runs. Throws `config.not_found`.
 */
export async function findDatabases(
  warehouse: string,
  { wanted, statement }: { readonly wanted: string; readonly statement: string },
): Promise<QueryDatabases> {
  const folder = outputFolder(warehouse);
  const run = await findRun(folder, wanted);
  const database = databaseIn(run);
  if (database === undefined) {
    throw new WarehouseError(
      "config.not_found",
      `Run ${run.run} was published only as Parquet files; read ${join(run.current ? folder.current : run.directory, "parquet")} with DuckDB or another engine.`,
    );
  }
  const previous = NAMES_PREVIOUS.test(statement) ? await previousDatabase(folder, run) : undefined;
  return { database, previous };
}

/** Path of the run's database; `undefined` if it has only Parquet files. Throws if its manifest cannot be read. */
function databaseIn({ directory, manifest }: PublishedRun): string | undefined {
  if (manifest instanceof WarehouseError) throw manifest;
  return manifest.loaders.includes("duckdb") ? join(directory, DATABASE_FILE) : undefined;
}

async function previousDatabase(
  folder: OutputFolder,
  { run, manifest }: PublishedRun,
): Promise<NonNullable<QueryDatabases["previous"]>> {
  if (manifest instanceof WarehouseError) throw manifest;
  const { previousRun } = manifest;
  if (previousRun === null) return { missing: `run ${run} has no run before it, so there is no "previous".` };
  const before = previousOf(manifest, await listRuns(folder));
  if (before === undefined) {
    return {
      missing: `there is no "previous": the files of ${previousRun}, the run before ${run}, are gone.`,
    };
  }
  const database = databaseIn(before);
  if (database !== undefined) return { database };
  return {
    missing: `there is no "previous": ${before.run}, the run before ${run}, was published only as Parquet files.`,
  };
}
