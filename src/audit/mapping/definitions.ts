/**
 * What the mapping procedure reads besides an item: custom field definitions with their mappings, and destinations,
 * indexed once per run.
 */
import { z } from "zod";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { flag } from "../rows.ts";

const text = z.string();
const textOrNull = text.nullable();

/** A value that a select or multiselect field offers; `valueId` is unique in the field. */
export const selectValueRow = z.object({
  valueId: text,
  display: textOrNull,
  value: textOrNull,
  archived: flag,
});
export type SelectValue = Readonly<z.output<typeof selectValueRow>>;

/** An entry of a mapping: the external value of an internal value ID. */
export const entryRow = z.object({ mappingValueId: text, valueId: textOrNull, externalValue: textOrNull });
export type MappingEntry = Readonly<z.output<typeof entryRow>>;

/** `destinationId`: where it is NULL, no value goes anywhere by the mapping. */
export const mappingRow = z.object({
  mappingId: text,
  destinationId: textOrNull,
  externalFieldName: textOrNull,
});
/** Lists are in source order, here and in the next. */
export interface Mapping extends Readonly<z.output<typeof mappingRow>> {
  readonly entries: readonly MappingEntry[];
}

export const fieldRow = z.object({ customFieldId: text, name: textOrNull, fieldType: textOrNull });
export interface FieldDefinition extends Readonly<z.output<typeof fieldRow>> {
  readonly selectValues: readonly SelectValue[];
  readonly mappings: readonly Mapping[];
}

/** `supportsMappings`: NULL where the destination is known only by its ID. */
export const destinationRow = z.object({
  destinationId: text,
  identification: textOrNull,
  supportsMappings: z.boolean().nullable(),
});
export type Destination = Readonly<z.output<typeof destinationRow>>;

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
