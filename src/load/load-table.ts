import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { createTable, duckdbColumns, emptyColumns, keyColumns, parquetColumns } from "../storage/ddl.ts";
import { all, execute, LONG_TEXT_BYTES, scalar } from "../storage/duckdb.ts";
import {
  type Bounds,
  boundsFor,
  type Range,
  rangeConditions,
  rangesOf,
  whereClause,
} from "../storage/id-ranges.ts";
import { type Connections, inParallel } from "../storage/parallel.ts";
import { parquetPath, readParquet, writeParquet } from "../storage/parquet-sql.ts";
import type { Query } from "../storage/query.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { type StagedPart, sumOfRows } from "../storage/staged-part.ts";
import type { Table } from "../tables/declare.ts";
import { pooledBounds, pooledRows, repeatedRows } from "./pooled-rows.ts";
import { stagedRanges } from "./staged-ranges.ts";

export interface LoadRequest {
  readonly table: Table;
  readonly parts: readonly StagedPart[];
  /** Ranges of `content_id`, used where the table's key begins with it. Empty: one range. */
  readonly bounds: Bounds;
  /** Folder that becomes `runs/<run>`. */
  readonly finalDirectory: string;
  readonly sequence: number;
}

export interface ExportRequest {
  /** Filled already, in any order. */
  readonly tables: readonly Table[];
  readonly bounds: Bounds;
  readonly finalDirectory: string;
  readonly sequence: number;
  /** Done beside the first files, on one of the connections; it must insert no rows. */
  readonly beside?: ((connection: DuckDBConnection) => Promise<void>) | undefined;
}

/** A table and where its files are to be. */
type FileRequest = Pick<LoadRequest, "table" | "finalDirectory" | "sequence">;

export interface FinalFile {
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
 * Creates a table and fills it from its staged parts: per ID range one sorted Parquet file, and from that file the rows
 * of the DuckDB table, so both hold the same. Memory holds one range.
 * Throws `verify.failed` when rows went missing on the way.
 */
export async function loadTable(connection: DuckDBConnection, request: LoadRequest): Promise<LoadedTable> {
  const { ranges, replacedRows } = await sourceOf(connection, request);
  const files = await writeRanges(connection, request, ranges);
  await createTable(connection, request.table, await longTextsIn(connection, request, files));
  await insertFiles(connection, request, files);
  let duplicateKeys = 0;
  for (const file of files) duplicateKeys += await duplicateKeysIn(connection, request, file);
  return accounted({
    table: request.table.name,
    files,
    stagedRows: sumOfRows(request.parts),
    replacedRows,
    duplicateKeys,
  });
}

/**
 * Writes the Parquet files of tables that SQL steps filled, sorted and in ranges as `loadTable` does: a file at a time
 * on each connection.
 */
export async function exportTables(
  connections: Connections,
  { tables, bounds, beside, ...place }: ExportRequest,
): Promise<LoadedTable[]> {
  const exports = tables.flatMap((table) =>
    rangesOf(boundsFor(table, bounds)).map(
      (range, number): ExportJob =>
        (connection) =>
          exportRange(connection, { ...place, table }, number, range),
    ),
  );
  if (beside !== undefined) {
    exports.unshift(async (connection) => {
      await beside(connection);
      return [];
    });
  }
  const written = (await inParallel(connections, exports, (connection, job) => job(connection))).flat();
  return inParallel(connections, tables, async (connection, table) => {
    const own = written.filter((range) => range.table === table);
    const files = own.map(({ file }) => file);
    return accounted({
      table: table.name,
      files: await atLeastOne(connection, { ...place, table }, files),
      stagedRows: await scalar(connection, `SELECT count(*) FROM ${quoteIdentifier(table.name)}`),
      replacedRows: 0,
      duplicateKeys: own.reduce((sum, range) => sum + range.duplicateKeys, 0),
    });
  });
}

interface ExportedRange {
  readonly table: Table;
  readonly file: FinalFile;
  readonly duplicateKeys: number;
}

/** Takes one of the connections. None: the range has no rows. */
type ExportJob = (connection: DuckDBConnection) => Promise<ExportedRange[]>;

async function exportRange(
  connection: DuckDBConnection,
  request: FileRequest,
  number: number,
  range: Range,
): Promise<ExportedRange[]> {
  const { table } = request;
  const { conditions, params } = rangeConditions(table, range);
  const text = `SELECT ${parquetColumns(table)} FROM ${quoteIdentifier(table.name)}${whereClause(conditions)}`;
  const [file] = await writeRange(connection, request, number, { text, params });
  return file ? [{ table, file, duplicateKeys: await duplicateKeysIn(connection, request, file) }] : [];
}

/** The rows of each range, valid until the next is asked for. Undefined: it has none. */
type RowsOfRanges = AsyncIterable<Query | undefined> | Iterable<Query | undefined>;

async function sourceOf(
  connection: DuckDBConnection,
  { table, parts, bounds }: LoadRequest,
): Promise<{ readonly ranges: RowsOfRanges; readonly replacedRows: number }> {
  if (table.stage !== "pooled") {
    const ranges = rangesOf(boundsFor(table, bounds));
    return { ranges: stagedRanges(connection, { table, parts }, ranges), replacedRows: 0 };
  }
  const ranges = rangesOf(await pooledBounds(connection, table, parts));
  return {
    ranges: ranges.map((range) => pooledRows(table, parts, range)),
    replacedRows: await repeatedRows(connection, table, parts),
  };
}

/** One sorted file per range that has rows; at least one file. */
async function writeRanges(
  connection: DuckDBConnection,
  request: FileRequest,
  ranges: RowsOfRanges,
): Promise<readonly FinalFile[]> {
  const files: FinalFile[] = [];
  let number = -1;
  for await (const rows of ranges) {
    number += 1;
    if (rows !== undefined) files.push(...(await writeRange(connection, request, number, rows)));
  }
  return atLeastOne(connection, request, files);
}

/** A sorted file; none where there are no rows. */
async function writeRange(
  connection: DuckDBConnection,
  request: FileRequest,
  number: number,
  rows: Query,
): Promise<FinalFile[]> {
  const text = `SELECT * FROM (${rows.text}) ORDER BY ${keyColumns(request.table)}`;
  const file = await writeFile(connection, request, number, { text, params: rows.params });
  if (file.rows > 0) return [file];
  await rm(join(request.finalDirectory, file.path));
  return [];
}

async function atLeastOne(
  connection: DuckDBConnection,
  request: FileRequest,
  files: readonly FinalFile[],
): Promise<readonly FinalFile[]> {
  if (files.length > 0) return files;
  const nothing = { text: `SELECT ${emptyColumns(request.table)} WHERE false`, params: [] };
  return [await writeFile(connection, request, 0, nothing)];
}

async function writeFile(
  connection: DuckDBConnection,
  { table, sequence, finalDirectory }: FileRequest,
  number: number,
  query: Query,
): Promise<FinalFile> {
  const path = parquetPath(table.name, sequence, number);
  return { path, rows: await writeParquet(connection, { table, query, file: join(finalDirectory, path) }) };
}

/** Columns whose texts are long on average, in some file: items of old may have had no bodies. */
async function longTextsIn(
  connection: DuckDBConnection,
  { finalDirectory }: FileRequest,
  files: readonly FinalFile[],
): Promise<ReadonlySet<string>> {
  const list = files.map(({ path }) => quoteLiteral(exactPattern(join(finalDirectory, path)))).join(", ");
  const rows = await all(
    connection,
    `SELECT path_in_schema AS name FROM parquet_metadata([${list}]) WHERE type = 'BYTE_ARRAY'
     GROUP BY name, file_name HAVING sum(total_uncompressed_size) > ${LONG_TEXT_BYTES} * sum(num_values)`,
  );
  return new Set(rows.map(({ name }) => String(name)));
}

/** All at once: whole row groups are compressed and written as they come, lesser ones wait for the checkpoint. */
async function insertFiles(
  connection: DuckDBConnection,
  { table, finalDirectory }: FileRequest,
  files: readonly FinalFile[],
): Promise<void> {
  const source = readParquet(files.map(({ path }) => join(finalDirectory, path)));
  await execute(
    connection,
    `INSERT INTO ${quoteIdentifier(table.name)} SELECT ${duckdbColumns(table)} FROM ${source}`,
  );
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

/**
 * All rows of a key lie in one file, each holding a range of its first column, and beside each other, for it is sorted:
 * so a look at each row and the two before it tells, where a table of all keys would take ten times as long.
 */
async function duplicateKeysIn(
  connection: DuckDBConnection,
  { table, finalDirectory }: FileRequest,
  file: FinalFile,
): Promise<number> {
  if (file.rows < 2) return 0;
  const keys = `SELECT hash(${keyColumns(table)}) AS key FROM ${readParquet([join(finalDirectory, file.path)])}`;
  const before = "lag(key) OVER () AS first, lag(key, 2) OVER () AS second";
  return scalar(
    connection,
    `SELECT count(*) FILTER (key = first AND key IS DISTINCT FROM second) FROM (SELECT key, ${before} FROM (${keys}))`,
  );
}
