/** Opens published runs for questions. Each table becomes a view in a DuckDB database in memory. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, listValue } from "@duckdb/node-api";
import { type Answer, type AnswerRow, col } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import { TABLES_OF_VIEWS } from "../load/views.ts";
import { emptyColumns } from "../storage/ddl.ts";
import {
  type Database,
  execute,
  PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
  type ScanSettings,
} from "../storage/duckdb.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { readRows } from "../storage/typed-rows.ts";
import { CONTENT_TABLES } from "../tables/all.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import {
  openTables,
  type PublishedFiles,
  type TablesSource,
  tableSql,
  tablesSourceOf,
} from "../warehouse/published-tables.ts";
import { findRun, type PublishedRun } from "../warehouse/retention.ts";

type QuestionLimits = Pick<ScanSettings, "memoryLimitMb" | "threads">;

const THREADS = 2;
/** Limits for questions. What does not fit into the buffers is spilled. */
export const QUESTION_LIMITS: QuestionLimits = { memoryLimitMb: 256, threads: THREADS };

export interface OpenedRun extends AsyncDisposable {
  readonly run: string;
  readonly directory: string;
  readonly manifest: Manifest;
  /**
   * Has a view of each table of the run, and `content_types` even if the run lacks it. Tables can be created
   * beside the views; the run is read-only.
   */
  readonly connection: DuckDBConnection;
  /** Opens another connection with the same views. Temporary tables belong to one connection. */
  connect(): Promise<DuckDBConnection>;
}

/** Which run to open, and another run beside it. */
export interface RunSelection {
  /** Name or number of a run, or `current`. */
  readonly wanted: string;
  /** Another run. Its tables become views whose names begin with `before_`. */
  readonly beside?: string | undefined;
  /** Whether runs without mapped values are accepted. */
  readonly anyPipeline?: boolean | undefined;
  /** Undefined: {@link QUESTION_LIMITS}. */
  readonly limits?: QuestionLimits | undefined;
}

/** A question about published runs. `answer` may read the run while its answer is shown. */
export interface RunQuestion<C extends RunSelection = RunSelection> {
  choose(folder: OutputFolder, temporaryDirectory: string): Promise<C>;
  answer(opened: OpenedRun, chosen: C): Promise<Answer>;
}

/**
 * Throws `config.not_found` for a run that does not exist (with the nearest names) or that has no mapped values,
 * `verify.failed` for a damaged one.
 */
export async function openRun(
  request: RunSelection & {
    readonly folder: OutputFolder;
    /** Existing folder where DuckDB spills blocks. */
    readonly temporaryDirectory: string;
  },
): Promise<OpenedRun> {
  const { folder, wanted, beside, temporaryDirectory, anyPipeline, limits = QUESTION_LIMITS } = request;
  const find = async (name: string) => {
    const found = await findReadableRun(folder, name);
    if (anyPipeline !== true) assertMapped(found);
    return found;
  };
  const found = await find(wanted);
  const { run, directory, manifest } = found;
  const database = await openViews({
    ...runTables(found),
    temporaryDirectory,
    ...limits,
    beside: beside === undefined ? undefined : runTables(await find(beside)),
  });
  return {
    run,
    directory,
    manifest,
    connection: database.connection,
    connect: () => database.connect(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

export type ReadableRun = PublishedRun & { readonly manifest: Manifest };

/** Throws `config.not_found` for a run that does not exist, and the error of one that cannot be read. */
export async function findReadableRun(folder: OutputFolder, wanted: string): Promise<ReadableRun> {
  const found = await findRun(folder, wanted);
  const { manifest } = found;
  if (manifest instanceof WarehouseError) throw manifest;
  return { ...found, manifest };
}

function assertMapped({ run, manifest }: ReadableRun): void {
  const missing = missingTables(manifest.rows);
  if (missing.length === 0) return;
  throw new WarehouseError(
    "config.not_found",
    `Run ${run} has no mapped values: its pipeline "${manifest.pipeline}" leaves out ${missing.join(", ")}; ask a run of the pipeline nightly.`,
  );
}

/** Tables that questions need and the run does not have. */
export function missingTables(rows: Manifest["rows"]): string[] {
  return TABLES_OF_VIEWS.filter((table) => !Object.hasOwn(rows, table));
}

/** Tables of a run, and where their files are. */
export interface RunTables {
  readonly tables: readonly string[];
  readonly source: TablesSource;
}

export function runTables(run: Pick<ReadableRun, "directory" | "manifest">): RunTables {
  return { tables: Object.keys(run.manifest.rows), source: tablesSourceOf(run, { isQuestioned: true }) };
}

/** Opens a database in memory with a view of each table. */
export async function openViews(
  request: RunTables &
    Pick<ScanSettings, "temporaryDirectory" | "memoryLimitMb"> & {
      readonly threads?: number | undefined;
      /** Another run. Its tables become views whose names begin with `before_`. */
      readonly beside?: RunTables | undefined;
    },
): Promise<Database> {
  const { source, beside, temporaryDirectory, memoryLimitMb, threads = THREADS } = request;
  const limits = { temporaryDirectory, memoryLimitMb, threads };
  const database = await openTables(source, limits, beside?.source);
  try {
    await createViews(database, request, PUBLISHED_CATALOG, "");
    if (beside !== undefined) await createViews(database, beside, PREVIOUS_CATALOG, "before_");
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
  return database;
}

async function createViews(
  { connection }: Database,
  { tables, source }: RunTables,
  catalog: typeof PUBLISHED_CATALOG | typeof PREVIOUS_CATALOG,
  prefix: string,
): Promise<void> {
  for (const table of tables) {
    const view = quoteIdentifier(`${prefix}${table}`);
    await execute(connection, `CREATE VIEW ${view} AS FROM ${tableSql(source, table, catalog)}`);
  }
  // Questions read names from `content_types`; it is empty if the run lacks it.
  for (const table of CONTENT_TABLES) {
    if (table.name !== "content_types" || tables.includes(table.name)) continue;
    const view = quoteIdentifier(`${prefix}${table.name}`);
    await execute(connection, `CREATE VIEW ${view} AS SELECT ${emptyColumns(table)} WHERE false`);
  }
}

/** Absolute paths of the files in a folder, sorted; empty if there is no such folder. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

const required = { required: true } as const;

const PUBLISHED_COLUMN = {
  table: col.name(required),
  column: col.name(required),
  type: col.name(required),
  comment: col.text(),
} as const;
export type PublishedColumn = AnswerRow<typeof PUBLISHED_COLUMN>;

/** Columns of the tables and views in the run's database; empty if it was published only as Parquet files. */
export async function readPublishedColumns(
  run: PublishedFiles,
  temporaryDirectory: string,
): Promise<PublishedColumn[]> {
  const source = tablesSourceOf(run, { isQuestioned: true });
  if (source.database === undefined) return [];
  await using database = await openTables(source, { temporaryDirectory, ...QUESTION_LIMITS });
  const tables = listValue(Object.keys(run.manifest.rows));
  return await readRows(database.connection, PUBLISHED_COLUMN, IN_DATABASE, [tables]);
}

const IN_DATABASE = `
  SELECT c.table_name AS "table", column_name AS "column",
    replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type, c.comment
  FROM duckdb_columns() AS c
  LEFT JOIN duckdb_views() AS v ON v.database_name = c.database_name AND view_name = c.table_name
  WHERE c.database_name = '${PUBLISHED_CATALOG}' AND (list_contains($1, c.table_name) OR view_name IS NOT NULL)
  ORDER BY view_name IS NOT NULL, c.table_name, column_index`;
