/**
 * Definitions that the mapping procedure reads: custom fields with their mappings, and destinations. Read and
 * indexed once per run.
 */

import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { readRows } from "../../storage/typed-rows.ts";

const text = col.text({ required: true });
const textOrNull = col.text();

/** A value that a select or multiselect field offers; `valueId` is unique within the field. */
export const SELECT_VALUE_COLUMNS = {
  valueId: text,
  display: textOrNull,
  value: textOrNull,
  archived: col.flag({ required: true }),
} as const;
export type SelectValue = AnswerRow<typeof SELECT_VALUE_COLUMNS>;

/** An entry of a mapping: the external value for an internal value ID. */
export const ENTRY_COLUMNS = {
  mappingValueId: text,
  valueId: textOrNull,
  externalValue: textOrNull,
} as const;
export type MappingEntry = AnswerRow<typeof ENTRY_COLUMNS>;

/** `destinationId`: if NULL, the mapping sends nothing. */
export const MAPPING_COLUMNS = {
  mappingId: text,
  destinationId: textOrNull,
  externalFieldName: textOrNull,
} as const;
/** Lists are in source order, here and below. */
export interface Mapping extends AnswerRow<typeof MAPPING_COLUMNS> {
  readonly entries: readonly MappingEntry[];
}

export const FIELD_COLUMNS = { customFieldId: text, name: textOrNull, fieldType: textOrNull } as const;
export interface FieldDefinition extends AnswerRow<typeof FIELD_COLUMNS> {
  readonly selectValues: readonly SelectValue[];
  readonly mappings: readonly Mapping[];
}

/** `supportsMappings`: NULL if the destination is known only by its ID. */
export const DESTINATION_COLUMNS = {
  destinationId: text,
  identification: textOrNull,
  supportsMappings: col.flag(),
} as const;
export type DestinationDefinition = AnswerRow<typeof DESTINATION_COLUMNS>;

export type DefinitionIndex = ReturnType<typeof indexDefinitions>;

export function indexDefinitions(
  fields: readonly FieldDefinition[],
  destinations: readonly DestinationDefinition[],
) {
  const sortedFields = fields.toSorted((a, b) => compareUtf8(a.customFieldId, b.customFieldId));
  const byId = new Map(destinations.map((each) => [each.destinationId, each]));
  const named = new Map<string, Set<string>>();
  for (const { customFieldId, mappings } of sortedFields) {
    for (const { destinationId, externalFieldName } of mappings) {
      if (destinationId === null) continue;
      const unknown = { destinationId, identification: null, supportsMappings: null };
      byId.set(destinationId, byId.get(destinationId) ?? unknown);
      const key = JSON.stringify([destinationId, externalFieldName]);
      named.set(key, (named.get(key) ?? new Set()).add(customFieldId));
    }
  }
  return {
    /** Ascending by custom field ID. */
    fields: sortedFields,
    /** Destinations that were looked up or that a mapping names, ascending by ID. */
    destinations: [...byId.values()].sort((a, b) => compareUtf8(a.destinationId, b.destinationId)),
    /** IDs of the fields that are mapped to the external field name at the destination, ascending. */
    fieldsNamed: (destinationId: string, externalFieldName: string): string[] => [
      ...(named.get(JSON.stringify([destinationId, externalFieldName])) ?? []),
    ],
  };
}

const required = { required: true } as const;
const ENTRY_OF_MAPPING = { ...ENTRY_COLUMNS, mappingId: col.text(required) } as const;
const MAPPING_OF_FIELD = { ...MAPPING_COLUMNS, customFieldId: col.text(required) } as const;
const VALUE_OF_FIELD = { ...SELECT_VALUE_COLUMNS, customFieldId: col.text(required) } as const;

const ENTRIES = "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id";
const MAPPINGS = "FROM custom_field_mappings ORDER BY ordinal, mapping_id";
const SELECT_VALUES = "FROM custom_field_select_values ORDER BY ordinal, value_id";

/** Reads definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<DefinitionIndex> {
  const entryRows = await readRows(connection, ENTRY_OF_MAPPING, ENTRIES);
  const entries = Map.groupBy(entryRows, ({ mappingId }) => mappingId);
  const mappingRows = await readRows(connection, MAPPING_OF_FIELD, MAPPINGS);
  const mappings = Map.groupBy(mappingRows, ({ customFieldId }) => customFieldId);
  const valueRows = await readRows(connection, VALUE_OF_FIELD, SELECT_VALUES);
  const selectValues = Map.groupBy(valueRows, ({ customFieldId }) => customFieldId);
  const fields = await readRows(
    connection,
    FIELD_COLUMNS,
    `SELECT custom_field_id, name, field_type FROM custom_fields
     UNION ALL BY NAME
     SELECT DISTINCT custom_field_id FROM custom_field_mappings ANTI JOIN custom_fields USING (custom_field_id)`,
  );
  return indexDefinitions(
    fields.map((field) => ({
      ...field,
      selectValues: selectValues.get(field.customFieldId) ?? [],
      mappings: (mappings.get(field.customFieldId) ?? []).map((mapping) => ({
        ...mapping,
        entries: entries.get(mapping.mappingId) ?? [],
      })),
    })),
    await readRows(
      connection,
      DESTINATION_COLUMNS,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}
