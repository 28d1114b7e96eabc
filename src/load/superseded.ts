import { type DuckDBConnection, listValue } from "@duckdb/node-api";
import { execute, figure } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";

/** Name of the table that `createSuperseded` makes. */
export const SUPERSEDED = "superseded";
const BATCH = 10_000;

/**
 * Makes the temporary table, which belongs to the connection, of the latest generation of each item that was done anew:
 * rows of earlier generations of these items do not count.
 */
export async function createSuperseded(
  connection: DuckDBConnection,
  latest: ReadonlyMap<string, number>,
): Promise<void> {
  const name = quoteIdentifier(SUPERSEDED);
  await execute(
    connection,
    `CREATE TEMP TABLE ${name} (content_id VARCHAR NOT NULL, generation INTEGER NOT NULL)`,
  );
  const entries = [...latest];
  for (let start = 0; start < entries.length; start += BATCH) {
    const batch = entries.slice(start, start + BATCH);
    const ids = listValue(batch.map(([id]) => id));
    const generations = listValue(batch.map(([, generation]) => generation));
    const values = "SELECT unnest($1::VARCHAR[]), unnest($2::INTEGER[])";
    await execute(connection, `INSERT INTO ${name} ${values}`, [ids, generations]);
  }
}

/** Condition on rows of `part`, which are of this generation: a later one of their item exists. */
export function isSuperseded(table: string, generation: number): string {
  const later = `later.content_id = part.content_id AND later.generation > ${Math.trunc(generation)}`;
  return `EXISTS (FROM ${quoteIdentifier(table)} later WHERE ${later})`;
}

/** Number of rows in staged files of one generation that later generations replace. */
export async function countSuperseded(
  connection: DuckDBConnection,
  table: string,
  generation: number,
  files: readonly string[],
): Promise<number> {
  return figure(
    connection,
    `SELECT count(*) FROM ${readParquet(files)} part WHERE ${isSuperseded(table, generation)}`,
  );
}
