/** SQL of questions: loads its files, fills temporary tables, and reads long lists. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { type AnswerColumns, type AnswerRow, col } from "../common/answer.ts";
import { all, execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral, sqlSteps } from "../storage/sql-text.ts";
import { readRows, streamRows } from "../storage/typed-rows.ts";
import { VALUE_KIND, WITHOUT_EXTERNAL_VALUE } from "./mapped-value.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

/** Loads a SQL file, with the kind of a value and the kinds of missing values in place of their marks. */
export function loadSql(step: string): string {
  return fillMarks(steps(step), {
    value_kind: VALUE_KIND,
    without_external_value: WITHOUT_EXTERNAL_VALUE.map(quoteLiteral).join(", "),
  });
}

/** Creates or replaces a temporary table of this connection from a query. */
export async function createTempTable(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  params: readonly DuckDBValue[] = [],
): Promise<void> {
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${sql}`, params);
}

/** Fills a temporary table with one query per range; the first range creates it. */
export async function fillTempTable(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  { index, params }: { readonly index: number; readonly params: readonly DuckDBValue[] },
): Promise<void> {
  if (index === 0) return createTempTable(connection, name, sql, params);
  await execute(connection, `INSERT INTO ${quoteIdentifier(name)} BY NAME ${sql}`, params);
}

/** Rows of a list held in memory; the rest is streamed. */
const LIST_ROWS_IN_MEMORY = 1000;

/** Reads the first rows of a list and its size. `every` streams all rows. */
export async function readList<C extends AnswerColumns, R>(
  connection: DuckDBConnection,
  columns: C,
  sql: string,
  toRow: (row: AnswerRow<C>) => R,
) {
  const rows = await readRows(connection, columns, `${sql} LIMIT ${LIST_ROWS_IN_MEMORY}`);
  const [size] = await readRows(
    connection,
    { rows: col.count({ required: true }) },
    `SELECT count(*) AS rows FROM (${sql})`,
  );
  return {
    rows: rows.map(toRow),
    total: size?.rows,
    every: async function* () {
      for await (const some of streamRows(connection, columns, sql)) yield some.map(toRow);
    },
  };
}

const ITEM_BOUNDS = `
  WITH sizes AS (
    SELECT
      (SELECT count(*) FROM content) AS items,
      greatest((SELECT count(*) FROM content_mapped_values), (SELECT count(*) FROM content_custom_field_values)) AS size
  )
  SELECT content_id
  FROM (SELECT content_id, row_number() OVER (ORDER BY content_id) - 1 AS place FROM content), sizes
  WHERE size > $1 AND place % ceil(items / ceil(size / $1)) = 0
  ORDER BY content_id`;

/**
 * Bounds of ranges of items with about `rowsPerRange` mapped values each, by the averages of the run. Empty: one
 * range.
 */
export async function itemBounds(connection: DuckDBConnection, rowsPerRange: number): Promise<string[]> {
  const rows = await all(connection, ITEM_BOUNDS, [rowsPerRange]);
  return rows.map((row) => String(row.content_id));
}
