/** What the mapping procedure reads, straight from answers of the service. */
import type { CustomFieldDefinition } from "../../api/custom-field.ts";
import type { Destination as WireDestination } from "../../api/destination.ts";
import { isObject } from "../../common/objects.ts";
import { jsonText } from "../../raw/values.ts";
import {
  type Definitions,
  type FieldDefinition,
  indexDefinitions,
  type Mapping,
  type SelectValue,
} from "./definitions.ts";
import type { Item, ItemValue } from "./procedure.ts";

export function liveDefinitions(
  definitions: readonly CustomFieldDefinition[],
  destinations: readonly WireDestination[],
): Definitions {
  return indexDefinitions(
    definitions.map(
      (definition): FieldDefinition => ({
        customFieldId: definition.id,
        name: definition.name ?? null,
        fieldType: definition.field_type ?? null,
        selectValues: selectValues(definition),
        mappings: mappings(definition),
      }),
    ),
    destinations.map(({ id, identification, supports_custom_field_mappings: supports }) => ({
      destinationId: id,
      identification: identification ?? null,
      supportsMappings: supports ?? null,
    })),
  );
}

/** Of two values with the same ID, the first counts. */
function selectValues({ formatted_select_values: offered }: CustomFieldDefinition): SelectValue[] {
  const found = new Map<string, SelectValue>();
  (offered ?? []).forEach((each, ordinal) => {
    if (each === null) return;
    const valueId = each.id ?? `#${ordinal}`;
    if (found.has(valueId)) return;
    const { display = null, value = null, archived } = each;
    found.set(valueId, { valueId, display, value, archived: archived === true });
  });
  return [...found.values()];
}

/** An ID that is missing is the place of the mapping or entry, as in the tables of a run. */
function mappings({ id, mappings: given }: CustomFieldDefinition): Mapping[] {
  return (given ?? []).flatMap((mapping, place) => {
    if (mapping === null) return [];
    const mappingId = mapping.id || `${id}#${place}`;
    const entries = (mapping.values ?? []).flatMap((entry, at) => {
      if (entry === null) return [];
      const mappingValueId = entry.id || `${mappingId}#${at}`;
      return [{ mappingValueId, valueId: entry.value_id ?? null, externalValue: entry.value ?? null }];
    });
    const { external_site_id: destinationId = null, field_name: externalFieldName = null } = mapping;
    return [{ mappingId, destinationId, externalFieldName, entries }];
  });
}

/** Columns of an item that the procedure needs, and its time. */
export const LIVE_COLUMNS = [
  "updated_at",
  "custom_fields",
  "custom_field_values",
  "custom_field_value_ids",
] as const;

/** Rule 5, from one document of the dynamic view. */
export function liveItem(contentId: string, document: Readonly<Record<string, unknown>>): Item {
  const sent = objectAt(document, "custom_fields");
  const ids = objectAt(document, "custom_field_value_ids");
  const texts = objectAt(document, "custom_field_values");
  const values = [...sent].flatMap(([customFieldId, value]) => {
    const idList = listOf(ids.get(customFieldId));
    const textList = listOf(texts.get(customFieldId));
    return listOf(value).flatMap((element, ordinal): ItemValue[] => {
      const input = asText(element);
      if (input === null) return [];
      const inputIsId = idList[ordinal] === input;
      return [{ customFieldId, ordinal, input, inputIsId, text: asText(textList[ordinal]) }];
    });
  });
  return { contentId, values };
}

function objectAt(document: Readonly<Record<string, unknown>>, name: string): ReadonlyMap<string, unknown> {
  const value = Object.hasOwn(document, name) ? document[name] : undefined;
  return new Map(isObject(value) ? Object.entries(value) : []);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : jsonText(value);
}
