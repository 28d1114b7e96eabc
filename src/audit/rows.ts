/** Rows of a run's tables, parsed into plain values, and tables that a question makes beside them. */
import {
  type DuckDBConnection,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from "@duckdb/node-api";
import { z } from "zod";
import { all, execute, toSafeInteger } from "../storage/duckdb.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";

/** An integer of any width, as a number. */
export const integer = z.union([z.int(), z.bigint()]).transform(toSafeInteger);
/** NULL is false. */
export const flag = z
  .boolean()
  .nullable()
  .transform((value) => value === true);
export const instant = z
  .instanceof(DuckDBTimestampTZValue)
  .transform(({ micros }) => new Date(Number(micros / 1000n)));
export const textList = z.instanceof(DuckDBListValue).transform(({ items }) => items.map(String));

/** Rows of a query by a schema that names columns in camel case: `contentId` is the column `content_id`. */
export async function rowsOf<S extends z.ZodObject>(
  connection: DuckDBConnection,
  schema: S,
  sql: string,
  params: readonly DuckDBValue[] = [],
): Promise<Readonly<z.output<S>>[]> {
  const rows = await all(connection, sql, params);
  return rows.map((row) => {
    const cells = Object.entries(row).map(([name, cell]) => [camelCase(name), cell] as const);
    return schema.parse(Object.fromEntries(cells));
  });
}

function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

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
