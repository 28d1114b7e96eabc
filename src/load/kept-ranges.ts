/**
 * ID ranges that the files of a table keep from run to run, so that a file changes only where a row of its range does. One
 * that has grown beyond twice its size is cut anew; without a run before, all are.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, scalar } from "../storage/duckdb.ts";
import {
  type IdRange,
  type RangeBounds,
  rangeConditions,
  rangesOf,
  whereClause,
} from "../storage/id-ranges.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import { filesOf, openTables, type PublishedFiles, sourceOf } from "../warehouse/published-tables.ts";

/** Bounds by table. The first range is open below, whatever its bound. */
export type BoundsByTable = ReadonlyMap<string, RangeBounds>;

/** A range keeps its bounds until it has more than so many times what it is cut to. */
export const GROWTH = 2;

/**
 * Bounds of the files that a published run has of these tables: the least key of each. Throws where a file cannot be
 * read, or where they are not in order.
 */
export async function boundsIn(
  published: PublishedFiles,
  tables: readonly Table[],
  temporaryDirectory: string,
): Promise<BoundsByTable> {
  const files = new Map(tables.map((table) => [table, filesOf(published, table.name)]));
  const bounds = new Map<string, string[]>();
  for (const [table, { length }] of files) if (length > 0) bounds.set(table.name, [""]);
  if ([...files.values()].every(({ length }) => length <= 1)) return bounds;
  const limits = { temporaryDirectory, memoryLimitMb: 128, threads: 1 };
  await using database = await openTables({ ...sourceOf(published), database: undefined }, limits);
  for (const [table, [, ...others]] of files) {
    for (const file of others) bounds.get(table.name)?.push(await firstKey(database.connection, table, file));
    rangesOf(bounds.get(table.name) ?? []);
  }
  return bounds;
}

async function firstKey(connection: DuckDBConnection, table: Table, file: string): Promise<string> {
  const key = quoteIdentifier(table.key[0] ?? "");
  const [row] = await all(connection, `SELECT ${key} AS key FROM ${readParquet([file])} LIMIT 1`);
  return String(row?.key ?? "");
}

/** Rows that are cut into ranges by the first column of their table's key. */
interface RangedRows {
  readonly table: Table;
  /** What stands after FROM. */
  readonly source: string;
  readonly rowsPerRange: number;
}

/** These bounds, and those of the ranges that have more than twice `rowsPerRange` by now. */
export async function keptBounds(
  connection: DuckDBConnection,
  rows: RangedRows,
  before: RangeBounds,
): Promise<RangeBounds> {
  const kept: string[] = [];
  for (const [place, range] of rangesOf(before).entries()) {
    const { conditions, params } = rangeConditions(rows.table, range);
    const count = `SELECT count(*) FROM ${rows.source}${whereClause(conditions)}`;
    const isTooLarge = (await scalar(connection, count, params)) > GROWTH * rows.rowsPerRange;
    const cuts = isTooLarge ? await boundsByRows(connection, rows, range) : [];
    kept.push(before[place] ?? "", ...cuts.slice(1));
  }
  return kept;
}

/** Bounds of the ranges of about `rowsPerRange` in a range. */
export async function boundsByRows(
  connection: DuckDBConnection,
  { table, source, rowsPerRange }: RangedRows,
  range: IdRange,
): Promise<RangeBounds> {
  const key = quoteIdentifier(table.key[0] ?? "");
  const { conditions, params } = rangeConditions(table, range);
  const numbered = `SELECT ${key} AS bound, row_number() OVER (ORDER BY ${key}) - 1 AS place FROM ${source}${whereClause(conditions)}`;
  const bounds = await all(
    connection,
    `SELECT DISTINCT bound FROM (${numbered}) WHERE place % ${rowsPerRange} = 0 ORDER BY bound`,
    params,
  );
  return bounds.map((row) => String(row.bound));
}
