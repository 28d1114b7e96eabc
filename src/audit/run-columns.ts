/** The columns of a published run's tables and views, with what each means. */
import { listValue } from "@duckdb/node-api";
import { type AnswerRow, col } from "../common/answer.ts";
import { PUBLISHED_CATALOG } from "../storage/duckdb.ts";
import { readRows } from "../storage/typed-rows.ts";
import { openTables, type PublishedFiles, sourceOf } from "../warehouse/published-tables.ts";
import { LIMITS } from "./open-run.ts";

const required = { required: true } as const;

const DESCRIBED = {
  table: col.name(required),
  column: col.name(required),
  type: col.name(required),
  comment: col.text(),
} as const;
export type Described = AnswerRow<typeof DESCRIBED>;

/** Of a published run's tables and views, as its database has them; none where it was published as Parquet files alone. */
export async function readPublishedColumns(
  run: PublishedFiles,
  temporaryDirectory: string,
): Promise<Described[]> {
  const source = sourceOf(run, { isQuestioned: true });
  if (source.database === undefined) return [];
  await using database = await openTables(source, { temporaryDirectory, ...LIMITS });
  const tables = listValue(Object.keys(run.manifest.rows));
  return await readRows(database.connection, DESCRIBED, IN_DATABASE, [tables]);
}

const IN_DATABASE = `
  SELECT c.table_name AS "table", column_name AS "column",
    replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type, c.comment
  FROM duckdb_columns() AS c
  LEFT JOIN duckdb_views() AS v ON v.database_name = c.database_name AND view_name = c.table_name
  WHERE c.database_name = '${PUBLISHED_CATALOG}' AND (list_contains($1, c.table_name) OR view_name IS NOT NULL)
  ORDER BY view_name IS NOT NULL, c.table_name, column_index`;
