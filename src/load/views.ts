import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, scalar } from "../storage/duckdb.ts";
import { rangesOf } from "../storage/id-ranges.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { contentMappedWide, contentWide, mappingCoverageView } from "../tables/views.ts";
import { distinctColumnNames } from "./column-names.ts";
import { type CreateView, createView } from "./create-view.ts";
import { loadSql } from "./load-sql.ts";
import { ends } from "./steps.ts";
import { type WideColumn, wideColumns } from "./wide-columns.ts";

/** Tables that the views and an audit read. */
export const VIEWED: readonly string[] = [
  "content",
  "content_custom_field_values",
  "custom_fields",
  "custom_field_select_values",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "destinations",
  "content_mapped_values",
  "content_external_payloads",
];

export function hasViews(tables: ReadonlySet<string>): boolean {
  return VIEWED.every((name) => tables.has(name));
}

/** Like `createViews`, where the database has all tables that they read; else there are none. */
export async function createViewsOver(connection: DuckDBConnection, tables: ReadonlySet<string>) {
  if (hasViews(tables)) await createViews(connection);
}

/** Creates or replaces the views, with comments, and what they read, over the tables. */
export async function createViews(connection: DuckDBConnection, options?: FieldTextsOptions) {
  await createView(connection, await wide(connection, options));
  await createView(connection, await mappedWide(connection));
  await createView(connection, coverage());
}

async function wide(connection: DuckDBConnection, options?: FieldTextsOptions): Promise<CreateView> {
  const join = await fillFieldTexts(connection, options);
  const columns = await wideColumns(connection);
  return {
    view: contentWide,
    sql: fillMarks(loadSql("view_content_wide"), { columns: selected(columns), join }),
    further: columns,
  };
}

async function mappedWide(connection: DuckDBConnection): Promise<CreateView> {
  const external = await all(
    connection,
    `SELECT external_field_name AS name, string_agg(DISTINCT destination_id, ', ' ORDER BY destination_id) AS destinations
     FROM (${loadSql("mapping_targets")})
     WHERE external_field_name IS NOT NULL
     GROUP BY external_field_name
     ORDER BY external_field_name`,
  );
  const wanted = external.map(({ name }, place) => ({ name: String(name), tags: [String(place + 1)] }));
  const names = distinctColumnNames(
    wanted,
    contentMappedWide.columns.map(({ name }) => name),
  );
  const columns = external.map(
    ({ name, destinations }, place): WideColumn => ({
      name: names[place] ?? "",
      expression: `payloads.members[${literal(String(name))}]`,
      comment: `External field ${name} of destination ${destinations}.`,
    }),
  );
  return {
    view: contentMappedWide,
    sql: fillMarks(loadSql("view_content_mapped_wide"), { columns: selected(columns) }),
    further: columns,
  };
}

function coverage(): CreateView {
  return {
    view: mappingCoverageView,
    sql: fillMarks(loadSql("view_mapping_coverage"), {
      mapping_targets: loadSql("mapping_targets"),
      mapping_answers: loadSql("mapping_answers"),
    }),
  };
}

/** Further elements of a select list that has some already. */
const selected = (columns: readonly WideColumn[]): string =>
  columns.map(({ name, expression }) => `, ${expression} AS ${quoteIdentifier(name)}`).join("\n  ");

/** Any text of the data as SQL: a NUL cannot stand in a literal. */
function literal(text: string): string {
  return text.split("\0").map(quoteLiteral).join(" || chr(0) || ");
}

/** Beside `main`: it is not for analysts. A database that is attached under this name would make the view ambiguous. */
const SCHEMA = "content_warehouse_internal";
const TABLE = `${SCHEMA}.custom_field_texts`;

const COMMENT =
  "What content_wide reads: the texts of each item by the number of the custom field. Made from the tables of the " +
  "run; query content_wide instead.";

/** So many are grouped within some 60 MB. */
const VALUES_PER_RANGE = 200_000;

/**
 * From so many values on, `content_wide` pairs items and texts by their place. A join by key answers a question about
 * one item without the others, but holds all texts: some 100 MB for 4,000,000 short ones.
 */
const MAX_JOINED_VALUES = 4_000_000;

interface FieldTextsOptions {
  readonly valuesPerRange?: number;
  readonly maxJoinedValues?: number;
}

/** Makes the table anew, a range of items at a time. Answers the join that gives a row of `content` its own, `custom`. */
async function fillFieldTexts(
  connection: DuckDBConnection,
  { valuesPerRange = VALUES_PER_RANGE, maxJoinedValues = MAX_JOINED_VALUES }: FieldTextsOptions = {},
): Promise<string> {
  await execute(
    connection,
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
     CREATE OR REPLACE TABLE ${TABLE} (
       content_id VARCHAR NOT NULL, texts MAP(INTEGER, VARCHAR), lists MAP(INTEGER, VARCHAR[])
     );
     COMMENT ON TABLE ${TABLE} IS '${COMMENT}';
     COMMENT ON COLUMN ${TABLE}.content_id IS 'Item; content.content_id.';
     COMMENT ON COLUMN ${TABLE}.texts IS 'Texts by the number of the custom field.';
     COMMENT ON COLUMN ${TABLE}.lists IS 'Lists of texts by the number of the custom field.'`,
  );
  const starts = await all(connection, loadSql("field_text_ranges"), [valuesPerRange]);
  const select = await fieldTexts(connection);
  // One transaction: the rows that a range leaves over fill up the row group of the next.
  await execute(connection, "BEGIN TRANSACTION");
  for (const range of rangesOf(["", ...starts.map((row) => String(row.content_id))])) {
    await execute(connection, `INSERT INTO ${TABLE} ${select}`, ends(range));
  }
  await execute(connection, "COMMIT");
  const values = await scalar(connection, "SELECT count(*) FROM content_custom_field_values");
  const byPlace = values > maxJoinedValues && (await isInOrderOfContent(connection));
  return byPlace ? `POSITIONAL JOIN ${TABLE} AS custom` : `LEFT JOIN ${TABLE} AS custom USING (content_id)`;
}

async function fieldTexts(connection: DuckDBConnection): Promise<string> {
  const files = await scalar(
    connection,
    `SELECT count(*) FROM duckdb_tables()
     WHERE database_name = current_database() AND table_name = 'custom_field_files'`,
  );
  return fillMarks(loadSql("field_texts"), {
    numbers: loadSql("custom_field_numbers"),
    reading: loadSql("field_reading"),
    files: files > 0 ? "custom_field_files" : NO_FILES,
  });
}

const NO_FILES =
  "(SELECT NULL::VARCHAR AS file_id, NULL::VARCHAR AS file_name, NULL::VARCHAR AS file_url WHERE false)";

/** Both are written in the order of the key; held against each other, because a wrong pairing would show in no error. */
async function isInOrderOfContent(connection: DuckDBConnection): Promise<boolean> {
  const differing = await scalar(
    connection,
    `SELECT count(*) FROM content POSITIONAL JOIN ${TABLE} AS custom
     WHERE content.content_id IS DISTINCT FROM custom.content_id`,
  );
  return differing === 0;
}
