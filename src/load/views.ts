/** Creates the views and macros of a warehouse. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { MAPPED_FROM, MAPPED_VALUE_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import {
  contentMappedWide,
  contentWide,
  MACRO_NAMES,
  mappedValueIntervals,
  mappingCoverageView,
} from "../tables/views.ts";
import { distinctColumnNames } from "./column-names.ts";
import { type FieldTextLimits, fillFieldTexts, wideColumns } from "./content-wide.ts";
import { historySql, loadSql } from "./load-sql.ts";

/** Column of a wide view for a custom field or an external field of the run. */
interface FieldColumn {
  readonly name: string;
  /** SQL of its value. */
  readonly expression: string;
  readonly comment: string;
}

/** Tables that the views of mapped values read. */
export const TABLES_OF_VIEWS: readonly string[] = [
  "content",
  ...MAPPED_FROM,
  ...MAPPED_VALUE_TABLES.map(({ name }) => name),
];

export function hasViews(tables: ReadonlySet<string>): boolean {
  return TABLES_OF_VIEWS.every((name) => tables.has(name));
}

/** Creates the views and macros whose tables the database has. */
export async function createViewsAndMacros(
  connection: DuckDBConnection,
  tables: ReadonlySet<string>,
): Promise<void> {
  if (hasViews(tables)) await createViews(connection);
  if (tables.has("mapped_value_history")) await createHistoryMacros(connection);
}

/** Creates or replaces the views of mapped values, with their comments. */
export async function createViews(connection: DuckDBConnection, limits?: FieldTextLimits): Promise<void> {
  const join = await fillFieldTexts(connection, limits);
  await createWideView(connection, contentWide, await wideColumns(connection), { join });
  await createWideView(connection, contentMappedWide, await externalFieldColumns(connection));
  const coverage = fillMarks(loadSql("view_mapping_coverage"), {
    mapping_targets: loadSql("mapping_targets"),
    mapping_answers: loadSql("mapping_answers"),
  });
  await createView(connection, mappingCoverageView, coverage);
}

async function createWideView(
  connection: DuckDBConnection,
  view: Table,
  columns: readonly FieldColumn[],
  marks: Readonly<Record<string, string>> = {},
): Promise<void> {
  const selected = columns.map(({ name, expression }) => `, ${expression} AS ${quoteIdentifier(name)}`);
  const sql = fillMarks(loadSql(`view_${view.name}`), { ...marks, columns: selected.join("\n  ") });
  await createView(connection, view, sql, columns);
}

/** Columns of `content_mapped_wide`, one for each external field name. */
async function externalFieldColumns(connection: DuckDBConnection): Promise<FieldColumn[]> {
  const fields = await all(
    connection,
    `SELECT external_field_name AS name, string_agg(DISTINCT destination_id, ', ' ORDER BY destination_id) AS destinations
     FROM (${loadSql("mapping_targets")})
     WHERE external_field_name IS NOT NULL
     GROUP BY external_field_name
     ORDER BY external_field_name`,
  );
  const names = distinctColumnNames(
    fields.map(({ name }, index) => ({ name: String(name), tags: [String(index + 1)] })),
    contentMappedWide.columns.map(({ name }) => name),
  );
  return fields.map(({ name, destinations }, index) => ({
    name: names[index] ?? "",
    expression: `payloads.members[${literal(String(name))}]`,
    comment: `External field ${name} of destination ${destinations}.`,
  }));
}

/** Any text as SQL: a literal cannot hold a NUL character. */
function literal(text: string): string {
  return text.split("\0").map(quoteLiteral).join(" || chr(0) || ");
}

/** Creates or replaces a view with its comments. Without some tables of the pipeline, it lacks declared columns. */
async function createView(
  connection: DuckDBConnection,
  view: Table,
  sql: string,
  fieldColumns: readonly FieldColumn[] = [],
): Promise<void> {
  const name = quoteIdentifier(view.name);
  await execute(connection, `CREATE OR REPLACE VIEW ${name} AS ${sql}`);
  const has = new Set((await connection.runAndReadAll(`SELECT * FROM ${name} LIMIT 0`)).columnNames());
  const columns = [...view.columns, ...fieldColumns].filter((column) => has.has(column.name));
  const comments = columns.map((column) => {
    const comment = quoteLiteral(column.comment.replaceAll("\0", "\uFFFD"));
    return `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${comment}`;
  });
  comments.unshift(`COMMENT ON VIEW ${name} IS ${quoteLiteral(view.comment)}`);
  // One text for all comments: the engine takes several steps for each text.
  await execute(connection, comments.join(";\n"));
}

/** SQL of the view `mapped_value_intervals`. */
export function intervalsSql(): string {
  return historySql(`view_${mappedValueIntervals.name}`);
}

/** Creates or replaces the view and the macros over the tables of the history. */
export async function createHistoryMacros(connection: DuckDBConnection): Promise<void> {
  await createView(connection, mappedValueIntervals, intervalsSql());
  for (const name of MACRO_NAMES) await execute(connection, historySql(`macro_${name}`));
}
