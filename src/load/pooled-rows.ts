import type { DuckDBConnection } from "@duckdb/node-api";
import { keyColumns, parquetColumns } from "../storage/ddl.ts";
import { all, scalar } from "../storage/duckdb.ts";
import { rangeConditions, rangesOf, whereClause } from "../storage/id-ranges.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import type { Query } from "../storage/query.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { StagedPart } from "../storage/staged-part.ts";
import type { Table } from "../tables/declare.ts";

/** Rows of a `pooled` table: staged once per mention, kept once per key. */

const ROWS_PER_RANGE = 50_000;
const UPDATED_AT = "updated_at";

/** The rows of a table whose key more than one row may have, range by range. */
export interface PooledRows {
  readonly ranges: readonly Query[];
  /** Number of staged rows that another row of their key stands for. */
  readonly replacedRows: number;
}

/**
 * One row per key: of the latest `updated_at` where the table has it, then the first in the order of the columns, so
 * that the same rows always give the same choice. In ranges of about 50,000 staged rows, so that it has bounded memory.
 */
export async function pooledRows(
  connection: DuckDBConnection,
  table: Table,
  parts: readonly StagedPart[],
): Promise<PooledRows> {
  if (parts.length === 0) return { ranges: [], replacedRows: 0 };
  const source = readParquet(parts.map((part) => part.file));
  const first = quoteIdentifier(table.key[0] ?? "");
  const numbered = `SELECT ${first} AS bound, row_number() OVER (ORDER BY ${first}) - 1 AS place FROM ${source}`;
  const bounds = await all(
    connection,
    `SELECT DISTINCT bound FROM (${numbered}) WHERE place % ${ROWS_PER_RANGE} = 0 ORDER BY bound`,
  );
  const choice = `row_number() OVER (PARTITION BY ${keyColumns(table)} ORDER BY ${preference(table)}) = 1`;
  const ranges = rangesOf(bounds.map((row) => String(row.bound))).map((range): Query => {
    const { conditions, params } = rangeConditions(table, range);
    const rows = `SELECT ${parquetColumns(table)} FROM ${source}${whereClause(conditions)}`;
    return { text: `${rows} QUALIFY ${choice}`, params };
  });
  const mentions = `SELECT count(*) AS mentions FROM ${source} GROUP BY ${keyColumns(table)}`;
  const repeated = `SELECT coalesce(sum(mentions - 1), 0) FROM (${mentions})`;
  return { ranges, replacedRows: await scalar(connection, repeated) };
}

function preference(table: Table): string {
  const names = table.columns.map((column) => column.name);
  const newest = names.includes(UPDATED_AT) ? [`${quoteIdentifier(UPDATED_AT)} DESC NULLS LAST`] : [];
  return [...newest, ...names.map(quoteIdentifier)].join(", ");
}
