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
  for (const { destinationId } of sortedFields.flatMap(({ mappings }) => mappings)) {
    if (destinationId === null) continue;
    const unknown = { destinationId, identification: null, supportsMappings: null };
    byId.set(destinationId, byId.get(destinationId) ?? unknown);
  }
  return {
    /** Ascending by custom field ID. */
    fields: sortedFields,
    /** Destinations that were looked up or that a mapping names, ascending by ID. */
    destinations: [...byId.values()].sort((a, b) => compareUtf8(a.destinationId, b.destinationId)),
    /** IDs of the fields that are mapped to the external field name at the destination, ascending. */
    fieldsNamed: (destinationId: string, name: string): string[] =>
      sortedFields
        .filter(({ mappings }) =>
          mappings.some((each) => each.destinationId === destinationId && each.externalFieldName === name),
        )
        .map(({ customFieldId }) => customFieldId),
  };
}

/** Reads definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<DefinitionIndex> {
  const entries = await readRows(
    connection,
    { ...ENTRY, mappingId: text },
    "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id",
  );
  const mappings = await readRows(
    connection,
    { ...MAPPING, customFieldId: text },
    "FROM custom_field_mappings ORDER BY ordinal, mapping_id",
  );
  const selectValues = await readRows(
    connection,
    { ...SELECT_VALUE, customFieldId: text },
    "FROM custom_field_select_values ORDER BY ordinal, value_id",
  );
  const entriesOf = Map.groupBy(entries, ({ mappingId }) => mappingId);
  const mappingsOf = Map.groupBy(mappings, ({ customFieldId }) => customFieldId);
  const selectValuesOf = Map.groupBy(selectValues, ({ customFieldId }) => customFieldId);
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
      selectValues: selectValuesOf.get(field.customFieldId) ?? [],
      mappings: (mappingsOf.get(field.customFieldId) ?? []).map((mapping) => ({
        ...mapping,
        entries: entriesOf.get(mapping.mappingId) ?? [],
      })),
    })),
    await readRows(
      connection,
      DESTINATION,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}
