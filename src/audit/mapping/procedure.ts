/**
 * The mapping procedure of the specification for one item, rules 1 to 8 in order: which external values its custom
 * field values give at each destination, or why they give none. The SQL steps of `src/load/sql` give the same rows
 * for all items at once.
 *
 * Where several things fit, the first in source order is used and the row is `ambiguous`; precisely:
 * - Several mappings of a field for one destination (rule 2): the first is picked before any value is looked at. It
 *   gives the external field name and the entries; the entries of a later one are never used, also where the first
 *   has none for a value. All rows of the field at that destination are `ambiguous`, whatever their status.
 * - Several entries for a value ID (rule 6): the first within the picked mapping. Entries that agree are several too.
 * - A text that fits several select values (rule 5): the first whose `value` it is, else the first whose `display` it
 *   is. It is ambiguous even where one fits by `value` and another by `display`.
 *
 * Whether a string is an ID is a fact of the field, not of the destination: an entry of any of its mappings, also of
 * one that was not picked, makes it an ID. Once it is an ID, it is never matched as a text.
 */
import { z } from "zod";
import { flag, integer } from "../rows.ts";
import {
  type Definitions,
  type Destination,
  type FieldDefinition,
  type Mapping,
  type MappingEntry,
  type SelectValue,
  unsupported,
} from "./definitions.ts";
import type { MappedValue, Status } from "./mapped-value.ts";
import { type Payload, payloadMembers } from "./payload.ts";

/** One value of one custom field of an item. */
export const itemValueRow = z.object({
  customFieldId: z.string(),
  /** 0-based position in the source list. */
  ordinal: integer,
  /** The value as `custom_fields` gives it there, as text; NULL where it gives nothing: then there is no row. */
  input: z.string().nullable(),
  /** Whether `custom_field_value_ids` has the same string in that place. */
  inputIsId: flag,
  /** The value's text in the other views. */
  text: z.string().nullable(),
});
export type ItemValue = Readonly<z.output<typeof itemValueRow>>;

export interface Item {
  readonly contentId: string;
  readonly values: readonly ItemValue[];
}

export interface MappedItem {
  /** In ascending order of destination ID, custom field ID and ordinal. */
  readonly ledger: readonly MappedValue[];
  /** In ascending order of destination ID. */
  readonly payloads: readonly Payload[];
  /** What each rule found, in the order taken. */
  readonly steps: readonly Step[];
}

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
export interface DestinationStep extends Destination {
  readonly rule: 1;
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

/** `passthrough`: values of fields without value mappings join the payload as they are. */
export interface ProcedureOptions {
  readonly passthrough: boolean;
}

/** The mapped values and payloads of an item at every destination. Pure. */
export function mapItem(item: Item, definitions: Definitions, options: ProcedureOptions): MappedItem {
  const steps: Step[] = [];
  const given = givenValues(item);
  const ledger: MappedValue[] = [];
  const payloads: Payload[] = [];
  for (const destination of definitions.destinations) {
    steps.push({ rule: 1, ...destination });
    const rows = mapAtDestination(given, destination, definitions, steps);
    ledger.push(...rows);
    const { destinationId } = destination;
    const members = payloadMembers(rows, options.passthrough);
    for (const [externalFieldName, values] of members) {
      steps.push({ rule: 7, destinationId, externalFieldName, values });
    }
    if (members.size === 0) continue;
    const destinationUnsupported = unsupported(destination);
    payloads.push({ contentId: item.contentId, destinationId, members, destinationUnsupported });
  }
  return { ledger, payloads, steps };
}

/** A value that `custom_fields` gives. */
interface GivenValue extends ItemValue {
  readonly contentId: string;
  readonly input: string;
}

/** Custom field ID to the item's values in source order. */
function givenValues({ contentId, values }: Item): Map<string, GivenValue[]> {
  const given = values
    .flatMap(({ input, ...value }) => (input === null ? [] : [{ ...value, contentId, input }]))
    .sort((a, b) => a.ordinal - b.ordinal);
  return Map.groupBy(given, ({ customFieldId }) => customFieldId);
}

/** Rules 2 to 6 for every field (rule 8). */
function mapAtDestination(
  given: ReadonlyMap<string, readonly GivenValue[]>,
  destination: Destination,
  definitions: Definitions,
  steps: Step[],
): MappedValue[] {
  return definitions.fields.flatMap((field) => {
    const target = pickMapping(field, destination, definitions, steps);
    if (target === undefined) return [];
    const values = given.get(field.customFieldId) ?? [];
    if (values.length === 0) steps.push({ rule: 5, ...target.at, ...NOTHING_GIVEN });
    return values.map((value) => mapValue(value, field, target, steps));
  });
}

const NOTHING_GIVEN = { ordinal: null, input: null, readAs: "absent", valueId: null, fits: [] } as const;

/** What rules 1 to 4 settle for a field at a destination, before any value is looked at. */
interface Target {
  readonly at: FieldAtDestination;
  readonly mapping: Mapping;
  readonly severalMappings: boolean;
  readonly hasValueMappings: boolean;
  readonly destinationUnsupported: boolean | null;
  readonly collision: boolean;
}

/** Rules 2 to 4: the mapping of the destination, its field name, and whether values are mapped at all. */
function pickMapping(
  field: FieldDefinition,
  destination: Destination,
  definitions: Definitions,
  steps: Step[],
): Target | undefined {
  const at = { destinationId: destination.destinationId, customFieldId: field.customFieldId };
  const fitting = field.mappings.filter((mapping) => mapping.destinationId === destination.destinationId);
  const mapping = fitting[0];
  steps.push({
    rule: 2,
    ...at,
    name: field.name,
    mappingIds: fitting.map((each) => each.mappingId),
    mappingId: mapping?.mappingId ?? null,
  });
  if (mapping === undefined) return undefined;
  const { externalFieldName, mappingId, entries } = mapping;
  const sharedBy =
    externalFieldName === null ? [] : definitions.fieldsNamed(at.destinationId, externalFieldName);
  steps.push({ rule: 3, ...at, mappingId, externalFieldName, entries: entries.length, sharedBy });
  const hasValueMappings = field.fieldType === "select" || field.fieldType === "multiselect";
  steps.push({ rule: 4, ...at, fieldType: field.fieldType, hasValueMappings });
  return {
    at,
    mapping,
    severalMappings: fitting.length > 1,
    hasValueMappings,
    destinationUnsupported: unsupported(destination),
    collision: sharedBy.length > 1,
  };
}

/** What rule 5 reads in an item. */
interface Reading {
  readonly readAs: ReadAs;
  readonly valueId: string | null;
  /** Select values that the text fits, in source order. */
  readonly fits: readonly SelectValue[];
}

/** Rule 5: an ID, the text of a select value, a text that is none, or the value of a field without value mappings. */
function readInput(value: GivenValue, field: FieldDefinition, mapsValues: boolean): Reading {
  const { input } = value;
  if (!mapsValues) return { readAs: "value", valueId: null, fits: [] };
  const id = (readAs: ReadAs): Reading => ({ readAs, valueId: input, fits: [] });
  if (value.inputIsId) return id("id_in_value_ids");
  if (field.selectValues.some((offered) => offered.valueId === input)) return id("id_of_select_value");
  if (field.mappings.some((mapping) => mapping.entries.some((entry) => entry.valueId === input))) {
    return id("id_in_mapping");
  }
  const fits = field.selectValues.filter((offered) => offered.value === input || offered.display === input);
  const byValue = fits.find((offered) => offered.value === input);
  const chosen = byValue ?? fits[0];
  if (chosen === undefined) return { readAs: "unknown_text", valueId: null, fits };
  return {
    readAs: byValue === undefined ? "text_of_display" : "text_of_value",
    valueId: chosen.valueId,
    fits,
  };
}

function mapValue(value: GivenValue, field: FieldDefinition, target: Target, steps: Step[]): MappedValue {
  const { contentId, ordinal, input } = value;
  const { at, mapping, hasValueMappings } = target;
  const reading = readInput(value, field, hasValueMappings);
  const { readAs, valueId } = reading;
  steps.push({
    rule: 5,
    ...at,
    ordinal,
    input,
    readAs,
    valueId,
    fits: reading.fits.map((each) => each.valueId),
  });
  const offered = valueId === null ? undefined : field.selectValues.find((each) => each.valueId === valueId);
  const entries = valueId === null ? [] : mapping.entries.filter((entry) => entry.valueId === valueId);
  const entry = entries[0];
  const status = statusOf(hasValueMappings, entry, offered);
  const row: MappedValue = {
    contentId,
    ...at,
    ordinal,
    externalFieldName: mapping.externalFieldName,
    valueId,
    value: valueId === null ? input : (offered?.value ?? value.text),
    mappingId: mapping.mappingId,
    mappingValueId: entry?.mappingValueId ?? null,
    externalValue: entry?.externalValue ?? null,
    status,
    valueArchived: offered?.archived ?? false,
    valueUnknown: hasValueMappings && offered === undefined,
    ambiguous: target.severalMappings || reading.fits.length > 1 || entries.length > 1,
    matchedByText: readAs === "text_of_value" || readAs === "text_of_display",
    destinationUnsupported: target.destinationUnsupported,
    collision: target.collision,
  };
  steps.push({ rule: 6, ...at, ordinal, entryIds: entries.map((each) => each.mappingValueId), row });
  return row;
}

/** Rule 6: a fitting entry decides first, then membership in the select values. */
function statusOf(
  hasValueMappings: boolean,
  entry: MappingEntry | undefined,
  offered: SelectValue | undefined,
): Status {
  if (!hasValueMappings) return "no_value_mapping";
  if (entry !== undefined) return "mapped";
  return offered === undefined ? "unknown_value" : "unmapped";
}
