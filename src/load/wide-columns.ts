/** The columns that the wide views have for the definitions of a run; the same definitions give the same columns. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type DriftEntry, type DriftItems, driftExample } from "../raw/drift.ts";
import { all, type QueryRow } from "../storage/duckdb.ts";
import { fillMarks } from "../storage/sql-text.ts";
import { content } from "../tables/content.ts";
import { contentWide } from "../tables/views.ts";
import { distinctColumnNames } from "./column-names.ts";
import { loadSql } from "./load-sql.ts";

export interface WideColumn {
  readonly name: string;
  readonly expression: string;
  readonly comment: string;
}

/** Columns of content_wide, each of the type of its custom field, whatever its values are. */
export async function wideColumns(connection: DuckDBConnection): Promise<readonly WideColumn[]> {
  const fields = await fieldsOf(connection);
  return fields.map(({ name, row }) => ({ name, expression: expressionOf(row), comment: commentOf(row) }));
}

/** Values that content_wide shows as NULL because they do not read as the type of their column; one entry a column. */
export async function fieldTypeDrift(connection: DuckDBConnection): Promise<(DriftEntry & DriftItems)[]> {
  const misfits = await all(
    connection,
    fillMarks(loadSql("custom_field_misfits"), {
      numbers: loadSql("custom_field_numbers"),
      reading: loadSql("field_reading"),
    }),
  );
  const fields = misfits.length === 0 ? [] : await fieldsOf(connection);
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

async function fieldsOf(
  connection: DuckDBConnection,
): Promise<readonly { readonly row: QueryRow; readonly name: string }[]> {
  const rows = await all(connection, loadSql("custom_field_numbers"));
  const own = (await connection.runAndReadAll(`SELECT * FROM ${content.name} LIMIT 0`)).columnNames();
  const wanted = rows.map(({ name, label, custom_field_id }) => ({
    name: String(name),
    tags: [String(label), String(custom_field_id)],
  }));
  const names = distinctColumnNames(wanted, own);
  return rows.map((row, place) => ({ row, name: names[place] ?? "" }));
}

/** A text, or a list of texts in a multiselect; where another field has several values, a JSON array's text. */
function expressionOf(row: QueryRow): string {
  const text = `custom.${row.is_list === true ? "lists" : "texts"}[${row.field}]`;
  return row.column_type === null ? text : `TRY_CAST(${text} AS ${row.column_type})`;
}

function commentOf(row: QueryRow): string {
  const { label, part, type, custom_field_id, column_type } = row;
  const field = `${label} (${type}, custom field ${custom_field_id})`;
  if (part === "file_name") return `Name of the file: ${field}.`;
  if (part === "file_url") return `URL of the file: ${field}.`;
  if (column_type === null) return `${field}.`;
  const digits = column_type === "DOUBLE" ? " and further digits" : "";
  return `${field}. Texts that are no ${column_type}${digits} are in content_custom_field_values.value.`;
}
