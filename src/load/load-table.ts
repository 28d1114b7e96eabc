import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { emptyColumns, keyColumns } from "../storage/ddl.ts";
import { type SqlQuery, scalar } from "../storage/duckdb.ts";
import { boundsFor, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type ConnectionPool, mapParallel } from "../storage/parallel.ts";
import { type StagedPart, sumOfRows } from "../storage/parquet-file.ts";
import { parquetPath, readParquet, writeParquet } from "../storage/parquet-sql.ts";
import { fillMarks, quoteIdentifier } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import { createFilledTable } from "./filled-table.ts";
import { type BoundsByTable, boundsByRows, keptBounds } from "./kept-ranges.ts";
import { rowsOf, stagedRanges } from "./staged-ranges.ts";

/** A table and where its files are to be. */
interface FileRequest {
  readonly table: Table;
  /** Folder that becomes `runs/<run>`. */
  readonly finalDirectory: string;
  readonly sequence: number;
}

interface LoadRequest extends FileRequest {
  readonly parts: readonly StagedPart[];
  /** Gives the rows in place of parts. */
  readonly made?: SqlQuery | undefined;
  /**
   * Ranges of `content_id`, used where the table's key begins with it; of a pooled table, the ranges of its key that the
   * run before has. Empty: one range, or those that its rows are cut into.
   */
  readonly bounds: RangeBounds;
  /** Query over the staged rows of a range, in place of the mark `staged`, that gives the rows; undefined: as they are. */
  readonly query?: string | undefined;
}

export interface ExportRequest extends Omit<LoadRequest, "table" | "parts" | "made" | "query"> {
  /** Filled already, in any order. */
  readonly tables: readonly Table[];
  /** Ranges that tables keep instead of `bounds`, as far as these are the run before's. */
  readonly kept?: { readonly before: BoundsByTable; readonly rowsPerRange: number } | undefined;
  /** Done beside the first files, on one of the connections; it must insert no rows. */
  readonly beside?: ((connection: DuckDBConnection) => Promise<void>) | undefined;
}

interface FinalFile {
  /** Relative to the run's folder. */
  readonly path: string;
  readonly rows: number;
}

/** What became of a table: `stagedRows` is `rows` plus `replacedRows`. */
export interface LoadedTable {
  readonly table: string;
  readonly rows: number;
  readonly stagedRows: number;
  /** Further mentions of what is kept once per key. */
  readonly replacedRows: number;
  /** Keys that more than one row has. */
  readonly duplicateKeys: number;
  /** In key order. At least one: a table without rows has a file that says what its columns are. */
  readonly files: readonly FinalFile[];
}

/**
 * Creates a table and fills it: per ID range one sorted Parquet file, and from these the DuckDB table, so both hold the
 * same. Memory holds one range. Throws `verify.failed` when rows went missing on the way.
 */
export async function loadTable(connection: DuckDBConnection, request: LoadRequest): Promise<LoadedTable> {
  const { table, parts, made, bounds, query = "/* staged */" } = request;
  const out = finalFiles(connection, request);
  const pooled = table.stage === "pooled" ? await pooledRows(connection, request) : undefined;
  const ranges =
    made === undefined
      ? (pooled?.ranges ?? stagedRanges(connection, { table, parts }, rangesOf(boundsFor(table, bounds))))
      : [made];
  const written: FinalFile[] = [];
  let number = -1;
  for await (const rows of ranges) {
    number += 1;
    if (rows === undefined) continue;
    const text = fillMarks(query, { staged: rows.text });
    written.push(...(await out.writeRange(number, { ...rows, text })));
  }
  const files = await out.atLeastOne(written);
  const paths = files.map(({ path }) => out.pathOf(path));
  await createFilledTable(connection, table, paths);
  let duplicateKeys = 0;
  for (const file of files) duplicateKeys += await out.duplicateKeys(file);
  const replacedRows = pooled?.replacedRows ?? 0;
  const stagedRows = sumOfRows(made === undefined ? parts : files);
  return accounted({ table: table.name, files, stagedRows, replacedRows, duplicateKeys });
}

/** Writes the Parquet files of filled tables, sorted and in ranges as `loadTable` does, on all connections. */
export async function exportTables(
  connections: ConnectionPool,
  { tables, bounds, kept, beside, ...place }: ExportRequest,
): Promise<LoadedTable[]> {
  const boundsOf = async (connection: DuckDBConnection, table: Table): Promise<RangeBounds> => {
    const before = boundsFor(table, kept?.before.get(table.name) ?? []);
    if (kept === undefined || before.length === 0) return boundsFor(table, bounds);
    const rows = { table, source: quoteIdentifier(table.name), rowsPerRange: kept.rowsPerRange };
    return keptBounds(connection, rows, before);
  };
  const ranges = await mapParallel(connections, tables, boundsOf);
  const exports = tables.flatMap((table, at) =>
    rangesOf(ranges[at] ?? []).map((range, number) => ({ table, range, number })),
  );
  const jobs = beside === undefined ? exports : [beside, ...exports];
  const written = await mapParallel(connections, jobs, async (connection, job) => {
    if (typeof job === "function") return job(connection);
    const { table, range, number } = job;
    const out = finalFiles(connection, { ...place, table });
    const [file] = await out.writeRange(number, rowsOf(table, quoteIdentifier(table.name), range));
    return file && { table, file, duplicateKeys: await out.duplicateKeys(file) };
  });
  return mapParallel(connections, tables, async (connection, table) => {
    const own = written.flatMap((range) => (range?.table === table ? [range] : []));
    const files = own.map(({ file }) => file);
    return accounted({
      table: table.name,
      files: await finalFiles(connection, { ...place, table }).atLeastOne(files),
      stagedRows: await scalar(connection, `SELECT count(*) FROM ${quoteIdentifier(table.name)}`),
      replacedRows: 0,
      duplicateKeys: own.reduce((sum, range) => sum + range.duplicateKeys, 0),
    });
  });
}

/** The final files of a table, written and read by one connection. */
function finalFiles(connection: DuckDBConnection, { table, finalDirectory, sequence }: FileRequest) {
  const pathOf = (path: string) => join(finalDirectory, path);

  const write = async (number: number, query: SqlQuery): Promise<FinalFile> => {
    const path = parquetPath(table.name, sequence, number);
    return { path, rows: await writeParquet(connection, { table, query, file: pathOf(path) }) };
  };

  return {
    pathOf,

    /** A sorted file; none where there are no rows. */
    async writeRange(number: number, { text, params }: SqlQuery): Promise<FinalFile[]> {
      const sorted = `SELECT * FROM (${text}) ORDER BY ${keyColumns(table)}`;
      const file = await write(number, { text: sorted, params });
      if (file.rows > 0) return [file];
      await rm(pathOf(file.path));
      return [];
    },

    async atLeastOne(files: readonly FinalFile[]): Promise<readonly FinalFile[]> {
      if (files.length > 0) return files;
      return [await write(0, { text: `SELECT ${emptyColumns(table)} WHERE false`, params: [] })];
    },

    /** Rows of a key lie beside each other in one file; a table of all keys would take ten times as long. */
    async duplicateKeys({ path, rows }: FinalFile): Promise<number> {
      if (rows < 2) return 0;
      const keys = `SELECT hash(${keyColumns(table)}) AS key FROM ${readParquet([pathOf(path)])}`;
      const before = "lag(key) OVER () AS first, lag(key, 2) OVER () AS second";
      return scalar(
        connection,
        `SELECT count(*) FILTER (key = first AND key IS DISTINCT FROM second) FROM (SELECT key, ${before} FROM (${keys}))`,
      );
    },
  };
}

function accounted(written: Omit<LoadedTable, "rows">): LoadedTable {
  const { table, files, stagedRows, replacedRows } = written;
  const rows = sumOfRows(files);
  const expected = stagedRows - replacedRows;
  if (rows !== expected) {
    throw new WarehouseError(
      "verify.failed",
      `Table ${table} should have ${expected} rows, but ${rows} were written; nothing was published, run again.`,
    );
  }
  return { ...written, rows };
}

const POOLED_ROWS_PER_RANGE = 50_000;

/**
 * One row per key: of the latest `updated_at` where the table has it, then the first in the order of the columns. In
 * ranges of about 50,000 staged rows, which bounds memory.
 */
async function pooledRows(connection: DuckDBConnection, { table, parts, bounds: before }: LoadRequest) {
  if (parts.length === 0) return { ranges: [], replacedRows: 0 };
  const source = readParquet(parts.map((part) => part.file));
  const rows = { table, source, rowsPerRange: POOLED_ROWS_PER_RANGE };
  const bounds =
    before.length === 0
      ? await boundsByRows(connection, rows, { lower: undefined, upper: undefined })
      : await keptBounds(connection, rows, before);
  const names = table.columns.map(({ name }) => quoteIdentifier(name));
  const newest = table.columns.some(({ name }) => name === "updated_at")
    ? ["updated_at DESC NULLS LAST"]
    : [];
  const preference = [...newest, ...names].join(", ");
  const choice = `row_number() OVER (PARTITION BY ${keyColumns(table)} ORDER BY ${preference}) = 1`;
  const ranges = rangesOf(bounds).map((range): SqlQuery => {
    const { text, params } = rowsOf(table, source, range);
    return { text: `${text} QUALIFY ${choice}`, params };
  });
  const mentions = `SELECT count(*) AS mentions FROM ${source} GROUP BY ${keyColumns(table)}`;
  const repeated = `SELECT coalesce(sum(mentions - 1), 0) FROM (${mentions})`;
  return { ranges, replacedRows: await scalar(connection, repeated) };
}
