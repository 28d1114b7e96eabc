/** The columns that `content_wide` has for custom fields, and the internal table of their texts. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type DriftEntry, type DriftItemCount, driftExample } from "../raw/drift.ts";
import { emptyColumns } from "../storage/ddl.ts";
import { all, execute, type QueryRow, scalar } from "../storage/duckdb.ts";
import { rangesOf } from "../storage/id-ranges.ts";
import { fillMarks } from "../storage/sql-text.ts";
import { content } from "../tables/content.ts";
import { customFieldFiles } from "../tables/custom-fields.ts";
import { contentWide } from "../tables/views.ts";
import { distinctColumnNames } from "./column-names.ts";
import { loadSql } from "./load-sql.ts";
import { rangeParams, rangeStarts } from "./mapped-values.ts";

/** Columns of `content_wide`, each with the type of its custom field, whatever its values are. */
export async function wideColumns(connection: DuckDBConnection) {
  const fields = await numberedFields(connection);
  return fields.map(({ name, row }) => {
    // A multiselect is a list of texts. Several values of an untyped field are the text of a JSON array.
    const text = `custom.${row.is_list === true ? "lists" : "texts"}[${row.field}]`;
    const expression = row.column_type === null ? text : `TRY_CAST(${text} AS ${row.column_type})`;
    return { name, expression, comment: commentOf(row) };
  });
}

/** Values that `content_wide` shows as NULL because they do not read as the type of their column; one entry a column. */
export async function fieldTypeDrift(connection: DuckDBConnection): Promise<(DriftEntry & DriftItemCount)[]> {
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
export interface FieldTextLimits {
  /** Custom field values grouped at a time. The default, 200,000, takes some 60 MB. */
  readonly valuesPerRange?: number;
  /**
   * Maximum number of values that `content_wide` joins by key. The default is 4,000,000: a join by key answers a question
   * about one item fast, but holds all texts, some 100 MB. Above it, items and texts are paired by their position.
   */
  readonly maxJoinedValues?: number;
}

/** Fills the table of texts, a range of items at a time. Returns the join that gives a row of `content` its texts. */
export async function fillFieldTexts(
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
     COMMENT ON COLUMN ${TABLE}.content_id IS 'Item; content.content_id.';
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
