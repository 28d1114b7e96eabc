/**
 * What the mapping procedure reads besides an item: custom field definitions with their mappings, and destinations,
 * indexed once per run.
 */

import { compareUtf8 } from "../../common/utf8-order.ts";

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

export function indexDefinitions(
  fields: readonly FieldDefinition[],
  destinations: readonly Destination[],
): Definitions {
  const sortedFields = fields.toSorted((a, b) => compareUtf8(a.customFieldId, b.customFieldId));
  const byId = new Map(destinations.map((destination) => [destination.destinationId, destination]));
  const named = new Map<string, Set<string>>();
  for (const { customFieldId, mappings } of sortedFields) {
    for (const { destinationId, externalFieldName } of mappings) {
      if (destinationId === null) continue;
      const known = byId.get(destinationId) ?? {
        destinationId,
        identification: null,
        supportsMappings: null,
      };
      byId.set(destinationId, known);
      const key = JSON.stringify([destinationId, externalFieldName]);
      named.set(key, (named.get(key) ?? new Set()).add(customFieldId));
    }
  }
  return {
    fields: sortedFields,
    destinations: [...byId.values()].sort((a, b) => compareUtf8(a.destinationId, b.destinationId)),
    fieldsNamed: (destinationId, name) => [...(named.get(JSON.stringify([destinationId, name])) ?? [])],
  };
}
