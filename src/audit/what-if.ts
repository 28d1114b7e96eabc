/** What destinations would receive otherwise by edited mappings. The published run is read, the service is not asked. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { rangesOf } from "../load/buckets.ts";
import { all, execute, figure, type Row } from "../load/duckdb.ts";
import { loadSql, quoteIdentifier } from "../load/sql-text.ts";
import { derivedSteps, LEDGER_ROWS_PER_RANGE, ledgerBounds, prepareMappings } from "../load/steps.ts";
import { suggestion } from "../nearest.ts";
import { itemBounds } from "./coverage.ts";
import type { Definitions, FieldDefinition } from "./definitions.ts";
import { invalidAt, type MappingRow } from "./mapping-file.ts";
import type { OpenedRun } from "./open-run.ts";
import { readDefinitions } from "./read-run.ts";

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

export interface EditedMapping {
  readonly rows: readonly MappingRow[];
  /** Name of the file, for what is wrong in it. */
  readonly file: string;
}

/**
 * Fills the temporary table `what_if_changes` of the opened run's connection, whose mapping tables are the edited ones
 * from then on. Throws `config.invalid`, before anything is computed, for a field, destination or value ID that the run
 * does not know, with its place in the file.
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
  const published = await figure(connection, ENTRIES);
  await replaceMappings(connection, edited.rows);
  const entries = { run: published, file: await figure(connection, ENTRIES) };
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
    items: await figure(
      connection,
      "SELECT count(*) FROM (SELECT content_id FROM what_if_changes GROUP BY content_id)",
    ),
    values: await figure(connection, "SELECT count(*) FROM what_if_changes"),
    groups: await all(connection, loadSql("audit_what_if_groups")),
    byValue: await all(connection, loadSql("audit_what_if_values")),
  };
}

/**
 * Whether the run's pipeline sends values of fields without value mappings: one such value is enough to tell, where no
 * other field sends under its name. `prefix`: of the names of the run's views.
 */
export async function sendsAsIs(connection: DuckDBConnection, prefix = ""): Promise<boolean> {
  const [values, payloads] = ["content_mapped_values", "content_external_payloads"].map((table) =>
    quoteIdentifier(`${prefix}${table}`),
  );
  const [example] = await all(
    connection,
    `SELECT content_id, destination_id, external_field_name FROM ${values}
     WHERE status = 'no_value_mapping' AND NOT collision AND value IS NOT NULL AND external_field_name IS NOT NULL
     LIMIT 1`,
  );
  if (example === undefined) return false;
  const found = await figure(
    connection,
    `SELECT count(*) FROM ${payloads}
     WHERE content_id = $1 AND destination_id = $2 AND list_contains(json_keys(payload), $3)`,
    [example.content_id ?? null, example.destination_id ?? null, example.external_field_name ?? null],
  );
  return found > 0;
}

async function assertKnown(connection: DuckDBConnection, { rows, file }: EditedMapping): Promise<void> {
  const definitions = await readDefinitions(connection);
  const known = knownIds(definitions);
  for (const row of rows) {
    const field = known.fields.get(row.customFieldId);
    if (field === undefined) {
      const near = suggestion(row.customFieldId, names(definitions.fields), "The run has no field like it.");
      const problem = `there is no custom field with the ID ${JSON.stringify(row.customFieldId)}.${near}`;
      throw invalidAt(file, row.placeOf("custom_field_id"), problem);
    }
    if (row.destinationId !== null && !known.destinations.has(row.destinationId)) {
      const near = suggestion(row.destinationId, known.destinations, "The run has no destination like it.");
      const problem = `there is no destination with the ID ${JSON.stringify(row.destinationId)}.${near}`;
      throw invalidAt(file, row.placeOf("destination_id"), problem);
    }
    const valueId = row.entry?.valueId ?? null;
    if (valueId === null || known.values.get(field.customFieldId)?.has(valueId) === true) continue;
    if (await isUsed(connection, field.customFieldId, valueId)) continue;
    throw invalidAt(
      file,
      row.placeOf("value_id"),
      unknownValue(field, valueId, known.values.get(field.customFieldId)),
    );
  }
}

function names(fields: readonly FieldDefinition[]): string[] {
  return fields.map(({ customFieldId }) => customFieldId);
}

function knownIds({ fields, destinations }: Definitions) {
  return {
    fields: new Map(fields.map((field) => [field.customFieldId, field])),
    destinations: new Set(destinations.map(({ destinationId }) => destinationId)),
    /** Value IDs that a field offers or that one of its mappings has, by field. */
    values: new Map(
      fields.map(({ customFieldId, selectValues, mappings }) => {
        const entries = mappings.flatMap((mapping) => mapping.entries.map(({ valueId }) => valueId));
        return [customFieldId, new Set([...selectValues.map(({ valueId }) => valueId), ...entries])];
      }),
    ),
  };
}

/** A value that the field does not offer any more can still be in items, and an entry for it counts. */
async function isUsed(
  connection: DuckDBConnection,
  customFieldId: string,
  valueId: string,
): Promise<boolean> {
  const found = await figure(
    connection,
    `SELECT count(*) FROM (SELECT 1 FROM content_mapped_values WHERE custom_field_id = $1 AND value_id = $2 LIMIT 1)`,
    [customFieldId, valueId],
  );
  return found > 0;
}

function unknownValue(
  field: FieldDefinition,
  valueId: string,
  ids: ReadonlySet<string | null> = new Set(),
): string {
  const name = field.name ?? field.customFieldId;
  const start = `the field ${name} has no value with the ID ${JSON.stringify(valueId)}.`;
  const meant = field.selectValues.find(({ value, display }) => value === valueId || display === valueId);
  if (meant !== undefined) return `${start} That is the text of a value; its ID is "${meant.valueId}".`;
  const known = [...ids].filter((id) => id !== null);
  return `${start}${suggestion(valueId, known, 'No ID is like it; "audit --export-mapping" and custom_field_select_values show them.')}`;
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
      mapping_value_id: id,
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
