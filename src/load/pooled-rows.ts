import type { DuckDBConnection } from "@duckdb/node-api";
import { keyColumns, parquetColumns } from "../storage/ddl.ts";
import { all, scalar } from "../storage/duckdb.ts";
import { type Bounds, type Range, rangeConditions, whereClause } from "../storage/id-ranges.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import type { Query } from "../storage/query.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { StagedPart } from "../storage/staged-part.ts";
import type { Table } from "../tables/declare.ts";

/** Rows of a `pooled` table: staged once per mention, kept once per key. */

const ROWS_PER_RANGE = 50_000;
const UPDATED_AT = "updated_at";

/** Bounds of ranges of about 50,000 staged rows, so that choosing among the rows of a key has bounded memory. */
export async function pooledBounds(
  connection: DuckDBConnection,
  table: Table,
  parts: readonly StagedPart[],
): Promise<Bounds> {
  if (parts.length === 0) return [];
  const key = quoteIdentifier(table.key[0] ?? "");
  const numbered = `SELECT ${key} AS bound, row_number() OVER (ORDER BY ${key}) - 1 AS place FROM ${source(parts)}`;
  const bounds = `SELECT DISTINCT bound FROM (${numbered}) WHERE place % ${ROWS_PER_RANGE} = 0 ORDER BY bound`;
  return (await all(connection, bounds)).map((row) => String(row.bound));
}

/**
 * One row per key: of the latest `updated_at` where the table has it, then the first in the order of the columns, so
 * that the same rows always give the same choice.
 */
export function pooledRows(table: Table, parts: readonly StagedPart[], range: Range): Query | undefined {
  if (parts.length === 0) return undefined;
  const { conditions, params } = rangeConditions(table, range);
  const choice = `row_number() OVER (PARTITION BY ${keyColumns(table)} ORDER BY ${preference(table)}) = 1`;
  const text = `SELECT ${parquetColumns(table)} FROM ${source(parts)}${whereClause(conditions)} QUALIFY ${choice}`;
  return { text, params };
}

function preference(table: Table): string {
  const names = table.columns.map((column) => column.name);
  const newest = names.includes(UPDATED_AT) ? [`${quoteIdentifier(UPDATED_AT)} DESC NULLS LAST`] : [];
  return [...newest, ...names.map(quoteIdentifier)].join(", ");
}

/** Number of staged rows that another row of their key stands for. */
export async function repeatedRows(
  connection: DuckDBConnection,
  table: Table,
  parts: readonly StagedPart[],
): Promise<number> {
  if (parts.length === 0) return 0;
  const rows = `SELECT count(*) AS mentions FROM ${source(parts)} GROUP BY ${keyColumns(table)}`;
  return scalar(connection, `SELECT coalesce(sum(mentions - 1), 0) FROM (${rows})`);
}

function source(parts: readonly StagedPart[]): string {
  return readParquet(parts.map((part) => part.file));
}
