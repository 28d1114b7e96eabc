/** What the mapping procedure reads, and what a run published of it, from the tables of a published run. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { all, type Row, toSafeInteger } from "../../storage/duckdb.ts";
import {
  type Definitions,
  type Destination,
  type FieldDefinition,
  indexDefinitions,
  type Mapping,
  type MappingEntry,
  type SelectValue,
} from "../mapping/definitions.ts";
import { type MappedValue, STATUSES, type Status } from "../mapping/mapped-value.ts";
import type { Item } from "../mapping/procedure.ts";

/** Definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<Definitions> {
  const entries = grouped(
    await all(connection, "FROM custom_field_mapping_values ORDER BY mapping_id, ordinal, mapping_value_id"),
    "mapping_id",
    mappingEntry,
  );
  const mappings = grouped(
    await all(connection, "FROM custom_field_mappings ORDER BY custom_field_id, ordinal, mapping_id"),
    "custom_field_id",
    (row): Mapping => ({
      mappingId: text(row.mapping_id),
      destinationId: textOrNull(row.destination_id),
      externalFieldName: textOrNull(row.external_field_name),
      entries: entries.get(text(row.mapping_id)) ?? [],
    }),
  );
  const selectValues = grouped(
    await all(connection, "FROM custom_field_select_values ORDER BY custom_field_id, ordinal, value_id"),
    "custom_field_id",
    selectValue,
  );
  const fields = await all(
    connection,
    `SELECT custom_field_id, name, field_type FROM custom_fields
     UNION ALL BY NAME
     SELECT DISTINCT custom_field_id FROM custom_field_mappings ANTI JOIN custom_fields USING (custom_field_id)`,
  );
  const destinations = await all(connection, "FROM destinations");
  return indexDefinitions(
    fields.map((row): FieldDefinition => {
      const customFieldId = text(row.custom_field_id);
      return {
        customFieldId,
        name: textOrNull(row.name),
        fieldType: textOrNull(row.field_type),
        selectValues: selectValues.get(customFieldId) ?? [],
        mappings: mappings.get(customFieldId) ?? [],
      };
    }),
    destinations.map(destinationOf),
  );
}

function mappingEntry(row: Row): MappingEntry {
  return {
    mappingValueId: text(row.mapping_value_id),
    valueId: textOrNull(row.value_id),
    externalValue: textOrNull(row.external_value),
  };
}

function selectValue(row: Row): SelectValue {
  return {
    valueId: text(row.value_id),
    display: textOrNull(row.display),
    value: textOrNull(row.value),
    archived: row.archived === true,
  };
}

function destinationOf(row: Row): Destination {
  return {
    destinationId: text(row.destination_id),
    identification: textOrNull(row.identification),
    supportsMappings: flagOrNull(row.supports_custom_field_mappings),
  };
}

function grouped<T>(rows: readonly Row[], key: string, make: (row: Row) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const id = text(row[key]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [make(row)]);
    else group.push(make(row));
  }
  return groups;
}

/** The values of an item that the procedure reads. */
export async function readItemValues(connection: DuckDBConnection, contentId: string): Promise<Item> {
  const rows = await all(
    connection,
    `SELECT custom_field_id, ordinal, value, mapping_input, mapping_input_is_id FROM content_custom_field_values
     WHERE content_id = $1 ORDER BY custom_field_id, ordinal`,
    [contentId],
  );
  return {
    contentId,
    values: rows.map((row) => ({
      customFieldId: text(row.custom_field_id),
      ordinal: toSafeInteger(row.ordinal ?? null),
      input: textOrNull(row.mapping_input),
      inputIsId: row.mapping_input_is_id === true,
      text: textOrNull(row.value),
    })),
  };
}

/** The published ledger of an item, in the order of its key. */
export async function readLedger(connection: DuckDBConnection, contentId: string): Promise<MappedValue[]> {
  const rows = await all(
    connection,
    `FROM content_mapped_values WHERE content_id = $1 ORDER BY destination_id, custom_field_id, ordinal`,
    [contentId],
  );
  return rows.map(mappedValueOf);
}

/** A row of `content_mapped_values`, from wherever it comes. */
export function mappedValueOf(row: Row): MappedValue {
  return {
    contentId: text(row.content_id),
    destinationId: text(row.destination_id),
    customFieldId: text(row.custom_field_id),
    ordinal: toSafeInteger(row.ordinal ?? null),
    externalFieldName: textOrNull(row.external_field_name),
    valueId: textOrNull(row.value_id),
    value: textOrNull(row.value),
    mappingId: text(row.mapping_id),
    mappingValueId: textOrNull(row.mapping_value_id),
    externalValue: textOrNull(row.external_value),
    status: statusOf(row.status),
    valueArchived: row.value_archived === true,
    valueUnknown: row.value_unknown === true,
    ambiguous: row.ambiguous === true,
    matchedByText: row.matched_by_text === true,
    destinationUnsupported: flagOrNull(row.destination_unsupported),
    collision: row.collision === true,
  };
}

/** Members of the published payloads of an item, by destination ID. */
export async function readPayloads(
  connection: DuckDBConnection,
  contentId: string,
): Promise<Map<string, ReadonlyMap<string, readonly string[]>>> {
  const rows = await all(
    connection,
    "SELECT destination_id, payload FROM content_external_payloads WHERE content_id = $1 ORDER BY destination_id",
    [contentId],
  );
  return new Map(rows.map((row) => [text(row.destination_id), membersOf(text(row.payload))]));
}

function membersOf(payload: string): Map<string, readonly string[]> {
  const parsed: unknown = JSON.parse(payload);
  if (typeof parsed !== "object" || parsed === null) return new Map();
  return new Map(
    Object.entries(parsed).map(([name, values]) => [name, Array.isArray(values) ? values.map(String) : []]),
  );
}

function statusOf(value: DuckDBValue | undefined): Status {
  const status = STATUSES.find((each) => each === value);
  if (status === undefined) throw new TypeError(`there is no status ${String(value)}`);
  return status;
}

function text(value: DuckDBValue | undefined): string {
  return String(value);
}

function textOrNull(value: DuckDBValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function flagOrNull(value: DuckDBValue | undefined): boolean | null {
  return value === null || value === undefined ? null : value === true;
}
