/** SQL of questions: loads its files, fills temporary tables, and reads long lists. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { type AnswerColumns, type AnswerRow, col } from "../common/answer.ts";
import { execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral, sqlSteps } from "../storage/sql-text.ts";
import { readRows, streamRows } from "../storage/typed-rows.ts";
import { WITHOUT_EXTERNAL_VALUE } from "./mapped-value.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

/** Loads a SQL file, with the statuses without an external value in place of their mark. */
export function loadSql(step: string): string {
  return fillMarks(steps(step), {
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
