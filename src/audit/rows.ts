/** Tables that a question makes beside those of a run. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { execute } from "../storage/duckdb.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";

/** Makes a table of the rows of a query, on this connection alone, in the place of one that is there. */
export async function keep(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  params: readonly DuckDBValue[] = [],
): Promise<void> {
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${sql}`, params);
}

/** Makes a table of the rows of several queries, one for each range: the first makes it anew. */
export async function keepRange(
  connection: DuckDBConnection,
  name: string,
  sql: string,
  { index, params }: { readonly index: number; readonly params: readonly DuckDBValue[] },
): Promise<void> {
  if (index === 0) return keep(connection, name, sql, params);
  await execute(connection, `INSERT INTO ${quoteIdentifier(name)} BY NAME ${sql}`, params);
}
