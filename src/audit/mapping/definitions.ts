/**
 * What the mapping procedure reads besides an item: custom field definitions with their mappings, and destinations,
 * indexed once per run.
 */
import { type AnswerRow, col } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";

const text = col.text({ required: true });
const textOrNull = col.text();

/** A value that a select or multiselect field offers; `valueId` is unique in the field. */
export const SELECT_VALUE = {
  valueId: text,
  display: textOrNull,
  value: textOrNull,
  archived: col.flag({ required: true }),
} as const;
export type SelectValue = AnswerRow<typeof SELECT_VALUE>;

/** An entry of a mapping: the external value of an internal value ID. */
export const ENTRY = { mappingValueId: text, valueId: textOrNull, externalValue: textOrNull } as const;
export type MappingEntry = AnswerRow<typeof ENTRY>;

/** `destinationId`: where it is NULL, no value goes anywhere by the mapping. */
export const MAPPING = {
  mappingId: text,
  destinationId: textOrNull,
  externalFieldName: textOrNull,
} as const;
/** Lists are in source order, here and in the next. */
export interface Mapping extends AnswerRow<typeof MAPPING> {
  readonly entries: readonly MappingEntry[];
}

export const FIELD = { customFieldId: text, name: textOrNull, fieldType: textOrNull } as const;
export interface FieldDefinition extends AnswerRow<typeof FIELD> {
  readonly selectValues: readonly SelectValue[];
  readonly mappings: readonly Mapping[];
}

/** `supportsMappings`: NULL where the destination is known only by its ID. */
export const DESTINATION = {
  destinationId: text,
  identification: textOrNull,
  supportsMappings: col.flag(),
} as const;
export type Destination = AnswerRow<typeof DESTINATION>;

export type Definitions = ReturnType<typeof indexDefinitions>;

export function indexDefinitions(fields: readonly FieldDefinition[], destinations: readonly Destination[]) {
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
    /** In ascending order of custom field ID. */
    fields: sortedFields,
    /** Those looked up and those that only a mapping names, in ascending order of destination ID. */
    destinations: [...byId.values()].sort((a, b) => compareUtf8(a.destinationId, b.destinationId)),
    /** IDs of the fields that have a mapping to the external field name at the destination, ascending. */
    fieldsNamed: (destinationId: string, externalFieldName: string): string[] => [
      ...(named.get(JSON.stringify([destinationId, externalFieldName])) ?? []),
    ],
  };
}
