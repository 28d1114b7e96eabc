/** Creates the views and macros of a warehouse. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type DriftEntry, type DriftItemCount, driftExample } from "../raw/drift.ts";
import { emptyColumns, tableComment } from "../storage/ddl.ts";
import { all, execute, type QueryRow, scalar } from "../storage/duckdb.ts";
import { rangesOf } from "../storage/id-ranges.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { MAPPED_FROM, MAPPED_VALUE_TABLES } from "../tables/all.ts";
import { content } from "../tables/content.ts";
import { customFieldFiles } from "../tables/custom-fields.ts";
import type { Table } from "../tables/declare.ts";
import {
  contentMappedWide,
  contentWide,
  HISTORY_VIEWS,
  MACRO_NAMES,
  mappingCoverageView,
} from "../tables/views.ts";
import { distinctColumnNames } from "./column-names.ts";
import { historySql, loadSql } from "./load-sql.ts";
import { rangeParams, rangeStarts } from "./mapped-values.ts";

/** Column of a wide view for a custom field or an external field of the run. */
interface FieldColumn {
  readonly name: string;
  /** SQL of its value. */
  readonly expression: string;
  readonly comment: string;
}

interface ViewSettings extends FieldTextLimits {
  /** Keys of `content.extra` that `content_wide` has a column for, whether or not an item has them. */
  readonly extraColumns?: readonly string[];
}

/** Tables that the views of mapped values read. */
export const TABLES_OF_VIEWS: readonly string[] = [
  "content",
  ...MAPPED_FROM,
  ...MAPPED_VALUE_TABLES.map(({ name }) => name),
];

function hasViews(tables: ReadonlySet<string>): boolean {
  return TABLES_OF_VIEWS.every((name) => tables.has(name));
}

/** Creates the views and macros whose tables the database has. `extraColumns`: see {@link ViewSettings}. */
export async function createViewsAndMacros(
  connection: DuckDBConnection,
  tables: ReadonlySet<string>,
  extraColumns: readonly string[],
): Promise<void> {
  if (hasViews(tables)) await createViews(connection, { extraColumns });
  if (tables.has("mapped_value_history")) await createHistoryMacros(connection);
}

/** Creates or replaces the views of mapped values, with their comments. */
export async function createViews(
  connection: DuckDBConnection,
  { extraColumns = [], ...limits }: ViewSettings = {},
): Promise<void> {
  const join = await fillFieldTexts(connection, limits);
  const fields = await wideColumns(connection);
  const columns = [...fields, ...columnsOfExtra(extraColumns, fields)];
  await createWideView(connection, contentWide, columns, { join });
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
  // A literal cannot hold a NUL character.
  const literal = (text: string) => text.split("\0").map(quoteLiteral).join(" || chr(0) || ");
  return fields.map(({ name, destinations }, index) => ({
    name: names[index] ?? "",
    expression: `payloads.members[${literal(String(name))}]`,
    comment: `External field ${name} of destination ${destinations}.`,
  }));
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
  comments.unshift(`COMMENT ON VIEW ${name} IS ${quoteLiteral(tableComment(view))}`);
  // One text for all comments: the engine takes several steps for each text.
  await execute(connection, comments.join(";\n"));
}

/** Creates or replaces the view and the macros over the tables of the history. */
export async function createHistoryMacros(connection: DuckDBConnection): Promise<void> {
  for (const view of HISTORY_VIEWS) await createView(connection, view, historySql(`view_${view.name}`));
  for (const name of MACRO_NAMES) await execute(connection, historySql(`macro_${name}`));
}

/** Columns of `content_wide`, each with the type of its custom field, whatever its values are. */
async function wideColumns(connection: DuckDBConnection) {
  const fields = await numberedFields(connection);
  return fields.map(({ name, row }) => {
    // A multiselect is a list of texts. Several values of an untyped field are the text of a JSON array.
    const text = `custom.${row.is_list === true ? "lists" : "texts"}[${row.field}]`;
    const expression = row.column_type === null ? text : `TRY_CAST(${text} AS ${row.column_type})`;
    return { name, expression, comment: commentOf(row) };
  });
}

/** Columns of `content_wide` for keys of `content.extra`. A column of a custom field or of `content` keeps its name. */
function columnsOfExtra(extraColumns: readonly string[], fields: readonly FieldColumn[]): FieldColumn[] {
  const names = distinctColumnNames(
    extraColumns.map((key) => ({ name: `extra_${key}`, tags: ["API field"] })),
    [...contentWide.columns, ...fields].map(({ name }) => name),
  );
  return extraColumns.map((key, index) => ({
    name: names[index] ?? "",
    expression: `content.extra ->> ${quoteLiteral(`/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)}`,
    comment: `API field ${key}, by the setting extraColumns: a text, or the JSON of another value; NULL where an item lacks it.`,
  }));
}

/**
 * Values that `content_wide` shows as NULL because they do not read as the type of their column; one entry a column. `tables`:
 * those of the database; without some, there is no `content_wide`.
 */
export async function fieldTypeDrift(
  connection: DuckDBConnection,
  tables: ReadonlySet<string>,
): Promise<(DriftEntry & DriftItemCount)[]> {
  if (!hasViews(tables)) return [];
  const misfits = await all(
    connection,
    fillMarks(loadSql("custom_field_misfits"), {
      numbers: loadSql("custom_field_numbers"),
      reading: loadSql("field_reading"),
    }),
  );
  const fields = misfits.length === 0 ? [] : await numberedFields(connection);
  return misfits.map((row) => ({
    path: `${contentWide.name}.${fields[Number(row.field) - 1]?.name}`,
    kind: "field_type",
    count: Number(row.misfits),
    items: Number(row.items),
    order: 0,
    contentId: String(row.content_id),
    example: driftExample(String(row.example)),
  }));
}

/** Rows of `custom_field_numbers`, each with the name of its column. */
async function numberedFields(connection: DuckDBConnection): Promise<{ row: QueryRow; name: string }[]> {
  const rows = await all(connection, loadSql("custom_field_numbers"));
  const own = (await connection.runAndReadAll(`SELECT * FROM ${content.name} LIMIT 0`)).columnNames();
  const wanted = rows.map(({ name, label, custom_field_id }) => ({
    name: String(name),
    tags: [String(label), String(custom_field_id)],
  }));
  const names = distinctColumnNames(wanted, own);
  return rows.map((row, index) => ({ row, name: names[index] ?? "" }));
}

function commentOf(row: QueryRow): string {
  const { label, part, type, custom_field_id, column_type } = row;
  const field = `${label} (${type}, custom field ${custom_field_id})`;
  if (part === "file_name") return `Name of the file: ${field}.`;
  if (part === "file_url") return `URL of the file: ${field}.`;
  if (column_type === null) return `${field}.`;
  const digits = column_type === "DOUBLE" ? " and further digits" : "";
  return `${field}. Texts that are not a ${column_type}${digits} are in content_custom_field_values.value.`;
}

/** Schema apart from `main`, since it is not for analysts. A database attached under this name makes the view ambiguous. */
const SCHEMA = "content_warehouse_internal";
const TABLE = `${SCHEMA}.custom_field_texts`;

/** Sizes that decide about memory; tests use smaller ones. */
interface FieldTextLimits {
  /** Custom field values grouped at a time. The default, 200,000, takes some 60 MB. */
  readonly valuesPerRange?: number;
  /**
   * Maximum number of values that `content_wide` joins by key. The default is 4,000,000: a join by key answers a question
   * about one item fast, but holds all texts, some 100 MB. Above it, items and texts are paired by their position.
   */
  readonly maxJoinedValues?: number;
}

/** Fills the table of texts, a range of items at a time. Returns the join that gives a row of `content` its texts. */
async function fillFieldTexts(
  connection: DuckDBConnection,
  { valuesPerRange = 200_000, maxJoinedValues = 4_000_000 }: FieldTextLimits = {},
): Promise<string> {
  await execute(
    connection,
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
     CREATE OR REPLACE TABLE ${TABLE} (
       content_id VARCHAR NOT NULL, texts MAP(INTEGER, VARCHAR), lists MAP(INTEGER, VARCHAR[])
     );
     COMMENT ON TABLE ${TABLE} IS 'Internal table behind content_wide: the texts of each item by the number of the custom field. Query content_wide instead.';
     COMMENT ON COLUMN ${TABLE}.content_id IS 'Item → content.content_id.';
     COMMENT ON COLUMN ${TABLE}.texts IS 'Texts by the number of the custom field.';
     COMMENT ON COLUMN ${TABLE}.lists IS 'Lists of texts by the number of the custom field.'`,
  );
  const weights =
    "SELECT content_id, count(*) AS weight FROM content_custom_field_values GROUP BY content_id";
  const starts = await rangeStarts(connection, { text: weights, params: [] }, valuesPerRange);
  const select = await fieldTextsSql(connection);
  // In one transaction, a range fills up the row group that the range before it began.
  await execute(connection, "BEGIN TRANSACTION");
  for (const range of rangesOf(starts)) {
    await execute(connection, `INSERT INTO ${TABLE} ${select}`, rangeParams(range));
  }
  await execute(connection, "COMMIT");
  const values = await scalar(connection, "SELECT count(*) FROM content_custom_field_values");
  const byPosition = values > maxJoinedValues && (await isInOrderOfContent(connection));
  return byPosition
    ? `POSITIONAL JOIN ${TABLE} AS custom`
    : `LEFT JOIN ${TABLE} AS custom USING (content_id)`;
}

async function fieldTextsSql(connection: DuckDBConnection): Promise<string> {
  const files = await scalar(
    connection,
    `SELECT count(*) FROM duckdb_tables()
     WHERE database_name = current_database() AND table_name = 'custom_field_files'`,
  );
  return fillMarks(loadSql("field_texts"), {
    numbers: loadSql("custom_field_numbers"),
    reading: loadSql("field_reading"),
    // A pipeline may leave the table out.
    files: files > 0 ? "custom_field_files" : `(SELECT ${emptyColumns(customFieldFiles)} WHERE false)`,
  });
}

/** Compares the order of all IDs: a wrong pairing by position would show in no error. */
async function isInOrderOfContent(connection: DuckDBConnection): Promise<boolean> {
  const differing = await scalar(
    connection,
    `SELECT count(*) FROM content POSITIONAL JOIN ${TABLE} AS custom
     WHERE content.content_id IS DISTINCT FROM custom.content_id`,
  );
  return differing === 0;
}
