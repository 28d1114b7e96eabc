import { z } from "zod";
import {
  customFieldDefinition,
  customFieldDetail,
  fileValue,
  fullCustomField,
} from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import type { JsonObject } from "../../src/common/json.ts";

/**
 * An item of which every API field of the specification has a value: its documents in both shapes (`full` includes
 * basic), and the answers of the two lookups. Made anew at each call, so that a test can change its own.
 */
export interface World {
  readonly dynamic: JsonObject;
  readonly full: JsonObject;
  readonly destination: JsonObject;
  readonly custom_field_definition: JsonObject;
}

/** Four fields: a select value, a text, a file, and a value of a shape that nobody has specified. */
export const FIELD_IDS = { select: "cf-select", text: "cf-text", file: "cf-file", odd: "cf-odd" } as const;
const ODD = { odd: "shape" };

export function richWorld(): World {
  return structuredClone(WORLD);
}

const WORLD = worldOf("item-1");

function worldOf(id: string): World {
  return {
    dynamic: { ...filled(dynamicItem, id), ...recordsAndDates(), ...fieldValues(), id },
    full: { ...filled(fullItem, id), custom_fields: fullFields(), id },
    destination: filled(destination, "destination"),
    custom_field_definition: {
      ...filled(customFieldDefinition, "definition"),
      id: FIELD_IDS.select,
      field_type: "select",
      formatted_select_values: selectValues(),
    },
  };
}

/** A value of its kind for every field of a schema, where the schema says which. Each object has texts of its own. */
function filled(schema: z.ZodObject, owner: string): JsonObject {
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, kindOf(field, name, owner)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function kindOf(schema: z.core.$ZodType, name: string, owner: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return kindOf(schema.unwrap(), name, owner);
  if (schema instanceof z.ZodUnion) return schema.options[0] && kindOf(schema.options[0], name, owner);
  if (schema instanceof z.ZodObject) return filled(schema, name);
  if (schema instanceof z.ZodArray) {
    const element = kindOf(schema.element, name, owner);
    return typeof element === "string" ? [`${element} 1`, `${element} 2`] : [element];
  }
  if (schema instanceof z.ZodString)
    return /(^|_)(at|date|deadline|updated)$/.test(name) ? "2025-01-02T00:00:00Z" : `${name} of ${owner}`;
  if (schema instanceof z.ZodNumber) return 12;
  return schema instanceof z.ZodBoolean ? false : undefined;
}

function recordsAndDates(): JsonObject {
  return {
    status: "waiting",
    field_locks: { body: { locked: true } },
    added_to_collection_date: { "coll-1": "2025-04-01T00:00:00Z" },
    pinned_collection_rank: { "coll-1": 4 },
    favorite_dates: ["2025-05-01T00:00:00Z", "2025-05-02T00:00:00Z"],
    event_start_date: "07/04/26",
    event_end_date: "07/06/26",
  };
}

function selectValues(): JsonObject[] {
  return [
    { id: "v-1", display: "First", value: "first", archived: true },
    { id: "v-2", display: "Second", value: "second", archived: false },
    { id: "v-3", display: "Third", value: "third", archived: false },
  ];
}

function fullFields(): JsonObject[] {
  const field = (id: string, more: JsonObject) => {
    const none = { select_values: null, select_value_ids: {}, formatted_select_values: null };
    return { ...filled(fullCustomField, id), id, archived_value_ids: [], ...none, ...more };
  };
  const offered = {
    select_values: ["first", "second", "third"],
    select_value_ids: { "v-1": "first", "v-2": "second", "v-3": "third" },
    archived_value_ids: ["v-1"],
    formatted_select_values: selectValues(),
  };
  return [
    field(FIELD_IDS.select, { field_type: "select", ...offered, value: "first" }),
    field(FIELD_IDS.text, { field_type: "text", value: "A text" }),
    field(FIELD_IDS.file, { field_type: "file", value: "file-1" }),
    field(FIELD_IDS.odd, { field_type: "odd", value: ODD }),
  ];
}

function fieldValues(): JsonObject {
  const { select, text, file, odd } = FIELD_IDS;
  const shownFile = { ...filled(fileValue, file), id: "file-1" };
  const detail = (id: string, field_type: string, value: unknown, value_id: unknown) => {
    return { ...filled(customFieldDetail, id), id, field_type, value, value_id };
  };
  return {
    custom_fields: { [select]: "v-1", [text]: "A text", [file]: "file-1", [odd]: ODD },
    custom_field_values: { [select]: "first", [text]: "A text", [file]: shownFile, [odd]: ODD },
    custom_field_value_ids: { [select]: "v-1", [file]: "file-1" },
    custom_fields_details: [
      detail(select, "select", "first", "v-1"),
      detail(text, "text", "A text", null),
      detail(file, "file", "file-1", "file-1"),
      detail(odd, "odd", ODD, null),
    ],
    previewable_custom_field_values: { [text]: "A text" },
  };
}
