/** A published run, opened for the questions of an audit: its tables as views in a database in memory beside it. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../errors.ts";
import { type Database, execute, openBeside, PUBLISHED_CATALOG } from "../load/duckdb.ts";
import { readParquet } from "../load/parquet.ts";
import { findRun, listRuns, type PublishedRun } from "../load/retention.ts";
import { quoteIdentifier } from "../load/sql-text.ts";
import { DATABASE_FILE, type OutputFolder } from "../run/directory.ts";
import type { Manifest } from "../run/manifest.ts";
import { suggestion } from "./nearest.ts";

/** Of DuckDB's buffers; what does not fit is spilled. */
const LIMITS = { memoryLimitMb: 256, threads: 2 };

export interface OpenedRun extends AsyncDisposable {
  readonly run: string;
  readonly directory: string;
  readonly manifest: Manifest;
  /**
   * Every table of the run is a view of its own name here, whether the run was published as DuckDB or as Parquet files.
   * Tables can be made beside them; the run itself cannot be written.
   */
  readonly connection: DuckDBConnection;
}

export interface OpenRequest {
  readonly folder: OutputFolder;
  /** Name or number of a run, or `current`. */
  readonly wanted: string;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
}

/** Tables without which there is nothing to audit. */
const NEEDED = [
  "content",
  "content_custom_field_values",
  "custom_fields",
  "custom_field_select_values",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "destinations",
  "content_mapped_values",
  "content_external_payloads",
];

/**
 * Throws `config.not_found` for a run that does not exist, with the nearest names of those that do, and for one whose
 * pipeline left the mapped values out; `verify.failed` for one that is damaged.
 */
export async function openRun({ folder, wanted, temporaryDirectory }: OpenRequest): Promise<OpenedRun> {
  const found = await findNamed(folder, wanted);
  const { run, directory, manifest } = found;
  if (manifest instanceof WarehouseError) throw manifest;
  const missing = NEEDED.filter((table) => !Object.hasOwn(manifest.rows, table));
  if (missing.length > 0) {
    throw new WarehouseError(
      "config.not_found",
      `Run ${run} has no mapped values: its pipeline "${manifest.pipeline}" leaves out ${missing.join(", ")}; ask a run of the pipeline nightly.`,
    );
  }
  const hasDatabase = manifest.loaders.includes("duckdb");
  const database = await openBeside({
    file: hasDatabase ? join(directory, DATABASE_FILE) : undefined,
    temporaryDirectory,
    allowedDirectories: [directory],
    ...LIMITS,
  });
  try {
    await createViews(database, found.directory, manifest);
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
  return {
    run,
    directory,
    manifest,
    connection: database.connection,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function findNamed(folder: OutputFolder, wanted: string): Promise<PublishedRun> {
  const runs = await listRuns(folder);
  const isThere = runs.some(
    ({ run, sequence, current }) =>
      run === wanted ||
      (wanted === "current" && current) ||
      (/^\d+$/.test(wanted) && sequence === Number(wanted)),
  );
  if (isThere || runs.length === 0 || wanted === "current") return findRun(folder, wanted);
  const names = runs.flatMap(({ run, sequence }) => [run, String(sequence)]);
  throw new WarehouseError(
    "config.not_found",
    `There is no run "${wanted}" in ${folder.root}.${suggestion(wanted, names, `The newest is ${runs[0]?.run}.`)} "runs list" shows those that exist.`,
  );
}

async function createViews({ connection }: Database, directory: string, manifest: Manifest): Promise<void> {
  for (const table of Object.keys(manifest.rows)) {
    const source = manifest.loaders.includes("duckdb")
      ? `${quoteIdentifier(PUBLISHED_CATALOG)}.${quoteIdentifier(table)}`
      : readParquet(filesOf(directory, manifest, table));
    await execute(connection, `CREATE VIEW ${quoteIdentifier(table)} AS FROM ${source}`);
  }
}

/** Absolute paths of the Parquet files of a table, in the order of their keys. */
function filesOf(directory: string, { files }: Manifest, table: string): string[] {
  const own = files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
  return own.map(({ path }) => join(directory, path)).toSorted();
}

/** Absolute paths of the raw files of a run that hold documents of these modes; none where raw was not kept. */
export function rawFilesOf({ directory, manifest }: OpenedRun, modes: readonly string[]): string[] {
  const own = manifest.files.filter(({ path }) => modes.some((mode) => path.startsWith(`raw/${mode}/`)));
  return own.map(({ path }) => join(directory, path)).toSorted();
}
