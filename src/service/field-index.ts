import { z } from "zod";
import { fullCustomField } from "../api/custom-field.ts";
import type { ContentType, CustomField } from "./content-set.ts";

/** A custom field definition with what the views need of it, made once. */
export interface IndexedField {
  readonly definition: CustomField;
  /** Value ID to the text that it is shown as; undefined for fields without select values. */
  readonly textById: ReadonlyMap<string, string> | undefined;
  /** Text of a select value (its `value`, then its `display`) to the value ID; the first in source order. */
  readonly idByText: ReadonlyMap<string, string>;
  /** IDs that a mapping of the field names, select values of the field or not. */
  readonly mappedIds: ReadonlySet<string>;
  readonly isFile: boolean;
  /** The entry of `custom_fields` in full, as JSON that ends where its value is to be written. */
  readonly fullEntry: string;
}

/** The definitions of a content set. */
export interface FieldIndex {
  readonly all: readonly IndexedField[];
  readonly byId: ReadonlyMap<string, IndexedField>;
  /** Content type ID to the fields that its items carry, in source order. */
  readonly byContentType: ReadonlyMap<string, ReadonlySet<IndexedField>>;
  /** Carried by items whose content type is not in the set. */
  readonly carriedByAll: ReadonlySet<IndexedField>;
}

export function indexFields(
  definitions: readonly CustomField[],
  types: readonly ContentType[],
  instanceId: string,
): FieldIndex {
  const all = definitions.map((definition) => indexField(definition, instanceId));
  const carriedBy = (typeId: string) =>
    new Set(all.filter(({ definition }) => definition.content_types?.includes(typeId) ?? true));
  return {
    all,
    byId: new Map(all.map((field) => [field.definition.id, field])),
    byContentType: new Map(types.map(({ id }) => [id, carriedBy(id)])),
    carriedByAll: new Set(all.filter(({ definition }) => definition.content_types === undefined)),
  };
}

function indexField(definition: CustomField, instanceId: string): IndexedField {
  const values = definition.formatted_select_values;
  return {
    definition,
    textById: values && new Map(values.map(({ id, value }) => [id, value])),
    // Of several entries of a text a map keeps the last, so the first comes last.
    idByText: new Map(
      [
        ...(values ?? []).map(({ id, value }) => [value, id] as const),
        ...(values ?? []).map(({ id, display }) => [display, id] as const),
      ].reverse(),
    ),
    mappedIds: new Set(definition.mappings.flatMap((mapping) => mapping.values.map((v) => v.value_id))),
    isFile: definition.field_type === "file" || definition.field_type === "image",
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
