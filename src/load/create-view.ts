import type { DuckDBConnection } from "@duckdb/node-api";
import { execute } from "../storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import type { Column, Table } from "../tables/declare.ts";

export interface CreateView {
  readonly view: Table;
  readonly sql: string;
  /** Columns that only this run's view has. */
  readonly further?: readonly Pick<Column, "name" | "comment">[];
}

/** Creates or replaces a view, with its comments. By the tables of its pipeline it may lack some of the declared columns. */
export async function createView(
  connection: DuckDBConnection,
  { view, sql, further = [] }: CreateView,
): Promise<void> {
  const name = quoteIdentifier(view.name);
  await execute(connection, `CREATE OR REPLACE VIEW ${name} AS ${sql}`);
  const has = new Set((await connection.runAndReadAll(`SELECT * FROM ${name} LIMIT 0`)).columnNames());
  const columns = [...view.columns, ...further].filter((column) => has.has(column.name));
  // In one text: on its own, each would go to the engine in several steps.
  const comments = columns.map((column) => {
    const comment = quoteLiteral(column.comment.replaceAll("\0", "\uFFFD"));
    return `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${comment}`;
  });
  comments.unshift(`COMMENT ON VIEW ${name} IS ${quoteLiteral(view.comment)}`);
  await execute(connection, comments.join(";\n"));
}
