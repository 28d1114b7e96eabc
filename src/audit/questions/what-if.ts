/** What destinations would receive otherwise by edited mappings. The published run is read, the service is not asked. */
import type { DuckDBConnection } from "@duckdb/node-api";
import {
  ends,
  LEDGER_ROWS_PER_RANGE,
  ledgerBounds,
  mappedValuesOf,
  prepareMappings,
} from "../../load/steps.ts";
import { all, execute, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { loadSql } from "../load-sql.ts";
import type { MappingRow } from "../mapping/mapping-file.ts";
import { assertKnown } from "../mapping/validate-mapping.ts";
import { keep, keepRange } from "../rows.ts";
import { itemBounds } from "./coverage.ts";
import { sendsAsIs } from "./read-run.ts";

const ENTRIES = "SELECT count(*) FROM custom_field_mapping_values";

export type WhatIf = Awaited<ReturnType<typeof whatIf>>;

/**
 * Fills the temporary table `what_if_changes` of an opened run's connection, whose mapping tables are the edited ones
 * from then on. Throws `config.invalid`, before anything is computed, for an ID that the run does not know, with its place
 * in the file.
 */
export async function whatIf(
  connection: DuckDBConnection,
  rows: readonly MappingRow[],
  rowsPerRange: number = LEDGER_ROWS_PER_RANGE,
) {
  await assertKnown(connection, rows);
  const passthrough = await sendsAsIs(connection);
  const bounds = await itemBounds(connection, rowsPerRange);
  const published = await scalar(connection, ENTRIES);
  await replaceMappings(connection, rows);
  const entries = { run: published, file: await scalar(connection, ENTRIES) };
  await prepareMappings(connection);
  const ranges = rangesOf(await ledgerBounds(connection, bounds, rowsPerRange));
  for (const [index, range] of ranges.entries()) {
    const { text, params } = mappedValuesOf(range);
    await keep(connection, "what_if_after", text, params);
    const place = { index, params: [...ends(range), passthrough] };
    await keepRange(connection, "what_if_changes", loadSql("audit_what_if"), place);
  }
  return {
    /** Of the run's mappings, and of the edited ones. */
    entries,
    items: await scalar(
      connection,
      "SELECT count(*) FROM (SELECT content_id FROM what_if_changes GROUP BY content_id)",
    ),
    values: await scalar(connection, "SELECT count(*) FROM what_if_changes"),
    /** Per destination and custom field; the SQL steps say what their rows mean. */
    groups: await all(connection, loadSql("audit_what_if_groups")),
    /** Per value, what it gives and would give. */
    byValue: await all(connection, loadSql("audit_what_if_values")),
  };
}

const ROWS_AT_ONCE = 20_000;

/** `MappingRow` as DuckDB reads it; `entry` is NULL where there is none. */
const MAPPING_ROW = {
  mappingId: "VARCHAR",
  customFieldId: "VARCHAR",
  destinationId: "VARCHAR",
  externalFieldName: "VARCHAR",
  entry: { id: "VARCHAR", valueId: "VARCHAR", externalValue: "VARCHAR" },
};

/** $1 rows as JSON, $2 place of the first */
const EDITED_ROWS = `
  SELECT $2::INTEGER + generate_subscripts(edited, 1) - 1 AS place, unnest(edited, max_depth := 2)
  FROM (SELECT from_json($1::JSON, '${JSON.stringify([MAPPING_ROW])}') AS edited)`;

/** Puts tables in the place of the views of the published mappings. */
async function replaceMappings(connection: DuckDBConnection, rows: readonly MappingRow[]): Promise<void> {
  // At least once: a file may have no row.
  for (let start = 0; start === 0 || start < rows.length; start += ROWS_AT_ONCE) {
    const some = JSON.stringify(rows.slice(start, start + ROWS_AT_ONCE));
    await keepRange(connection, "what_if_rows", EDITED_ROWS, { index: start, params: [some, start] });
  }
  for (const name of ["custom_field_mappings", "custom_field_mapping_values"]) {
    await execute(connection, `DROP VIEW ${name}`);
    await execute(connection, `CREATE TABLE ${name} AS ${loadSql(`audit_what_if_${name}`)}`);
  }
}
