/** Makes rows of custom field values: five dynamic fields and one of `full` become one row per field and position. */

import { scalarText } from "../api/normalize.ts";
import { isObject, type JsonObject } from "../common/json.ts";
import { ExtraFields, latestObject, latestView, type RawItem } from "../raw/document.ts";
import { jsonText, noteDifference, readCell, sameJson } from "../raw/values.ts";
import { type Cell, rowOf } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { columnOf } from "./joined-rows.ts";
import type { RowMaker } from "./rows.ts";

const VALUE_TYPES = new Set(["select", "multiselect"]);
const FILE_TYPES = new Set(["file", "image"]);

function asList(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function own(object: JsonObject | undefined, key: string): unknown {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Elements of a list by their `id`; the first of several with the same ID. */
function byId(item: RawItem, key: string, value: unknown): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const element of asList(value)) {
    if (!isObject(element) || typeof element.id !== "string") continue;
    const first = found.get(element.id);
    if (first === undefined) found.set(element.id, element);
    else if (!sameJson(first, element)) {
      item.drift.note(key, "views_differ", item.order, item.contentId, [first, element]);
    }
  }
  return found;
}

/**
 * All custom fields of an item, with the values of each API field as a list; null is an empty list. `previewable` is
 * undefined without that API field. `isInBoth`: both modes have the field, perhaps as null.
 */
function fieldsOf(item: RawItem) {
  const customFields = latestObject(item, "custom_fields");
  const values = latestObject(item, "custom_field_values");
  const valueIds = latestObject(item, "custom_field_value_ids");
  const previewable = latestObject(item, "previewable_custom_field_values");
  const detailList = latestView(item, "custom_fields_details")?.document.custom_fields_details;
  const details = byId(item, "custom_fields_details", detailList);
  const fullView = item.views.find(
    ({ shape, document }) => shape === "full" && document.custom_fields !== undefined,
  );
  const full = byId(item, "custom_fields", fullView?.document.custom_fields);
  const named = [customFields, values, valueIds, previewable].flatMap((map) => Object.keys(map ?? {}));
  const ids = new Set([...named, ...details.keys(), ...full.keys()]);
  return [...ids].map((id) => {
    const detail = details.get(id);
    const fullField = full.get(id);
    const fieldType = detail?.field_type ?? fullField?.field_type;
    const lists = {
      customFields: asList(own(customFields, id)),
      values: asList(own(values, id)),
      valueIds: asList(own(valueIds, id)),
      detailValues: asList(detail?.value),
      detailIds: asList(detail?.value_id),
      fullValues: asList(fullField?.value),
      previewable: previewable && asList(own(previewable, id)),
    };
    return {
      id,
      fieldType: typeof fieldType === "string" ? fieldType : "",
      detail,
      full: fullField,
      // A deleted field is in only one of the modes.
      isInBoth: customFields !== undefined && own(fullField, "value") !== undefined,
      ...lists,
      all: Object.values(lists).filter((list) => list !== undefined),
    };
  });
}

type FieldViews = ReturnType<typeof fieldsOf>[number];

function filled(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function isFile(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.id === "string";
}

/** The value ID at a position. A text in `custom_fields` or `full` is one if the item's definition has it as ID. */
function valueIdAt({ valueIds, detailIds, customFields, fullValues, full }: FieldViews, at: number) {
  for (const id of [valueIds[at], detailIds[at]]) if (typeof id === "string") return id;
  const sent = customFields[at] ?? fullValues[at];
  if (typeof sent !== "string") return null;
  if (isObject(full?.select_value_ids) && Object.hasOwn(full.select_value_ids, sent)) return sent;
  return asList(full?.formatted_select_values).some((value) => isObject(value) && value.id === sent)
    ? sent
    : null;
}

function fileAt(field: FieldViews, at: number) {
  const { values, detailValues, customFields, valueIds, detailIds, fullValues } = field;
  for (const value of [values[at], detailValues[at], customFields[at], fullValues[at]]) {
    if (isFile(value)) return { fileId: String(value.id), file: value };
  }
  for (const view of [customFields, valueIds, detailIds, fullValues, detailValues, values]) {
    const value = view[at];
    if (typeof value === "string" && !value.includes("://")) return { fileId: value, file: undefined };
  }
  return { fileId: null, file: undefined };
}

/** The first text of the views, else the first other value as JSON. */
function shown(views: readonly unknown[]) {
  for (const view of views) {
    const text = scalarText(view);
    if (text !== undefined) return { value: text, valueJson: null };
  }
  const other = views.find(filled);
  return { value: null, valueJson: other === undefined ? null : jsonText(other) };
}

/** The value at a position, from all API fields. */
function valueAt(field: FieldViews, at: number) {
  const texts = [field.values[at], field.detailValues[at], field.fullValues[at], field.previewable?.[at]];
  const sent = field.customFields[at];
  const file = fileAt(field, at);
  if (FILE_TYPES.has(field.fieldType) || file.file !== undefined) {
    const rest = [...texts, sent].filter(
      (text) => text !== file.fileId && (file.file === undefined || !isFile(text)),
    );
    return { valueId: null, ...file, ...shown(rest) };
  }
  const valueId = VALUE_TYPES.has(field.fieldType) || field.fieldType === "" ? valueIdAt(field, at) : null;
  return { valueId, fileId: null, file: undefined, ...shown(sent === valueId ? texts : [...texts, sent]) };
}

type FieldValue = ReturnType<typeof valueAt>;

/** Notes values that differ from the value of the row. */
function noteDifferences(
  item: RawItem,
  table: Table,
  field: FieldViews,
  at: number,
  value: FieldValue,
): void {
  const { values, detailValues, fullValues, previewable, valueIds, detailIds } = field;
  for (const [column, shownThere] of [
    ["value", [values[at], detailValues[at], fullValues[at], previewable?.[at]]],
    ["value_id", [valueIds[at], detailIds[at]]],
  ] as const) {
    for (const view of shownThere) {
      if (!filled(view) || isShown(value, view)) continue;
      const shownHere = value.value ?? value.valueId ?? value.fileId;
      noteDifference(item, `${table.name}.${column}`, shownHere, view);
    }
  }
  const [sent, full] = [field.customFields[at], fullValues[at]];
  if (field.isInBoth && filled(sent) !== filled(full)) {
    noteDifference(item, `${table.name}.value`, sent ?? null, full ?? null);
  }
}

function isShown(value: FieldValue, view: unknown): boolean {
  const text = scalarText(view);
  if (text !== undefined) return text === value.value || text === value.valueId || text === value.fileId;
  return value.file === undefined ? jsonText(view) === value.valueJson : sameJson(view, value.file);
}

/** Rows of `content_custom_field_values`. `emitFile` gets the JSON object of each file. */
export function customFieldValueRows(
  table: Table,
  emitFile: (item: RawItem, file: JsonObject) => void,
): RowMaker {
  const updatedAt = columnOf(table, "updated_at");
  return (item, emit) => {
    for (const field of fieldsOf(item)) {
      const extra = new ExtraFields();
      const path = "custom_fields_details.updated_at";
      const changed = readCell(item, updatedAt, path, field.detail?.updated_at, extra);
      // The definition keeps unknown fields, too: they may describe the item or the field.
      for (const { unknown } of item.views) {
        extra.copy(unknown, field.detail);
        extra.copy(unknown, field.full);
      }
      const positions = Math.max(...field.all.map((list) => list.length));
      for (let at = 0; at < positions; at++) {
        // A null in a list has no row; its position stays free.
        if (!field.all.some((list) => filled(list[at]))) continue;
        const value = valueAt(field, at);
        if (value.file !== undefined) emitFile(item, value.file);
        const { values, detailValues, customFields, previewable } = field;
        // Unknown fields of an object are kept in `value_json`, so that `extra` does not repeat them.
        for (const each of value.valueJson === null ? [] : [values, detailValues, customFields, previewable])
          for (const { unknown } of item.views) new ExtraFields().claim(unknown, each?.[at]);
        noteDifferences(item, table, field, at, value);
        // The mapping is applied to the value in `custom_fields`, as text.
        const sent = field.customFields[at];
        const input = filled(sent) ? (scalarText(sent) ?? jsonText(sent)) : null;
        const cells: Readonly<Record<string, Cell>> = {
          content_id: item.contentId,
          custom_field_id: field.id,
          ordinal: at,
          value_id: value.valueId,
          value: value.value,
          // Set at load, when the definitions are known.
          select_value: null,
          value_json: value.valueJson,
          file_id: value.fileId,
          updated_at: changed,
          previewable: field.previewable === undefined ? null : filled(field.previewable[at]),
          mapping_input: input,
          mapping_input_is_id: input === null ? null : input === field.valueIds[at],
          extra: extra.cell(),
        };
        emit(rowOf(table, cells));
      }
    }
  };
}
