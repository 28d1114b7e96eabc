/** The databases that a question in SQL is asked of: that of a run, and that of the run before where it is spoken of. */
import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { previousOf } from "../../warehouse/identity.ts";
import { DATABASE_FILE, type OutputFolder, outputFolder } from "../../warehouse/layout.ts";
import { findRun, listRuns, type PublishedRun } from "../../warehouse/retention.ts";

export interface QueryDatabases {
  /** File of the database, which is opened read-only. */
  readonly database: string;
  /** That of the run before, attached read-only as `previous`, or why there is none; undefined: it is not spoken of. */
  readonly previous: { readonly database: string } | { readonly missing: string } | undefined;
}

/** Whether a statement may mean the catalog `previous`: in a text or a comment the word does no harm. */
const SPEAKS_OF_PREVIOUS = /\bprevious\b/i;

/**
 * Of the run that is wanted, by name, number or `current`: the link is read once, so that a publication meanwhile changes
 * nothing. Throws `config.not_found` where there is none.
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
      `Run ${run.run} was published as Parquet files alone; read ${join(run.current ? folder.current : run.directory, "parquet")} with DuckDB or another engine.`,
    );
  }
  const previous = SPEAKS_OF_PREVIOUS.test(statement) ? await previousDatabase(folder, run) : undefined;
  return { database, previous };
}

/** Undefined: the run has Parquet files alone. Throws what is wrong with one that cannot be read. */
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
    missing: `there is no "previous": ${before.run}, the run before ${run}, was published as Parquet files alone.`,
  };
}
