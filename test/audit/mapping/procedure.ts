/**
 * The mapping procedure of the specification for one item, rules 1 to 8 in order: which external values its custom
 * field values give at each destination. Tests hold the SQL steps of `src/load/sql`, which give the same rows for all
 * items at once, equal to it.
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

import type { MappedValue, MappingStatus } from "../../../src/audit/mapped-value.ts";
import type {
  DefinitionIndex,
  DestinationDefinition,
  FieldDefinition,
  MappingEntry,
  SelectValue,
} from "../../../src/audit/mapping/definitions.ts";
import type { ItemValue } from "../../../src/audit/questions/explain-facts.ts";
import { compareUtf8 } from "../../../src/common/utf8-order.ts";

export interface Item {
  readonly contentId: string;
  readonly values: readonly ItemValue[];
}

/** External values by external field name, ascending by the bytes of the names. */
type PayloadMembers = ReadonlyMap<string, readonly string[]>;

export type MappedItem = ReturnType<typeof mapItem>;

/**
 * The mapped values and payloads of an item at every destination. Pure. `passthrough`: values of fields without value
 * mappings join the payload as they are.
 */
export function mapItem(
  item: Item,
  definitions: DefinitionIndex,
  { passthrough }: { readonly passthrough: boolean },
) {
  const given = givenValues(item);
  /** In ascending order of destination ID, custom field ID and ordinal. */
  const mappedValues: MappedValue[] = [];
  /** In ascending order of destination ID; without those that nothing is sent to. */
  const payloads = new Map<string, PayloadMembers>();
  for (const destination of definitions.destinations) {
    const rows = definitions.fields.flatMap((field) => {
      const target = pickMapping(field, destination, definitions);
      if (target === undefined) return [];
      return (given.get(field.customFieldId) ?? []).map((value) => mapValue(value, field, target));
    });
    mappedValues.push(...rows);
    const members = payloadMembers(rows, passthrough);
    if (members.size > 0) payloads.set(destination.destinationId, members);
  }
  return { mappedValues, payloads };
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

/** What rules 1 to 4 settle for a field at a destination, before any value is looked at. */
type Target = NonNullable<ReturnType<typeof pickMapping>>;

/** Rules 2 to 4: the mapping of the destination, its field name, and whether values are mapped at all. */
function pickMapping(
  field: FieldDefinition,
  destination: DestinationDefinition,
  definitions: DefinitionIndex,
) {
  const at = { destinationId: destination.destinationId, customFieldId: field.customFieldId };
  const fitting = field.mappings.filter(({ destinationId }) => destinationId === at.destinationId);
  const [mapping] = fitting;
  if (mapping === undefined) return undefined;
  const { externalFieldName } = mapping;
  const sharedBy =
    externalFieldName === null ? [] : definitions.fieldsNamed(at.destinationId, externalFieldName);
  const hasValueMappings = field.fieldType === "select" || field.fieldType === "multiselect";
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
function readInput({ input, inputIsId }: GivenValue, field: FieldDefinition, mapsValues: boolean) {
  const nothing = { valueId: null, byText: false, fits: 0 };
  if (!mapsValues) return nothing;
  const isId =
    inputIsId ||
    field.selectValues.some((offered) => offered.valueId === input) ||
    field.mappings.some((mapping) => mapping.entries.some((entry) => entry.valueId === input));
  if (isId) return { ...nothing, valueId: input };
  const fitting = field.selectValues.filter(({ value, display }) => value === input || display === input);
  const first = fitting.find((offered) => offered.value === input) ?? fitting[0];
  return first === undefined ? nothing : { valueId: first.valueId, byText: true, fits: fitting.length };
}

function mapValue(value: GivenValue, field: FieldDefinition, target: Target): MappedValue {
  const { contentId, ordinal, input } = value;
  const { at, mapping, hasValueMappings } = target;
  const { valueId, byText, fits } = readInput(value, field, hasValueMappings);
  const offered = field.selectValues.find((each) => each.valueId === valueId);
  const entries = valueId === null ? [] : mapping.entries.filter((entry) => entry.valueId === valueId);
  const [entry] = entries;
  const status = statusOf(hasValueMappings, entry, offered);
  return {
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
    ambiguous: target.severalMappings || fits > 1 || entries.length > 1,
    matchedByText: byText,
    destinationUnsupported: target.destinationUnsupported,
    collision: target.collision,
  };
}

/** Rule 6: a fitting entry decides first, then membership in the select values. */
function statusOf(
  hasValueMappings: boolean,
  entry: MappingEntry | undefined,
  offered: SelectValue | undefined,
): MappingStatus {
  if (!hasValueMappings) return "no_value_mapping";
  if (entry !== undefined) return "mapped";
  return offered === undefined ? "unknown_value" : "unmapped";
}

/**
 * Rule 7: the external field name as key, always a list. `rows` are those of one item at one destination, in mapped values
 * order: values come in ascending order of custom field ID, then in source order. An entry without an external value,
 * or a mapping without a name, sends nothing. `passthrough`: a field without value mappings sends its values as they
 * are.
 */
export function payloadMembers(rows: readonly MappedValue[], passthrough: boolean): PayloadMembers {
  const sent = rows.flatMap((row) => {
    const { externalFieldName: name, status } = row;
    const own = status === "no_value_mapping" && passthrough ? row.value : null;
    const value = status === "mapped" ? row.externalValue : own;
    return name === null || value === null ? [] : [{ name, value }];
  });
  return new Map(
    [...Map.groupBy(sent, ({ name }) => name)]
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([name, some]) => [name, some.map(({ value }) => value)]),
  );
}

/** The payload as the JSON text that a destination would receive: `{"Topic":["Sales","Service"]}`. */
export function payloadJson(payload: PayloadMembers): string {
  const members = [...payload].map(([name, values]) => `${JSON.stringify(name)}:${JSON.stringify(values)}`);
  return `{${members.join(",")}}`;
}
