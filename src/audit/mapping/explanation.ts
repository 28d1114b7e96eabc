import type { MappedValue } from "./mapped-value.ts";

/**
 * How rule 5 read a string of an item.
 * - `id_in_value_ids`, `id_of_select_value`, `id_in_mapping`: as a value ID, and what says that it is one.
 * - `text_of_value`, `text_of_display`: as the text of a select value.
 * - `unknown_text`: as a text that is of no select value.
 * - `value`: as it is, in a field without value mappings.
 * - `absent`: the item has no value in the field.
 */
export type ReadAs =
  | "id_in_value_ids"
  | "id_of_select_value"
  | "id_in_mapping"
  | "text_of_value"
  | "text_of_display"
  | "unknown_text"
  | "value"
  | "absent";

interface FieldAtDestination {
  readonly destinationId: string;
  readonly customFieldId: string;
}

/** The destination whose `id` the mappings are searched for. */
export interface DestinationStep {
  readonly rule: 1;
  readonly destinationId: string;
  readonly identification: string | null;
  readonly supportsMappings: boolean | null;
}

/** The mappings of the field for the destination in source order, and the one that is picked: the first, or none. */
export interface MappingStep extends FieldAtDestination {
  readonly rule: 2;
  readonly name: string | null;
  readonly mappingIds: readonly string[];
  readonly mappingId: string | null;
}

/** The external field name, how many entries the mapping has, and every field that has the name there, this one too. */
export interface NameStep extends FieldAtDestination {
  readonly rule: 3;
  readonly mappingId: string;
  readonly externalFieldName: string | null;
  readonly entries: number;
  readonly sharedBy: readonly string[];
}

export interface TypeStep extends FieldAtDestination {
  readonly rule: 4;
  readonly fieldType: string | null;
  readonly hasValueMappings: boolean;
}

/** What stands in the item, how it was read, and the IDs of all select values that a text fits. */
export interface InputStep extends FieldAtDestination {
  readonly rule: 5;
  readonly ordinal: number | null;
  readonly input: string | null;
  readonly readAs: ReadAs;
  readonly valueId: string | null;
  readonly fits: readonly string[];
}

/** The entries for the value ID in source order, and the row that came of it. */
export interface EntryStep extends FieldAtDestination {
  readonly rule: 6;
  readonly ordinal: number;
  readonly entryIds: readonly string[];
  readonly row: MappedValue;
}

/** A member of the payload. */
export interface PayloadStep {
  readonly rule: 7;
  readonly destinationId: string;
  readonly externalFieldName: string;
  readonly values: readonly string[];
}

/** What one rule found for one destination, field or value. Rule 8 is the repetition of 2 to 6 for every field. */
export type Step = DestinationStep | MappingStep | NameStep | TypeStep | InputStep | EntryStep | PayloadStep;

/** Takes the steps of an explanation; undefined where nobody asked for one. */
export type Note = ((step: Step) => void) | undefined;
