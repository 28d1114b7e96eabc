/** What destinations would receive otherwise by edited mappings. The published run is read, the service is not asked. */
import type { DuckDBConnection } from "@duckdb/node-api";
import {
  ends,
  LEDGER_ROWS_PER_RANGE,
  ledgerBounds,
  mappedValuesOf,
  prepareMappings,
} from "../../load/steps.ts";
import { all, execute, type Row, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { loadSql } from "../load-sql.ts";
import type { MappingRow } from "../mapping/mapping-file.ts";
import { sendsAsIs } from "../mapping/passthrough.ts";
import { assertKnown } from "../mapping/validate-mapping.ts";
import type { OpenedRun } from "../open-run.ts";
import { keep, keepRange } from "../rows.ts";
import { itemBounds } from "./coverage.ts";

const ENTRIES = "SELECT count(*) FROM custom_field_mapping_values";

/** Rows of the SQL steps `audit_what_if_groups` and `audit_what_if_values`; the steps say what they mean. */
export interface WhatIf {
  /** Entries of the run's mappings, and of the edited ones. */
  readonly entries: { readonly run: number; readonly file: number };
  readonly items: number;
  readonly values: number;
  /** Per destination and custom field. */
  readonly groups: readonly Row[];
  /** Per value, what it gives and would give. */
  readonly byValue: readonly Row[];
}

/**
 * Fills the temporary table `what_if_changes` of the opened run's connection, whose mapping tables are the edited ones
 * from then on. Throws `config.invalid`, before anything is computed, for an ID that the run does not know, with its place
 * in the file.
 */
export async function whatIf(
  opened: OpenedRun,
  rows: readonly MappingRow[],
  rowsPerRange: number = LEDGER_ROWS_PER_RANGE,
): Promise<WhatIf> {
  const { connection } = opened;
  await assertKnown(connection, rows);
  const passthrough = await sendsAsIs(connection);
  const bounds = await itemBounds(opened, rowsPerRange);
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
    entries,
    items: await scalar(
      connection,
      "SELECT count(*) FROM (SELECT content_id FROM what_if_changes GROUP BY content_id)",
    ),
    values: await scalar(connection, "SELECT count(*) FROM what_if_changes"),
    groups: await all(connection, loadSql("audit_what_if_groups")),
    byValue: await all(connection, loadSql("audit_what_if_values")),
  };
}

const ROWS_AT_ONCE = 20_000;

const EDITED = {
  place: "INTEGER",
  mapping_id: "VARCHAR",
  custom_field_id: "VARCHAR",
  destination_id: "VARCHAR",
  external_field_name: "VARCHAR",
  is_entry: "BOOLEAN",
  mapping_value_id: "VARCHAR",
  value_id: "VARCHAR",
  external_value: "VARCHAR",
};

/** Puts tables in the place of the views of the published mappings. */
async function replaceMappings(connection: DuckDBConnection, rows: readonly MappingRow[]): Promise<void> {
  const columns = Object.entries(EDITED).map(([column, type]) => `${column} ${type}`);
  await execute(connection, `CREATE OR REPLACE TEMP TABLE what_if_rows (${columns.join(", ")})`);
  const parsed = `from_json(CAST($1 AS JSON), '${JSON.stringify([EDITED])}')`;
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE).map((row, index) => ({
      place: start + index,
      mapping_id: row.mappingId,
      custom_field_id: row.customFieldId,
      destination_id: row.destinationId,
      external_field_name: row.externalFieldName,
      is_entry: row.entry !== undefined,
      mapping_value_id: row.entry?.id,
      value_id: row.entry?.valueId,
      external_value: row.entry?.externalValue,
    }));
    const insert = `INSERT INTO what_if_rows BY NAME SELECT unnest(${parsed}, max_depth := 2)`;
    await execute(connection, insert, [JSON.stringify(some)]);
  }
  for (const name of ["custom_field_mappings", "custom_field_mapping_values"]) {
    await execute(connection, `DROP VIEW ${name}`);
    await execute(connection, `CREATE TABLE ${name} AS ${loadSql(`audit_what_if_${name}`)}`);
  }
}
