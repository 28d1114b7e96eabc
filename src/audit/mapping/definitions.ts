/**
 * What the mapping procedure reads besides an item: custom field definitions with their mappings, and destinations,
 * indexed once per run.
 */

/** A value that a select or multiselect field offers; `valueId` is unique in the field. */
export interface SelectValue {
  readonly valueId: string;
  readonly display: string | null;
  readonly value: string | null;
  readonly archived: boolean;
}

/** An entry of a mapping: the external value of an internal value ID. */
export interface MappingEntry {
  readonly mappingValueId: string;
  readonly valueId: string | null;
  readonly externalValue: string | null;
}

export interface Mapping {
  readonly mappingId: string;
  /** NULL: the mapping names no destination, and no value goes anywhere by it. */
  readonly destinationId: string | null;
  readonly externalFieldName: string | null;
  /** In source order. */
  readonly entries: readonly MappingEntry[];
}

export interface FieldDefinition {
  readonly customFieldId: string;
  readonly name: string | null;
  readonly fieldType: string | null;
  /** In source order. */
  readonly selectValues: readonly SelectValue[];
  /** In source order. */
  readonly mappings: readonly Mapping[];
}

export interface Destination {
  readonly destinationId: string;
  readonly identification: string | null;
  /** NULL: the destination is known only by its ID. */
  readonly supportsMappings: boolean | null;
}

export interface Definitions {
  /** In ascending order of custom field ID. */
  readonly fields: readonly FieldDefinition[];
  /** Those looked up and those that only a mapping names, in ascending order of destination ID. */
  readonly destinations: readonly Destination[];
  /** IDs of the fields that have a mapping to the external field name at the destination, ascending. */
  fieldsNamed(destinationId: string, externalFieldName: string): readonly string[];
}

/** Whether the destination supports no mappings; NULL where that is unknown. */
export function unsupported(destination: Destination): boolean | null {
  return destination.supportsMappings === null ? null : !destination.supportsMappings;
}

/** Ascending order of the UTF-8 bytes: the order of text in DuckDB, which that of JavaScript's `<` is not. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function indexDefinitions(
  fields: readonly FieldDefinition[],
  destinations: readonly Destination[],
): Definitions {
  const sortedFields = fields.toSorted((a, b) => compareText(a.customFieldId, b.customFieldId));
  const byId = new Map(destinations.map((destination) => [destination.destinationId, destination]));
  const named = new Map<string, Map<string, string[]>>();
  for (const field of sortedFields) {
    for (const { destinationId, externalFieldName } of field.mappings) {
      if (destinationId === null) continue;
      if (!byId.has(destinationId)) {
        byId.set(destinationId, { destinationId, identification: null, supportsMappings: null });
      }
      if (externalFieldName !== null) addName(named, destinationId, externalFieldName, field.customFieldId);
    }
  }
  return {
    fields: sortedFields,
    destinations: [...byId.values()].sort((a, b) => compareText(a.destinationId, b.destinationId)),
    fieldsNamed: (destinationId, name) => named.get(destinationId)?.get(name) ?? [],
  };
}

function addName(
  named: Map<string, Map<string, string[]>>,
  destinationId: string,
  externalFieldName: string,
  customFieldId: string,
): void {
  const names = named.get(destinationId) ?? new Map<string, string[]>();
  named.set(destinationId, names);
  const fieldIds = names.get(externalFieldName) ?? [];
  names.set(externalFieldName, fieldIds);
  if (!fieldIds.includes(customFieldId)) fieldIds.push(customFieldId);
}
