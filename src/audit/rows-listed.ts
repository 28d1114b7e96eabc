/** Lists of an answer that may be long. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Columns, col, type RowOf } from "../common/answer.ts";
import { rowsBy, streamBy } from "../storage/rows-by.ts";

/** Rows of a list that an answer has at once; those after them come as they are asked for. */
const ROWS_HELD = 1000;

export interface ListRequest {
  readonly connection: DuckDBConnection;
  /** Rows of each list; undefined: all. */
  readonly limit: number | undefined;
}

/** The first rows of a list, all of them as they come, and their number. */
export async function listOf<C extends Columns, R>(
  { connection, limit }: ListRequest,
  columns: C,
  sql: string,
  toRow: (row: RowOf<C>) => R,
) {
  const first = `${sql} LIMIT ${Math.min(limit ?? ROWS_HELD, ROWS_HELD)}`;
  const rows = await rowsBy(connection, columns, first);
  const [size] = await rowsBy(
    connection,
    { rows: col.count({ required: true }) },
    `SELECT count(*) AS rows FROM (${sql})`,
  );
  return {
    ...(limit === undefined ? {} : { limit, all: `--limit ${size?.rows}` }),
    rows: rows.map(toRow),
    total: size?.rows,
    every: async function* () {
      for await (const some of streamBy(
        connection,
        columns,
        limit === undefined ? sql : `${sql} LIMIT ${limit}`,
      ))
        yield some.map(toRow);
    },
  };
}
