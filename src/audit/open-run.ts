/** Opens published runs for questions. Each table becomes a view in a DuckDB database in memory. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Answer } from "../common/answer.ts";
import { type ErrorCode, WarehouseError } from "../common/errors.ts";
import { TABLES_OF_VIEWS } from "../load/views.ts";
import {
  type Database,
  PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
  type ScanSettings,
} from "../storage/database.ts";
import { emptyColumns } from "../storage/ddl.ts";
import { execute } from "../storage/duckdb.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { CONTENT_TABLES } from "../tables/all.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { openTables, tableSql, tablesSourceOf } from "../warehouse/published-tables.ts";
import { findRun, type PublishedRun } from "../warehouse/retention.ts";

type QuestionLimits = Pick<ScanSettings, "memoryLimitMb" | "threads">;

const THREADS = 2;
/** Limits for questions. What does not fit into the buffers is spilled. */
export const QUESTION_LIMITS: QuestionLimits = { memoryLimitMb: 256, threads: THREADS };

export interface OpenedRun extends AsyncDisposable {
  readonly run: string;
  readonly directory: string;
  readonly manifest: Manifest;
  /** Manifest of the run beside it; undefined if there is none. */
  readonly before: Manifest | undefined;
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
 * Throws `answer.nothing` for a run that does not exist (with the nearest names), `config.not_found` for one without mapped
 * values, `verify.failed` for a damaged one.
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
  const before = beside === undefined ? undefined : await find(beside);
  const database = await openViews({
    ...runTables(found),
    temporaryDirectory,
    ...limits,
    beside: before && runTables(before),
  });
  return {
    run,
    directory,
    manifest,
    before: before?.manifest,
    connection: database.connection,
    connect: () => database.connect(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

export type ReadableRun = PublishedRun & { readonly manifest: Manifest };

/** Throws `absent` for a run that does not exist, and the error of one that cannot be read. */
export async function findReadableRun(
  folder: OutputFolder,
  wanted: string,
  absent: ErrorCode = "answer.nothing",
): Promise<ReadableRun> {
  const found = await findRun(folder, wanted, absent);
  const { manifest } = found;
  if (manifest instanceof WarehouseError) throw manifest;
  return { ...found, manifest };
}

function assertMapped({ run, manifest }: ReadableRun): void {
  const missing = missingTables(manifest.rows);
  if (missing.length === 0) return;
  throw new WarehouseError(
    "config.not_found",
    `Run ${run} has no mapped values: its pipeline "${manifest.asked.pipeline.name}" leaves out ${missing.join(", ")}; ask a run of the pipeline nightly.`,
  );
}

/** Tables that questions need and the run does not have. */
export function missingTables(rows: Manifest["rows"]): string[] {
  return TABLES_OF_VIEWS.filter((table) => !Object.hasOwn(rows, table));
}

/** Tables of a run, and where their files are. */
type RunTables = ReturnType<typeof runTables>;

export function runTables(run: Pick<ReadableRun, "directory" | "manifest">) {
  const tables: readonly string[] = Object.keys(run.manifest.rows);
  return { tables, source: tablesSourceOf(run, { isQuestioned: true }) };
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
  const viewOf = (name: string, rows: string) => `CREATE VIEW ${quoteIdentifier(prefix + name)} AS ${rows}`;
  const views = tables.map((table) => viewOf(table, `FROM ${tableSql(source, table, catalog)}`));
  // Questions read names from `content_types`; it is empty if the run lacks it.
  const empty = CONTENT_TABLES.filter(({ name }) => name === "content_types" && !tables.includes(name)).map(
    (table) => viewOf(table.name, `SELECT ${emptyColumns(table)} WHERE false`),
  );
  await execute(connection, [...views, ...empty].join(";\n"));
}

/** Absolute paths of the files in a folder, sorted; empty if there is no such folder. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}
