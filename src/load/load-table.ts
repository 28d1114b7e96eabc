/** Fills a table: sorted Parquet files by ID range, and from these the DuckDB table. */
import { addAbortListener } from "node:events";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import type { LoadTable } from "../pipeline.ts";
import { type BuildSettings, openForBuilding, openForScanning } from "../storage/database.ts";
import { createTable, duckdbColumns, emptyColumns, keyColumns } from "../storage/ddl.ts";
import { execute, type SqlQuery, scalar } from "../storage/duckdb.ts";
import { boundsFor, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapParallel } from "../storage/parallel.ts";
import { type StagedPart, sumOfRows } from "../storage/parquet-file.ts";
import { readParquet, TABLE_NAME, writeParquet } from "../storage/parquet-sql.ts";
import { exactPattern, fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import { type BoundsByTable, boundsByRows, memoryLimitMb, ROWS_OF_A_VECTOR } from "./range-bounds.ts";
import { rowsInRange, type StagedTable, stagedRanges } from "./staged-rows.ts";
import { createViewsAndMacros } from "./views.ts";

/** Where the files of a run are written. */
interface RunFiles {
  /** Folder that becomes `runs/<run>`. */
  readonly finalDirectory: string;
  readonly sequence: number;
}

interface LoadRequest extends RunFiles {
  readonly table: Table;
  /** Staged parts, or a query that gives all rows. */
  readonly from: readonly StagedPart[] | SqlQuery;
  /**
   * Ranges of `content_id`, for a table whose key begins with it. For a pooled table, the key ranges of the run before.
   * Empty: one range, or those that the rows of a pooled table are cut into.
   */
  readonly bounds?: RangeBounds;
  /** Query that makes the rows of a range from the mark `staged`; `undefined` takes the staged rows. */
  readonly query?: string | undefined;
}

interface ExportRequest extends RunFiles {
  /** Filled tables, whose rows may be in any order. */
  readonly tables: readonly Table[];
  readonly bounds: RangeBounds;
  /** Ranges of the run before. Tables that have some keep these, and ignore `bounds`. */
  readonly kept?: { readonly before: BoundsByTable; readonly rowsPerRange: number };
  /** Work beside the first files, on one of the connections. It must not insert rows. */
  readonly beside?: ((connection: DuckDBConnection) => Promise<void>) | undefined;
}

interface FinalFile {
  /** Relative to the run's folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Number of keys that more than one row has. */
  readonly duplicateKeys: number;
}

/** The files of a table, with its counts: `stagedRows` is `rows` plus `replacedRows`. */
export interface TableFiles {
  readonly table: string;
  readonly rows: number;
  readonly stagedRows: number;
  /** Further rows of keys that are kept once. */
  readonly replacedRows: number;
  /** In key order. At least one file, so that a table without rows has its columns. */
  readonly files: readonly FinalFile[];
}

/**
 * Creates a table and fills it. Each ID range becomes a sorted Parquet file, and the DuckDB table is read from these
 * files, so that both hold the same rows. Memory holds one range. Throws `verify.failed` if rows went missing.
 */
export async function fillTable(connection: DuckDBConnection, request: LoadRequest): Promise<TableFiles> {
  const { table, from, bounds = [], query = "/* staged */", finalDirectory } = request;
  const { ranges, replacedRows = 0 } =
    "text" in from
      ? { ranges: [from] }
      : table.stage === "pooled"
        ? await pooledRows(connection, { table, parts: from }, bounds)
        : { ranges: stagedRanges(connection, { table, parts: from }, rangesOf(boundsFor(table, bounds))) };
  const files: FinalFile[] = [];
  let number = 0;
  for await (const rows of ranges) {
    if (rows !== undefined) {
      const text = fillMarks(query, { staged: rows.text });
      files.push(...(await writeRange(connection, request, number, { ...rows, text })));
    }
    number += 1;
  }
  if (files.length === 0) files.push(...(await writeRange(connection, request, 0, undefined)));
  const paths = files.map(({ path }) => join(finalDirectory, path));
  await createTableFromFiles(connection, table, paths);
  return tableFiles({ table, files, stagedRows: sumOfRows("text" in from ? files : from), replacedRows });
}

/** Columns with the bodies of items by table: Zstandard makes them smaller than what DuckDB chooses. */
const BODIES: Readonly<Record<string, readonly string[]>> = { content: ["content", "body_fragment"] };

/** Creates a table and fills it from Parquet files: absolute paths, in the order of the key. */
async function createTableFromFiles(
  connection: DuckDBConnection,
  table: Table,
  files: readonly string[],
): Promise<void> {
  await createTable(connection, table, BODIES[table.name]);
  // In one statement, the engine compresses and writes whole row groups; smaller ones would wait for the checkpoint.
  await execute(
    connection,
    `INSERT INTO ${quoteIdentifier(table.name)} SELECT ${duckdbColumns(table)} FROM ${readParquet(files)}`,
  );
}

/** Writes the sorted Parquet files of filled tables, by range, on all connections. */
export async function exportTables(
  connections: DatabaseConnections,
  { tables, bounds, kept, beside, ...folder }: ExportRequest,
): Promise<TableFiles[]> {
  const boundsOf = async (connection: DuckDBConnection, table: Table): Promise<RangeBounds> => {
    const before = boundsFor(table, kept?.before.get(table.name) ?? []);
    if (kept === undefined || before.length === 0) return boundsFor(table, bounds);
    const rows = { table, source: quoteIdentifier(table.name), rowsPerRange: kept.rowsPerRange };
    return boundsByRows(connection, rows, before);
  };
  const ranges = await mapParallel(connections, tables, boundsOf);
  const exports = tables.flatMap((table, at) =>
    rangesOf(ranges[at] ?? []).map((range, number) => ({ table, range, number })),
  );
  const jobs = beside === undefined ? exports : [beside, ...exports];
  const written = await mapParallel(connections, jobs, async (connection, job) => {
    if (typeof job === "function") return job(connection);
    const { table, range, number } = job;
    const rows = rowsInRange(table, quoteIdentifier(table.name), range);
    return { table, files: await writeRange(connection, { ...folder, table }, number, rows) };
  });
  return mapParallel(connections, tables, async (connection, table) => {
    const own = written.flatMap((range) => (range?.table === table ? range.files : []));
    const files = own.length > 0 ? own : await writeRange(connection, { ...folder, table }, 0, undefined);
    const stagedRows = await scalar(connection, `SELECT count(*) FROM ${quoteIdentifier(table.name)}`);
    return tableFiles({ table, files, stagedRows, replacedRows: 0 });
  });
}

/** Writes a sorted file, unless the query gives no rows. Without a query, the file has columns and no rows. */
async function writeRange(
  connection: DuckDBConnection,
  { table, finalDirectory, sequence }: RunFiles & { readonly table: Table },
  number: number,
  query: SqlQuery | undefined,
): Promise<FinalFile[]> {
  const path = parquetPath(table.name, sequence, number);
  const file = join(finalDirectory, path);
  const { text, params } = query ?? { text: `SELECT ${emptyColumns(table)} WHERE false`, params: [] };
  const sorted = { text: `SELECT * FROM (${text}) ORDER BY ${keyColumns(table)}`, params };
  const rows = await writeParquet(connection, { table, query: sorted, file });
  if (rows === 0 && query !== undefined) {
    await rm(file);
    return [];
  }
  const { size: bytes } = await stat(file);
  return [{ path, rows, bytes, duplicateKeys: rows < 2 ? 0 : await duplicateKeys(connection, table, file) }];
}

/** Compares neighbours, since a file is sorted by key. Grouping all keys of a table takes ten times as long. */
function duplicateKeys(connection: DuckDBConnection, table: Table, file: string): Promise<number> {
  const keys = `SELECT hash(${keyColumns(table)}) AS key FROM ${readParquet([file])}`;
  const before = "lag(key) OVER () AS first, lag(key, 2) OVER () AS second";
  return scalar(
    connection,
    `SELECT count(*) FILTER (key = first AND key IS DISTINCT FROM second) FROM (SELECT key, ${before} FROM (${keys}))`,
  );
}

/** Throws `verify.failed` if the number of rows in the files is not that of the staged rows. */
function tableFiles({
  table: { name: table },
  ...written
}: Omit<TableFiles, "table" | "rows"> & { readonly table: Table }): TableFiles {
  const rows = sumOfRows(written.files);
  const expected = written.stagedRows - written.replacedRows;
  if (rows !== expected) {
    throw new WarehouseError(
      "verify.failed",
      `Table ${table} should have ${expected} rows, but ${rows} were written; nothing was published, run again.`,
    );
  }
  return { table, rows, ...written };
}

/** Staged rows that are worked on at a time. */
const POOLED_ROWS_PER_RANGE = 50_000;

/** One row per key: the one with the latest `updated_at` if the table has it, else the first in the order of all columns. */
async function pooledRows(connection: DuckDBConnection, { table, parts }: StagedTable, before: RangeBounds) {
  if (parts.length === 0) return { ranges: [], replacedRows: 0 };
  const source = readParquet(parts.map((part) => part.file));
  const rows = { table, source, rowsPerRange: POOLED_ROWS_PER_RANGE };
  const bounds = await boundsByRows(connection, rows, before);
  const names = table.columns.map(({ name }) => quoteIdentifier(name));
  const newest = table.columns.some(({ name }) => name === "updated_at")
    ? ["updated_at DESC NULLS LAST"]
    : [];
  const preference = [...newest, ...names].join(", ");
  const choice = `row_number() OVER (PARTITION BY ${keyColumns(table)} ORDER BY ${preference}) = 1`;
  const ranges = rangesOf(bounds).map((range): SqlQuery => {
    const { text, params } = rowsInRange(table, source, range);
    return { text: `${text} QUALIFY ${choice}`, params };
  });
  const mentions = `SELECT count(*) AS mentions FROM ${source} GROUP BY ${keyColumns(table)}`;
  const repeated = `SELECT coalesce(sum(mentions - 1), 0) FROM (${mentions})`;
  return { ranges, replacedRows: await scalar(connection, repeated) };
}

type Folders = Pick<BuildSettings, "file" | "staging" | "temporaryDirectory">;

/**
 * Makes the tables, views and macros of a run from its files in `staging`. Rows are the same as before; bytes are not. The
 * signal also ends the current statement, which fails then.
 */
export async function rebuildDatabase(
  folders: Folders,
  {
    tables,
    extraColumns,
  }: {
    readonly tables: readonly Pick<LoadTable, "table" | "files">[];
    readonly extraColumns: readonly string[];
  },
  signal: AbortSignal,
): Promise<void> {
  const files = tables.flatMap((each) => each.files);
  const limit = memoryLimitMb(await heaviestVectorBytes(folders, files));
  await using database = await openForBuilding({ ...folders, memoryLimitMb: limit, previous: undefined });
  using _interrupting = addAbortListener(signal, () => database.interrupt());
  for (const { table, files: paths } of tables) {
    signal.throwIfAborted();
    await createTableFromFiles(database.connection, table, paths);
  }
  await createViewsAndMacros(
    database.connection,
    new Set(tables.map(({ table }) => table.name)),
    extraColumns,
  );
  await database.close();
}

/** Largest number of bytes in the rows that the database works on at once, roughly. */
async function heaviestVectorBytes(
  { staging, temporaryDirectory }: Folders,
  files: readonly string[],
): Promise<number> {
  const limits = { temporaryDirectory, memoryLimitMb: 64, threads: 1 };
  await using database = await openForScanning({ ...limits, allowedDirectories: [staging] });
  const list = files.map((file) => quoteLiteral(exactPattern(file))).join(", ");
  return await scalar(
    database.connection,
    `SELECT coalesce(max(bytes), 0)::BIGINT FROM (
       SELECT sum(total_uncompressed_size) * least(1, ${ROWS_OF_A_VECTOR} / any_value(row_group_num_rows)) AS bytes
       FROM parquet_metadata([${list}]) GROUP BY file_name, row_group_id
     )`,
  );
}

/**
 * Path of a final file below the run's directory: `parquet/users/users-000042-0000.parquet`. The run's number is part of the
 * name, so that a reader whose `current` changes between two files gets an error rather than a mixture.
 */
function parquetPath(table: string, sequence: number, part: number): string {
  if (!TABLE_NAME.test(table)) {
    throw new WarehouseError(
      "config.invalid",
      `"${table}" cannot be the name of a table; use lower-case letters, digits and underscores, 63 at most.`,
    );
  }
  const run = String(sequence).padStart(6, "0");
  return join("parquet", table, `${table}-${run}-${String(part).padStart(4, "0")}.parquet`);
}
