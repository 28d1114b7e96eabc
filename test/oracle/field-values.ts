import type { CustomField, Document, FileValue } from "../../src/service/content-set.ts";
import { type Emit, instant, orNull } from "./values.ts";

/** One value of one field of an item, as the views of the wire show it. */
export interface FieldValue {
  readonly fieldId: string;
  /** undefined where the field has no definition. */
  readonly field: CustomField | undefined;
  readonly ordinal: number;
  /** What `custom_fields` shows, as text; rule 5 reads it. */
  readonly sent: string;
  /** What `custom_field_value_ids` shows in that place: a value ID or the ID of a file. */
  readonly id: string | null;
  /** What `custom_field_values` shows there as text; null for a file. */
  readonly text: string | null;
  readonly file: FileValue | null;
}

/** Every value of an item: null and an empty list give none, null inside a list leaves its place free. */
export function fieldValues(document: Document, fields: ReadonlyMap<string, CustomField>): FieldValue[] {
  const values: FieldValue[] = [];
  for (const [fieldId, value] of Object.entries(document.custom_fields ?? {})) {
    const elements: readonly unknown[] = Array.isArray(value) ? value : [value];
    elements.forEach((element, ordinal) => {
      if (element === null) return;
      values.push({ fieldId, field: fields.get(fieldId), ordinal, ...shown(fields.get(fieldId), element) });
    });
  }
  return values;
}

function shown(
  field: CustomField | undefined,
  element: unknown,
): Pick<FieldValue, "sent" | "id" | "text" | "file"> {
  if (isFile(element)) return { sent: element.id, id: element.id, text: null, file: element };
  // A number or a boolean is shown as its JSON text.
  if (typeof element !== "string") {
    const text = JSON.stringify(element);
    return { sent: text, id: null, text, file: null };
  }
  if (field?.field_type === "file" || field?.field_type === "image") {
    return { sent: element, id: element, text: element, file: null };
  }
  if (field?.formatted_select_values === undefined) {
    return { sent: element, id: null, text: element, file: null };
  }
  return { sent: element, ...selectValue(field, element), file: null };
}

function isFile(value: unknown): value is FileValue {
  return typeof value === "object" && value !== null;
}

/**
 * A value ID is shown by its text; a text in place of an ID is shown with the ID of what it is the text of. What nothing
 * knows is the ID of a value that is gone, or else a text: IDs have no white space.
 */
function selectValue(field: CustomField, sent: string): { id: string | null; text: string } {
  const offered = field.formatted_select_values ?? [];
  const known = offered.find((value) => value.id === sent);
  if (known !== undefined) return { id: sent, text: known.value };
  for (const mapping of field.mappings) {
    if (mapping.values.some((entry) => entry.value_id === sent)) return { id: sent, text: sent };
  }
  const meant =
    offered.find((value) => value.value === sent) ?? offered.find((value) => value.display === sent);
  if (meant !== undefined) return { id: meant.id, text: sent };
  return { id: /\s/.test(sent) ? null : sent, text: sent };
}

/** Rows of `content_custom_field_values` and `custom_field_files`. */
export function fieldValueRows(document: Document, values: readonly FieldValue[], emit: Emit): void {
  for (const { fieldId, field, ordinal, sent, id, text, file } of values) {
    const isSelect = field?.field_type === "select" || field?.field_type === "multiselect";
    const changed = field === undefined ? undefined : document.custom_fields_updated_at?.[fieldId];
    emit("content_custom_field_values", {
      content_id: document.id,
      custom_field_id: fieldId,
      ordinal,
      value_id: isSelect ? id : null,
      value: text,
      select_value:
        (isSelect && field.formatted_select_values?.find((value) => value.id === id)?.value) || null,
      value_json: null,
      file_id: orNull(file?.id),
      updated_at: instant(changed),
      previewable: field?.visible_in_previews === true,
      mapping_input: sent,
      mapping_input_is_id: sent === id,
      extra: null,
    });
    if (file !== null) emit("custom_field_files", fileRow(file));
  }
}

function fileRow({ id, created_at, updated_at, ...rest }: FileValue) {
  const times = { created_at: instant(created_at), updated_at: instant(updated_at) };
  return { file_id: id, ...rest, ...times, extra: null };
}
