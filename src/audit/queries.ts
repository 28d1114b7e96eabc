import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { type AnswerColumns, type AnswerRow, col } from "../common/answer.ts";
import { execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, sqlSteps } from "../storage/sql-text.ts";
import { readRows, streamRows } from "../storage/typed-rows.ts";
import { WITHOUT_EXTERNAL_VALUE_SQL } from "./mapped-value.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

/** Text of a step of a question, as those of the load have it, with the statuses without an external value in it. */
export function loadSql(step: string): string {
  return fillMarks(steps(step), { without_external_value: WITHOUT_EXTERNAL_VALUE_SQL });
}

/** Makes a table of the rows of a query, on this connection alone, in the place of one that is there. */
export async function createTempTable(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  params: readonly DuckDBValue[] = [],
): Promise<void> {
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${sql}`, params);
}

/** Makes a table of the rows of several queries, one for each range: the first makes it anew. */
export async function fillTempTable(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  { index, params }: { readonly index: number; readonly params: readonly DuckDBValue[] },
): Promise<void> {
  if (index === 0) return createTempTable(connection, name, sql, params);
  await execute(connection, `INSERT INTO ${quoteIdentifier(name)} BY NAME ${sql}`, params);
}

/** Rows of a list that an answer has at once; those after them come as they are asked for. */
const LIST_ROWS_IN_MEMORY = 1000;

/** The first rows of a list, all of them as they come, and their number. */
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
