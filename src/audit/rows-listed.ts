/** Lists of an answer that may be long. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerColumns, type AnswerRow, col } from "../common/answer.ts";
import { readRows, streamRows } from "../storage/typed-rows.ts";

/** Rows of a list that an answer has at once; those after them come as they are asked for. */
const ROWS_HELD = 1000;

/** The first rows of a list, all of them as they come, and their number. */
export async function listOf<C extends AnswerColumns, R>(
  connection: DuckDBConnection,
  columns: C,
  sql: string,
  toRow: (row: AnswerRow<C>) => R,
) {
  const rows = await readRows(connection, columns, `${sql} LIMIT ${ROWS_HELD}`);
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
