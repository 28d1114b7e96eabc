/**
 * The staged rows of an item table, range by range. Parts are in the order of the listing. Where that has nothing to do
 * with IDs, every part has rows of every range: so those of neighbouring ranges are first brought into one file, or ten
 * times the items would take a hundred times as long.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { compareUtf8 } from "../common/utf8-order.ts";
import { parquetColumns } from "../storage/ddl.ts";
import { type SqlQuery, scalar } from "../storage/duckdb.ts";
import { type IdRange, isBounded, overlaps, rangeConditions, whereClause } from "../storage/id-ranges.ts";
import type { StagedPart } from "../storage/parquet-file.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";

export interface StagedTable {
  readonly table: Table;
  readonly parts: readonly StagedPart[];
}

/** How often a part is read, on average, before it is worth to write its rows once more. */
const MAX_LOOKS = 16;

/** The rows of each range, in the order of the ranges: valid until the next is asked for. Undefined: it has none. */
export async function* stagedRanges(
  connection: DuckDBConnection,
  staged: StagedTable,
  ranges: readonly IdRange[],
): AsyncGenerator<SqlQuery | undefined> {
  const { table, parts } = staged;
  const looks = ranges.flatMap((range) => parts.filter((part) => overlaps(part, range)));
  if (looks.length <= MAX_LOOKS * parts.length) {
    for (const range of ranges) yield stagedRows(table, parts, range);
    return;
  }
  // All parts are looked through once for each file, and each file once for each of its ranges.
  const together = Math.ceil(Math.sqrt(ranges.length));
  for (let first = 0; first < ranges.length; first += together) {
    const neighbours = ranges.slice(first, first + together);
    const span = { lower: neighbours[0]?.lower, upper: neighbours.at(-1)?.upper };
    const rows = stagedRows(table, parts, span);
    const gathered = rows && (await gather(connection, staged, rows));
    for (const range of neighbours) yield gathered && stagedRows(table, [gathered], range);
    if (gathered !== undefined) await rm(gathered.file);
  }
}

/** Staged rows of a range, as they were staged. Undefined where no part can have a row. */
function stagedRows(table: Table, staged: readonly StagedPart[], range: IdRange): SqlQuery | undefined {
  const parts = isBounded(range) ? staged.filter((part) => overlaps(part, range)) : staged;
  if (parts.length === 0) return undefined;
  return rowsOf(table, readParquet(parts.map(({ file }) => file)), range);
}

/** What the final Parquet files have of a range of a source's rows, in any order. */
export function rowsOf(table: Table, source: string, range: IdRange): SqlQuery {
  const { conditions, params } = rangeConditions(table, range);
  return { text: `SELECT ${parquetColumns(table)} FROM ${source}${whereClause(conditions)}`, params };
}

/** Writes rows of the parts as a part beside them, in any order: to keep theirs, many would have to wait in memory. */
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
