/** What `content_wide` reads: the texts of an item's custom fields in one row, so that a column is a look into a map. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, scalar } from "../storage/duckdb.ts";
import { rangesOf } from "../storage/id-ranges.ts";
import { fillMarks } from "../storage/sql-text.ts";
import { loadSql } from "./load-sql.ts";
import { ends } from "./steps.ts";

/**
 * Beside the tables of the run, which are in `main`: it is no table for analysts, and has no Parquet file. A database
 * that is attached under the same name would make the view ambiguous, so nobody should think of this one for a file.
 */
const SCHEMA = "content_warehouse_internal";
const TABLE = `${SCHEMA}.custom_field_texts`;

const COMMENT =
  "What content_wide reads: the texts of each item by the number of the custom field. Made from the tables of the " +
  "run; query content_wide instead.";

/** So many are grouped within some 60 MB. */
const VALUES_PER_RANGE = 200_000;

/**
 * From so many values on, `content_wide` pairs items and texts by their place. A join by key answers a question about
 * one item without reading the others, but holds the texts of all: some 100 MB for 4,000,000 short ones.
 */
const MAX_JOINED_VALUES = 4_000_000;

/** A custom field, in the order of the columns of `content_wide`. */
export interface NumberedField {
  readonly number: number;
  readonly customFieldId: string;
  readonly name: string;
  readonly type: string;
  readonly label: string;
  /** Whether its column is a list of texts. */
  readonly isList: boolean;
}

export async function numberedFields(connection: DuckDBConnection): Promise<NumberedField[]> {
  const rows = await all(connection, loadSql("custom_field_numbers"));
  return rows.map((row) => ({
    number: Number(row.field),
    customFieldId: String(row.custom_field_id),
    name: String(row.name),
    type: String(row.type),
    label: String(row.label),
    isList: row.is_list === true,
  }));
}

export interface FieldTextsOptions {
  readonly valuesPerRange?: number;
  readonly maxJoinedValues?: number;
}

/**
 * Makes the table anew from the tables that the database has now, a range of items at a time. Answers the join that
 * gives a row of `content` its own row of the table, as `custom`.
 */
export async function fillFieldTexts(
  connection: DuckDBConnection,
  { valuesPerRange = VALUES_PER_RANGE, maxJoinedValues = MAX_JOINED_VALUES }: FieldTextsOptions = {},
): Promise<string> {
  await execute(
    connection,
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
     CREATE OR REPLACE TABLE ${TABLE} (
       content_id VARCHAR NOT NULL, texts MAP(INTEGER, VARCHAR), lists MAP(INTEGER, VARCHAR[])
     );
     COMMENT ON TABLE ${TABLE} IS '${COMMENT}'`,
  );
  const starts = await all(connection, loadSql("field_text_ranges"), [valuesPerRange]);
  const select = fillMarks(loadSql("field_texts"), { numbers: loadSql("custom_field_numbers") });
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

/** Both are written in the order of the key; held against each other, because a wrong pairing would show in no error. */
async function isInOrderOfContent(connection: DuckDBConnection): Promise<boolean> {
  const differing = await scalar(
    connection,
    `SELECT count(*) FROM content POSITIONAL JOIN ${TABLE} AS custom
     WHERE content.content_id IS DISTINCT FROM custom.content_id`,
  );
  return differing === 0;
}

/** The column of a field in `content_wide`: NULL where an item has no value of it. */
export function fieldExpression({ number, isList }: NumberedField): string {
  return `custom.${isList ? "lists" : "texts"}[${number}]`;
}
