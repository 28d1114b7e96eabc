/** Staged rows of a table: writes rows of this thread into parts, and reads the parts of an item table by ID range. */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { compareUtf8 } from "../common/utf8-order.ts";
import { parquetColumns } from "../storage/ddl.ts";
import { type SqlQuery, scalar } from "../storage/duckdb.ts";
import { type IdRange, rangeConditions, whereClause } from "../storage/id-ranges.ts";
import { PartWriter, type StagedPart } from "../storage/parquet-file.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";

export interface StagedTable {
  readonly table: Table;
  readonly parts: readonly StagedPart[];
}

/** Rows made on this thread. Many rows come as a generator, so that they are made when they are written. */
export interface MemoryRows {
  readonly table: Table;
  readonly rows: Iterable<readonly Cell[]>;
}

/** Maximum number of rows in memory at a time. */
const ROWS_PER_PART = 5000;

/** Writes rows into parts; no rows, no part. `fileOf`: absolute path of a part, by its number from 0. */
export function stageRows({ table, rows }: MemoryRows, fileOf: (part: number) => string): StagedPart[] {
  const parts: StagedPart[] = [];
  const builder = new TableBuilder(table);
  const writer = new PartWriter();
  const write = () => {
    const file = fileOf(parts.length);
    parts.push({ file, rows: builder.rows, firstKey: "", lastKey: "" });
    builder.take((batch) => writer.write(file, batch));
  };
  for (const row of rows) {
    builder.append(row);
    if (builder.rows === ROWS_PER_PART) write();
  }
  if (builder.rows > 0) write();
  return parts;
}

/** Average number of ranges that may read a part before its rows are gathered first. */
const MAX_READS = 16;

/**
 * The rows of each range, in the order of the ranges; `undefined` for a range without rows. A query is valid until the
 * next range is asked for.
 *
 * Parts are in the order of the listing. If that order has nothing to do with IDs, each range has rows in every part, and
 * reading all parts for each range would be quadratic. Then the rows of neighbouring ranges are first copied to one file.
 */
export async function* stagedRanges(
  connection: DuckDBConnection,
  staged: StagedTable,
  ranges: readonly IdRange[],
): AsyncGenerator<SqlQuery | undefined> {
  const { table, parts } = staged;
  const reads = ranges.flatMap((range) => parts.filter((part) => overlaps(part, range)));
  if (reads.length <= MAX_READS * parts.length) {
    for (const range of ranges) yield stagedRows(table, parts, range);
    return;
  }
  // Each gathered file takes one read of all parts, and one read for each of its ranges.
  const rangesPerFile = Math.ceil(Math.sqrt(ranges.length));
  for (let first = 0; first < ranges.length; first += rangesPerFile) {
    const neighbours = ranges.slice(first, first + rangesPerFile);
    const span = { lower: neighbours[0]?.lower, upper: neighbours.at(-1)?.upper };
    const rows = stagedRows(table, parts, span);
    const gathered = rows && (await gather(connection, staged, rows));
    for (const range of neighbours) yield gathered && stagedRows(table, [gathered], range);
    if (gathered !== undefined) await rm(gathered.file);
  }
}

/** Staged rows of a range; `undefined` if no part can have any. */
function stagedRows(table: Table, staged: readonly StagedPart[], range: IdRange): SqlQuery | undefined {
  const isWhole = range.lower === undefined && range.upper === undefined;
  const parts = isWhole ? staged : staged.filter((part) => overlaps(part, range));
  if (parts.length === 0) return undefined;
  return rowsInRange(table, readParquet(parts.map(({ file }) => file)), range);
}

/** Query for the rows of `source` in a range, in any order, with the columns of the final Parquet files. */
export function rowsInRange(table: Table, source: string, range: IdRange): SqlQuery {
  const { conditions, params } = rangeConditions(table, range);
  return { text: `SELECT ${parquetColumns(table)} FROM ${source}${whereClause(conditions)}`, params };
}

/** Copies rows of the parts to a part beside them, in any order: to keep their order would take memory. */
async function gather(
  connection: DuckDBConnection,
  { table, parts }: StagedTable,
  rows: SqlQuery,
): Promise<StagedPart> {
  const file = join(dirname(parts[0]?.file ?? ""), `${table.name}-gathered.parquet`);
  const options = "FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 2048, PRESERVE_ORDER false";
  const copy = `COPY (${rows.text}) TO ${quoteLiteral(file)} (${options})`;
  const firstKey = parts.map((part) => part.firstKey).reduce((a, b) => (compareUtf8(a, b) <= 0 ? a : b));
  const lastKey = parts.map((part) => part.lastKey).reduce((a, b) => (compareUtf8(a, b) >= 0 ? a : b));
  return { file, rows: await scalar(connection, copy, rows.params), firstKey, lastKey };
}

/** Whether some key of a part may lie in the range. */
function overlaps({ firstKey, lastKey }: StagedPart, { lower, upper }: IdRange): boolean {
  if (upper !== undefined && compareUtf8(firstKey, upper) >= 0) return false;
  return lower === undefined || compareUtf8(lastKey, lower) >= 0;
}
