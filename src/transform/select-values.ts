/** Rows of `custom_field_select_values`: a definition says in four attributes what values its field offers. */

import { isObject, type JsonObject, type Subject } from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import { entityRow, type Put, tableNamed } from "./entities.ts";

const KEYS = ["id", "display", "value", "archived"];

/** A select value as a definition has it, at its place. */
interface Offered {
  readonly ordinal: number;
  readonly valueId: string;
  readonly sent: JsonObject;
}

/**
 * Puts the rows of one field's select values: those of `formatted_select_values`, else of `select_value_ids`. Returns
 * what stands in these attributes and is no select value, by its path.
 */
export function selectValueRows(
  fieldId: string,
  attributes: JsonObject,
  subject: Subject,
  put: Put,
): JsonObject {
  const strange: [string, unknown][] = [];
  const texts = mapAt(attributes, "select_value_ids", strange);
  const archived = listAt(attributes, "archived_value_ids", strange);
  const plain = listAt(attributes, "select_values", strange);
  const offered = offeredValues(attributes, texts, strange);
  const values = new Map<string, Cell>();
  const table = tableNamed("custom_field_select_values");
  const valueAt = table.columns.findIndex(({ name }) => name === "value");
  for (const { ordinal, valueId, sent } of offered) {
    const complete = {
      display: sent.display,
      value: sent.value ?? texts.get(valueId) ?? plain[ordinal],
      archived:
        sent.archived ??
        (Array.isArray(attributes.archived_value_ids) ? archived.includes(valueId) : undefined),
    };
    const unknown = Object.entries(sent).filter(
      ([key, value]) => !KEYS.includes(key) || isStrangeId(key, value),
    );
    const fixed = { custom_field_id: fieldId, value_id: valueId, ordinal };
    const described = { attributes: complete, unknown: Object.fromEntries(unknown) };
    const row = entityRow(table, subject, described, fixed);
    values.set(valueId, row[valueAt] ?? null);
    put(table.name, row);
  }
  noteOthers(subject, values, { texts, archived, plain });
  return Object.fromEntries(strange);
}

function isStrangeId(key: string, value: unknown): boolean {
  return key === "id" && typeof value !== "string" && value !== null;
}

function offeredValues(
  attributes: JsonObject,
  texts: ReadonlyMap<string, unknown>,
  strange: [string, unknown][],
): Offered[] {
  const formatted = listAt(attributes, "formatted_select_values", strange);
  const isFormatted = Array.isArray(attributes.formatted_select_values);
  const listed: readonly unknown[] = isFormatted
    ? formatted
    : [...texts].map(([id, value]) => ({ id, value }));
  const offered = new Map<string, Offered>();
  listed.forEach((sent, ordinal) => {
    if (sent === null) return;
    const valueId = isObject(sent) && typeof sent.id === "string" ? sent.id : `#${ordinal}`;
    // An ID that stands twice has one row: the first in source order is what it means.
    if (isObject(sent) && !offered.has(valueId)) offered.set(valueId, { ordinal, valueId, sent });
    else strange.push([`formatted_select_values[${ordinal}]`, sent]);
  });
  return [...offered.values()];
}

function listAt(attributes: JsonObject, key: string, strange: [string, unknown][]): readonly unknown[] {
  const value = attributes[key];
  if (Array.isArray(value)) return value;
  if (value !== null && value !== undefined) strange.push([key, value]);
  return [];
}

function mapAt(attributes: JsonObject, key: string, strange: [string, unknown][]): Map<string, unknown> {
  const value = attributes[key];
  if (isObject(value)) return new Map(Object.entries(value));
  if (value !== null && value !== undefined) strange.push([key, value]);
  return new Map();
}

/** Notes what the other attributes say and the rows do not. */
function noteOthers(
  subject: Subject,
  values: ReadonlyMap<string, Cell>,
  others: { texts: ReadonlyMap<string, unknown>; archived: readonly unknown[]; plain: readonly unknown[] },
): void {
  const note = (column: string, value: unknown) =>
    subject.drift.note(`custom_field_select_values.${column}`, "views_differ", subject.order, null, value);
  const known = new Set<unknown>(values.values());
  for (const [id, text] of others.texts) if (values.get(id) !== text) note("value", { [id]: text });
  for (const text of others.plain) if (text !== null && !known.has(text)) note("value", text);
  for (const id of others.archived)
    if (!values.has(String(id)) || typeof id !== "string") note("archived", id);
}
