/** Rows of a run's tables, parsed into plain values. */
import {
  type DuckDBConnection,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from "@duckdb/node-api";
import { z } from "zod";
import { all, toSafeInteger } from "../storage/duckdb.ts";

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
