/** What destinations would receive otherwise by edited mappings. The published run is read, the service is not asked. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { derivedSteps, LEDGER_ROWS_PER_RANGE, ledgerBounds, prepareMappings } from "../../load/steps.ts";
import { all, execute, type Row, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { loadSql } from "../load-sql.ts";
import type { EditedMapping, MappingRow } from "../mapping/mapping-file.ts";
import { sendsAsIs } from "../mapping/passthrough.ts";
import { assertKnown } from "../mapping/validate-mapping.ts";
import type { OpenedRun } from "../open-run.ts";
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
  edited: EditedMapping,
  rowsPerRange: number = LEDGER_ROWS_PER_RANGE,
): Promise<WhatIf> {
  const { connection } = opened;
  await assertKnown(connection, edited);
  const passthrough = await sendsAsIs(connection);
  const bounds = await itemBounds(opened, rowsPerRange);
  const published = await scalar(connection, ENTRIES);
  await replaceMappings(connection, edited.rows);
  const entries = { run: published, file: await scalar(connection, ENTRIES) };
  await prepareMappings(connection);
  const ranges = rangesOf(await ledgerBounds(connection, bounds, rowsPerRange));
  const [mappedValues] = derivedSteps({ passthrough });
  for (const [index, range] of ranges.entries()) {
    const after = mappedValues?.select(range) ?? { text: "", params: [] };
    await execute(connection, `CREATE OR REPLACE TEMP TABLE what_if_after AS ${after.text}`, after.params);
    const into =
      index === 0 ? "CREATE OR REPLACE TEMP TABLE what_if_changes AS" : "INSERT INTO what_if_changes";
    const params = [range.lower ?? null, range.upper ?? null, passthrough];
    await execute(connection, `${into} ${loadSql("audit_what_if")}`, params);
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

/** Puts tables in the place of the views of the published mappings. */
async function replaceMappings(connection: DuckDBConnection, rows: readonly MappingRow[]): Promise<void> {
  const mappings = new Map<string, object>();
  const perField = new Map<string, number>();
  const entries: object[] = [];
  const perMapping = new Map<string, number>();
  for (const { mappingId, customFieldId, destinationId, externalFieldName, entry } of rows) {
    if (!mappings.has(mappingId)) {
      const ordinal = next(perField, customFieldId);
      mappings.set(mappingId, {
        mapping_id: mappingId,
        custom_field_id: customFieldId,
        destination_id: destinationId,
        ordinal,
        external_field_name: externalFieldName,
      });
    }
    if (entry === undefined) continue;
    const { id, valueId, externalValue } = entry;
    const ordinal = next(perMapping, mappingId);
    entries.push({
      mapping_value_id: id ?? `added ${entries.length}`,
      mapping_id: mappingId,
      ordinal,
      value_id: valueId,
      external_value: externalValue,
    });
  }
  await replaceView(connection, "custom_field_mappings", MAPPING_SHAPE, [...mappings.values()]);
  await replaceView(connection, "custom_field_mapping_values", ENTRY_SHAPE, entries);
}

const MAPPING_SHAPE = {
  mapping_id: "VARCHAR",
  custom_field_id: "VARCHAR",
  destination_id: "VARCHAR",
  ordinal: "INTEGER",
  external_field_name: "VARCHAR",
};

const ENTRY_SHAPE = {
  mapping_value_id: "VARCHAR",
  mapping_id: "VARCHAR",
  ordinal: "INTEGER",
  value_id: "VARCHAR",
  external_value: "VARCHAR",
};

function next(counts: Map<string, number>, key: string): number {
  const ordinal = counts.get(key) ?? 0;
  counts.set(key, ordinal + 1);
  return ordinal;
}

async function replaceView(
  connection: DuckDBConnection,
  name: "custom_field_mappings" | "custom_field_mapping_values",
  shape: Readonly<Record<string, string>>,
  rows: readonly object[],
): Promise<void> {
  await execute(connection, `DROP VIEW ${name}`);
  const columns = Object.entries(shape).map(([column, type]) => `${column} ${type}`);
  await execute(connection, `CREATE TABLE ${name} (${columns.join(", ")})`);
  const parsed = `from_json(CAST($1 AS JSON), '${JSON.stringify([shape])}')`;
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = JSON.stringify(rows.slice(start, start + ROWS_AT_ONCE));
    await execute(connection, `INSERT INTO ${name} BY NAME SELECT unnest(${parsed}, max_depth := 2)`, [some]);
  }
}
