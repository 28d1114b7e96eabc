/** The columns of a run's tables and views, with what each means and where it comes from. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, listValue } from "@duckdb/node-api";
import { col, type RowOf } from "../common/answer.ts";
import { PARQUET_TYPES } from "../storage/ddl.ts";
import { PUBLISHED_CATALOG } from "../storage/duckdb.ts";
import { declarationsIn } from "../storage/parquet-metadata.ts";
import { rowsBy } from "../storage/rows-by.ts";
import { TABLES } from "../tables/all.ts";
import type { Origin } from "../tables/declare.ts";
import { VIEWS } from "../tables/views.ts";
import { DATABASE_FILE } from "../warehouse/layout.ts";
import { openTables, type PublishedFiles, sourceOf } from "../warehouse/published-tables.ts";
import { filesIn, LIMITS } from "./open-run.ts";

const required = { required: true } as const;

const DESCRIBED = {
  table: col.name(required),
  column: col.name(required),
  type: col.name(required),
  comment: col.text(),
} as const;
export const RUN_COLUMNS = {
  ...DESCRIBED,
  /** API fields: `dynamic:title`. */
  origins: col.list(required),
} as const;
export type RunColumn = RowOf<typeof RUN_COLUMNS>;

export interface DescribedRun {
  readonly connection: DuckDBConnection;
  /** Has the files that are published. */
  readonly directory: string;
  readonly tables: readonly string[];
}

/** As the run wrote them, its pipeline's own too: tables by name, then views. */
export async function readRunColumns(run: DescribedRun): Promise<RunColumn[]> {
  const originsOf = await readOrigins(run.connection);
  // A run of Parquet files alone is built in a database that is not published, and has no views.
  const isDatabase = existsSync(join(run.directory, DATABASE_FILE));
  const columns = await (isDatabase ? inDatabase(run) : inParquet(run));
  return columns.map((each) => ({ ...each, origins: originsOf.get(`${each.table}.${each.column}`) ?? [] }));
}

export type Described = RowOf<typeof DESCRIBED>;

/** Of a published run's tables and views, as its database has them; none where it was published as Parquet files alone. */
export async function readPublishedColumns(
  run: PublishedFiles,
  temporaryDirectory: string,
): Promise<Described[]> {
  const source = sourceOf(run, { isQuestioned: true });
  if (source.database === undefined) return [];
  await using database = await openTables(source, { temporaryDirectory, ...LIMITS });
  return await inDatabase({ connection: database.connection, tables: Object.keys(run.manifest.rows) });
}

function inDatabase({ connection, tables }: Omit<DescribedRun, "directory">): Promise<Described[]> {
  return rowsBy(connection, DESCRIBED, IN_DATABASE, [listValue([...tables])]);
}

const IN_DATABASE = `
  SELECT c.table_name AS "table", column_name AS "column",
    replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type, c.comment
  FROM duckdb_columns() AS c
  LEFT JOIN duckdb_views() AS v ON v.database_name = c.database_name AND view_name = c.table_name
  WHERE c.database_name = '${PUBLISHED_CATALOG}' AND (list_contains($1, c.table_name) OR view_name IS NOT NULL)
  ORDER BY view_name IS NOT NULL, c.table_name, column_index`;

async function inParquet({ connection, directory, tables }: DescribedRun): Promise<Described[]> {
  const files = tables.toSorted().flatMap((table) => filesIn(join(directory, "parquet", table)).slice(0, 1));
  const declared = await declarationsIn(connection, files);
  return [...declared.values()].flatMap((table) =>
    (table?.columns ?? []).map(({ name, type, comment }) => {
      return { table: table?.name ?? "", column: name, type: PARQUET_TYPES[type], comment };
    }),
  );
}

const LINEAGE = {
  table: col.name(required),
  column: col.name(required),
  origins: col.list(required),
} as const;

/** As declared; what a pipeline adds is in the run's own lineage. */
async function readOrigins(connection: DuckDBConnection): Promise<Map<string, readonly string[]>> {
  const rows = await rowsBy(
    connection,
    LINEAGE,
    `SELECT table_name AS "table", column_name AS "column", list(resource || ':' || path ORDER BY resource, path) AS origins
     FROM run_lineage GROUP BY ALL`,
  );
  const declared = [...TABLES, ...VIEWS].flatMap(({ name: table, columns }) =>
    columns.map(({ name: column, origins }) => ({
      table,
      column,
      origins: origins.map(originText).toSorted(),
    })),
  );
  return new Map([...declared, ...rows].map(({ table, column, origins }) => [`${table}.${column}`, origins]));
}

function originText({ resource, path }: Origin): string {
  return `${resource}:${path}`;
}
