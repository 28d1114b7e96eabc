/**
 * The views of an item's custom field values, which a document holds with select values by their IDs. Values that do not
 * match their definition (an unknown field or ID, a text instead of an ID, `null` in a list) are shown as they are.
 */

import type { Document } from "../content-set.ts";
import { JsonText, writeJson } from "../json-text.ts";
import type { ContentSet, FieldEntry } from "../load.ts";

interface ViewItem {
  readonly document: Document;
  readonly set: ContentSet;
}

/** Columns of the dynamic set. */
export const CUSTOM_FIELD_COLUMNS = {
  /** Value IDs as they are, a file as its ID. */
  custom_fields: (item: ViewItem) => valuesAs(item, (_field, value) => fileAsId(value)),
  /** Select values as their text, a file as an object. */
  custom_field_values: (item: ViewItem) => valuesAs(item, asText),
  /** The values that have IDs, select values and files. */
  custom_field_value_ids: (item: ViewItem) => valuesAs(item, asId),
  /** As `custom_field_values`, of fields that are visible in previews. */
  previewable_custom_field_values: (item: ViewItem) =>
    valuesAs(item, (field, value) =>
      field?.definition.visible_in_previews ? asText(field, value) : undefined,
    ),
  /** One entry for each value of a field that has a definition. */
  custom_fields_details: (item: ViewItem) =>
    Object.values(valuesAs(item, (field, value) => field && detail(item, field, value))),
};

/** Shown values by field ID; values that are shown as `undefined` are left out. */
function valuesAs(item: ViewItem, show: (field: FieldEntry | undefined, value: unknown) => unknown): object {
  const { byId } = item.set.fields;
  const entries = Object.entries(item.document.custom_fields ?? {});
  const shown = entries.map(([id, value]) => [id, show(byId.get(id), value)] as const);
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined));
}

function detail({ document }: ViewItem, field: FieldEntry, value: unknown): object {
  const { id, display_label, field_type, options } = field.definition;
  return {
    id,
    display_label,
    field_type,
    html: options.html ?? false,
    value: fileAsId(asText(field, value)) ?? null,
    value_id: asId(field, value) ?? null,
    updated_at: document.custom_fields_updated_at?.[id] ?? null,
  };
}

/** `custom_fields` in full: all fields of the item's type, and others that the item has a value for. */
export function fullCustomFields(item: ViewItem): JsonText {
  const { document, set } = item;
  const values = document.custom_fields ?? {};
  const carried = set.fields.byContentType.get(document.content_type) ?? set.fields.carriedByAll;
  const entries: JsonText[] = [];
  for (const field of set.fields.all) {
    const { id } = field.definition;
    const value = Object.hasOwn(values, id) ? values[id] : undefined;
    if (value !== undefined || carried.has(field)) {
      entries.push(new JsonText(`${field.fullEntry}${writeJson(fileAsId(asText(field, value)))}}`));
    }
  }
  return JsonText.list(entries);
}

/** Select values as texts; everything else as it is. */
function asText(field: FieldEntry | undefined, value: unknown): unknown {
  const texts = field?.textById;
  if (texts === undefined) return value;
  return eachOf(value, (one) => (typeof one === "string" ? (texts.get(one) ?? one) : one));
}

/**
 * IDs of select values and files; `undefined` for values without IDs, and `null` for such a value in a list. A text gives
 * the ID of the select value with this text.
 */
function asId(field: FieldEntry | undefined, value: unknown): unknown {
  if (isFile(value)) return value.id;
  if (field?.isFile === true && typeof value === "string") return value;
  if (field?.textById === undefined) return undefined;
  return eachOf(value, (one) => (typeof one === "string" ? selectId(field, one) : one)) ?? undefined;
}

function selectId({ textById, mappedIds, idByText }: FieldEntry, idOrText: string): string | null {
  if (textById?.has(idOrText) || mappedIds.has(idOrText)) return idOrText;
  // Anything else is the ID of a deleted value, or a text: IDs have no white space.
  return idByText.get(idOrText) ?? (/\s/.test(idOrText) ? null : idOrText);
}

function fileAsId(value: unknown): unknown {
  return eachOf(value, (one) => (isFile(one) ? one.id : one));
}

function eachOf(value: unknown, map: (one: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(map) : map(value);
}

function isFile(value: unknown): value is { readonly id: string } {
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
}
