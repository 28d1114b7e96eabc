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
import { col, type RowOf } from "../../common/answer.ts";
import type { Definitions, Destination, FieldDefinition, MappingEntry, SelectValue } from "./definitions.ts";
import { type MappedValue, type Members, payloadMembers, type Status } from "./mapped-value.ts";

/** One value of one custom field of an item. */
export const ITEM_VALUE = {
  customFieldId: col.text({ required: true }),
  /** 0-based position in the source list. */
  ordinal: col.count({ required: true }),
  /** The value as `custom_fields` gives it there, as text; NULL where it gives nothing: then there is no row. */
  input: col.text(),
  /** Whether `custom_field_value_ids` has the same string in that place. */
  inputIsId: col.flag({ required: true }),
  /** The value's text in the other views. */
  text: col.text(),
} as const;
export type ItemValue = RowOf<typeof ITEM_VALUE>;

export interface Item {
  readonly contentId: string;
  readonly values: readonly ItemValue[];
}

export type MappedItem = ReturnType<typeof mapItem>;

/** How rule 5 read a string of an item. */
export type ReadAs =
  /** As a value ID, and what says that it is one. */
  | "id_in_value_ids"
  | "id_of_select_value"
  | "id_in_mapping"
  /** As the text of a select value. */
  | "text_of_value"
  | "text_of_display"
  /** As a text that is of no select value. */
  | "unknown_text"
  /** As it is, in a field without value mappings. */
  | "value"
  /** The item has no value in the field. */
  | "absent";

type FieldAtDestination = Pick<MappedValue, "destinationId" | "customFieldId">;

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

/** What rule 5 reads in an item. */
interface Reading {
  readonly readAs: ReadAs;
  readonly valueId: string | null;
  /** IDs of all select values that the text fits, in source order. */
  readonly fits: readonly string[];
}

/** What stands in the item, and how it was read. */
export interface InputStep extends FieldAtDestination, Reading {
  readonly rule: 5;
  readonly ordinal: number | null;
  readonly input: string | null;
}

/** The entries for the value ID in source order, and the row that came of it. */
export interface EntryStep extends FieldAtDestination {
  readonly rule: 6;
  readonly ordinal: number;
  readonly entryIds: readonly string[];
  readonly row: MappedValue;
}

interface PayloadStep {
  readonly rule: 7;
  readonly destinationId: string;
  readonly externalFieldName: string;
  readonly values: readonly string[];
}

/**
 * What one rule found for one destination, field or value. Rule 1: the destination whose ID the mappings are searched
 * for. Rule 8 is the repetition of 2 to 6 for every field.
 */
export type Step =
  | ({ readonly rule: 1 } & Destination)
  | MappingStep
  | NameStep
  | TypeStep
  | InputStep
  | EntryStep
  | PayloadStep;

/**
 * The mapped values and payloads of an item at every destination. Pure. `passthrough`: values of fields without value
 * mappings join the payload as they are.
 */
export function mapItem(
  item: Item,
  definitions: Definitions,
  { passthrough }: { readonly passthrough: boolean },
) {
  /** What each rule found, in the order taken. */
  const steps: Step[] = [];
  const given = givenValues(item);
  /** In ascending order of destination ID, custom field ID and ordinal. */
  const ledger: MappedValue[] = [];
  /** In ascending order of destination ID; without those that nothing is sent to. */
  const payloads = new Map<string, Members>();
  for (const destination of definitions.destinations) {
    steps.push({ rule: 1, ...destination });
    const rows = definitions.fields.flatMap((field) => {
      const target = pickMapping(field, destination, definitions, steps);
      if (target === undefined) return [];
      const values = given.get(field.customFieldId) ?? [];
      if (values.length === 0) steps.push({ rule: 5, ...target.at, ...NOTHING_GIVEN });
      return values.map((value) => mapValue(value, field, target, steps));
    });
    ledger.push(...rows);
    const { destinationId } = destination;
    const members = payloadMembers(rows, passthrough);
    for (const [externalFieldName, values] of members) {
      steps.push({ rule: 7, destinationId, externalFieldName, values });
    }
    if (members.size > 0) payloads.set(destinationId, members);
  }
  return { ledger, payloads, steps };
}

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

const NOTHING_GIVEN = { ordinal: null, input: null, readAs: "absent", valueId: null, fits: [] } as const;

/** What rules 1 to 4 settle for a field at a destination, before any value is looked at. */
type Target = NonNullable<ReturnType<typeof pickMapping>>;

/** Rules 2 to 4: the mapping of the destination, its field name, and whether values are mapped at all. */
function pickMapping(
  field: FieldDefinition,
  destination: Destination,
  definitions: Definitions,
  steps: Step[],
) {
  const at = { destinationId: destination.destinationId, customFieldId: field.customFieldId };
  const fitting = field.mappings.filter(({ destinationId }) => destinationId === at.destinationId);
  const [mapping] = fitting;
  const mappingIds = fitting.map((each) => each.mappingId);
  steps.push({ rule: 2, ...at, name: field.name, mappingIds, mappingId: mapping?.mappingId ?? null });
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
    destinationUnsupported: destination.supportsMappings === null ? null : !destination.supportsMappings,
    collision: sharedBy.length > 1,
  };
}

/** Rule 5: an ID, the text of a select value, a text that is none, or the value of a field without value mappings. */
function readInput({ input, inputIsId }: GivenValue, field: FieldDefinition, mapsValues: boolean): Reading {
  if (!mapsValues) return { readAs: "value", valueId: null, fits: [] };
  const id = (readAs: ReadAs): Reading => ({ readAs, valueId: input, fits: [] });
  if (inputIsId) return id("id_in_value_ids");
  if (field.selectValues.some((offered) => offered.valueId === input)) return id("id_of_select_value");
  if (field.mappings.some((mapping) => mapping.entries.some((entry) => entry.valueId === input))) {
    return id("id_in_mapping");
  }
  const fitting = field.selectValues.filter(({ value, display }) => value === input || display === input);
  const fits = fitting.map(({ valueId }) => valueId);
  const byValue = fitting.find((offered) => offered.value === input);
  if (byValue !== undefined) return { readAs: "text_of_value", valueId: byValue.valueId, fits };
  const [valueId = null] = fits;
  return { readAs: valueId === null ? "unknown_text" : "text_of_display", valueId, fits };
}

function mapValue(value: GivenValue, field: FieldDefinition, target: Target, steps: Step[]): MappedValue {
  const { contentId, ordinal, input } = value;
  const { at, mapping, hasValueMappings } = target;
  const reading = readInput(value, field, hasValueMappings);
  const { readAs, valueId } = reading;
  steps.push({ rule: 5, ...at, ordinal, input, ...reading });
  const offered = field.selectValues.find((each) => each.valueId === valueId);
  const entries = valueId === null ? [] : mapping.entries.filter((entry) => entry.valueId === valueId);
  const [entry] = entries;
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
