import type { CustomField, Document, ServedDestination } from "../../src/service/content-set.ts";
import type { FieldValue } from "./field-values.ts";
import type { Emit } from "./values.ts";

/** The mapping procedure, rules 1 to 8, for one item at all destinations. */
export function mappedRows(
  document: Document,
  values: readonly FieldValue[],
  destinations: readonly TargetDestination[],
  fields: readonly CustomField[],
  emit: Emit,
): void {
  for (const destination of destinations) {
    // Rule 7: the key is the external field name, its value always an array.
    const payload = new Map<string, string[]>();
    // Rule 8: every field. Fields that share a name send in ascending order of their IDs.
    for (const field of fields) {
      for (const value of values) {
        if (value.fieldId !== field.id) continue;
        const row = mappedRow(value, field, destination, fields);
        if (row === undefined) continue;
        emit("content_mapped_values", { content_id: document.id, ...row });
        if (row.status !== "mapped" || row.external_value === null) continue;
        const sent = payload.get(row.external_field_name) ?? [];
        sent.push(row.external_value);
        payload.set(row.external_field_name, sent);
      }
    }
    if (payload.size > 0) {
      emit("content_external_payloads", {
        content_id: document.id,
        destination_id: destination.id,
        payload: Object.fromEntries(payload),
        receives: destination.unsupported === false,
      });
    }
  }
}

/** A destination that was looked up, or one that only a mapping names: then `unsupported` is null. */
export interface TargetDestination {
  readonly id: string;
  readonly unsupported: boolean | null;
}

export function targetDestinations(
  lookedUp: readonly ServedDestination[],
  fields: readonly CustomField[],
): TargetDestination[] {
  const targets = new Map<string, TargetDestination>();
  for (const { id, supports_custom_field_mappings } of lookedUp) {
    targets.set(id, { id, unsupported: !supports_custom_field_mappings });
  }
  for (const field of fields) {
    for (const { external_site_id: id } of field.mappings) {
      if (!targets.has(id)) targets.set(id, { id, unsupported: null });
    }
  }
  return [...targets.values()];
}

function mappedRow(
  { ordinal, sent, id, text }: FieldValue,
  field: CustomField,
  destination: TargetDestination,
  fields: readonly CustomField[],
) {
  // Rules 1 and 2: the entry of the field's mappings that is for the destination; of several the first.
  const mappings = field.mappings.filter((mapping) => mapping.external_site_id === destination.id);
  const [mapping] = mappings;
  if (mapping === undefined) return undefined;
  // Rule 3: the external field name.
  const sharing = fields.filter((other) =>
    other.mappings.some(
      (one) => one.external_site_id === destination.id && one.field_name === mapping.field_name,
    ),
  );
  const row = {
    destination_id: destination.id,
    custom_field_id: field.id,
    ordinal,
    external_field_name: mapping.field_name,
    mapping_id: mapping.id,
    destination_unsupported: destination.unsupported,
    collision: sharing.length > 1,
    receives: destination.unsupported === false,
  };
  // Rule 4: only select and multiselect fields have value mappings.
  if (field.field_type !== "select" && field.field_type !== "multiselect") {
    return {
      ...row,
      value_id: null,
      value: sent,
      mapping_value_id: null,
      external_value: null,
      status: "no_value_mapping",
      value_archived: false,
      value_unknown: false,
      ambiguous: mappings.length > 1,
      matched_by_text: false,
    };
  }
  // Rule 5: what stands there is a value ID, or the text of one.
  const { valueId, fits } = readSent(sent, id, field);
  // Rule 6: the entry whose value_id equals it; of several the first.
  const entries = mapping.values.filter((entry) => entry.value_id === valueId);
  const [entry] = entries;
  const offered = (field.formatted_select_values ?? []).find((value) => value.id === valueId);
  return {
    ...row,
    value_id: valueId,
    value: valueId === null ? sent : (offered?.value ?? text),
    mapping_value_id: entry?.id ?? null,
    external_value: entry?.value ?? null,
    status: entry !== undefined ? "mapped" : offered === undefined ? "unknown_value" : "unmapped",
    value_archived: offered?.archived ?? false,
    value_unknown: offered === undefined,
    ambiguous: mappings.length > 1 || entries.length > 1 || fits > 1,
    matched_by_text: fits > 0,
  };
}

/** `fits`: how many select values the text stands for; 0 where it is an ID or no text of a value. */
function readSent(
  sent: string,
  id: string | null,
  field: CustomField,
): { valueId: string | null; fits: number } {
  const offered = field.formatted_select_values ?? [];
  if (sent === id) return { valueId: sent, fits: 0 };
  if (offered.some((value) => value.id === sent)) return { valueId: sent, fits: 0 };
  for (const mapping of field.mappings) {
    if (mapping.values.some((entry) => entry.value_id === sent)) return { valueId: sent, fits: 0 };
  }
  const fitting = offered.filter((value) => value.value === sent || value.display === sent);
  const meant = fitting.find((value) => value.value === sent) ?? fitting[0];
  return { valueId: meant?.id ?? null, fits: fitting.length };
}
