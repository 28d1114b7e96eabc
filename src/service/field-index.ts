import { z } from "zod";
import { fullCustomField } from "../api/custom-field.ts";
import type { ContentType, CustomField } from "./content-set.ts";

/** The definitions of a content set. */
export function indexFields(
  definitions: readonly CustomField[],
  types: readonly ContentType[],
  instanceId: string,
) {
  const all = definitions.map((definition) => indexField(definition, instanceId));
  const carriedBy = (typeId: string) =>
    new Set(all.filter(({ definition }) => definition.content_types?.includes(typeId) ?? true));
  return {
    all,
    byId: new Map(all.map((field) => [field.definition.id, field])),
    /** Content type ID to the fields that its items carry, in source order. */
    byContentType: new Map(types.map(({ id }) => [id, carriedBy(id)])),
    /** Carried by items whose content type is not in the set. */
    carriedByAll: new Set(all.filter(({ definition }) => definition.content_types === undefined)),
  };
}

/** A custom field definition with what the views need of it, made once. */
export type FieldEntry = ReturnType<typeof indexField>;

function indexField(definition: CustomField, instanceId: string) {
  const values = definition.formatted_select_values;
  const texts = (values ?? []).map(({ id, value }) => [value, id] as const);
  const displays = (values ?? []).map(({ id, display }) => [display, id] as const);
  return {
    definition,
    /** Value ID to the text that it is shown as; undefined for fields without select values. */
    textById: values && new Map(values.map(({ id, value }) => [id, value])),
    /** Text of a select value (its `value`, then its `display`) to the value ID; the first in source order. */
    idByText: new Map([...texts, ...displays].reverse()), // of several entries of a text a map keeps the last
    /** IDs that a mapping of the field names, select values of the field or not. */
    mappedIds: new Set(definition.mappings.flatMap((mapping) => mapping.values.map((v) => v.value_id))),
    isFile: definition.field_type === "file" || definition.field_type === "image",
    /** The entry of `custom_fields` in full, as JSON that ends where its value is to be written. */
    fullEntry: `${JSON.stringify(fullEntry(definition, instanceId)).slice(0, -1)},"value":`,
  };
}

const fullFields = z.object(fullCustomField.shape);

function fullEntry(definition: CustomField, instanceId: string): object {
  const values = definition.formatted_select_values;
  return fullFields.parse({
    ...definition,
    ...(values && { select_values: values.map(({ value }) => value) }),
    select_value_ids: selectValueIds(definition),
    archived_value_ids: (values ?? []).filter(({ archived }) => archived).map(({ id }) => id),
    newsroom_id: instanceId,
  });
}

/** Value ID to value text; null for date fields, an empty object for the others without select values. */
function selectValueIds({ field_type, formatted_select_values }: CustomField): object | null {
  if (formatted_select_values) {
    return Object.fromEntries(formatted_select_values.map(({ id, value }) => [id, value]));
  }
  return field_type === "date" ? null : {};
}
