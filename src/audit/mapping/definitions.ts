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

const SELECT_VALUE = {
  valueId: text,
  display: textOrNull,
  value: textOrNull,
  archived: col.flag({ required: true }),
} as const;
/** A value that a select or multiselect field offers; `valueId` is unique within the field. */
export type SelectValue = AnswerRow<typeof SELECT_VALUE>;

const ENTRY = { mappingValueId: text, valueId: textOrNull, externalValue: textOrNull } as const;
/** An entry of a mapping: the external value for an internal value ID. */
export type MappingEntry = AnswerRow<typeof ENTRY>;

const MAPPING = { mappingId: text, destinationId: textOrNull, externalFieldName: textOrNull } as const;
/** If `destinationId` is NULL, it sends nothing. Lists are in source order, here and below. */
export interface Mapping extends AnswerRow<typeof MAPPING> {
  readonly entries: readonly MappingEntry[];
}

const FIELD = { customFieldId: text, name: textOrNull, fieldType: textOrNull } as const;
export interface FieldDefinition extends AnswerRow<typeof FIELD> {
  readonly selectValues: readonly SelectValue[];
  readonly mappings: readonly Mapping[];
}

const DESTINATION = {
  destinationId: text,
  identification: textOrNull,
  supportsMappings: col.flag(),
} as const;
/** `supportsMappings`: NULL if the destination is known only by its ID. */
export type DestinationDefinition = AnswerRow<typeof DESTINATION>;

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

/** Reads definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<DefinitionIndex> {
  const entries = Map.groupBy(
    await readRows(
      connection,
      { ...ENTRY, mappingId: text },
      "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id",
    ),
    ({ mappingId }) => mappingId,
  );
  const mappings = Map.groupBy(
    await readRows(
      connection,
      { ...MAPPING, customFieldId: text },
      "FROM custom_field_mappings ORDER BY ordinal, mapping_id",
    ),
    ({ customFieldId }) => customFieldId,
  );
  const selectValues = Map.groupBy(
    await readRows(
      connection,
      { ...SELECT_VALUE, customFieldId: text },
      "FROM custom_field_select_values ORDER BY ordinal, value_id",
    ),
    ({ customFieldId }) => customFieldId,
  );
  const fields = await readRows(
    connection,
    FIELD,
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
      DESTINATION,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}
