import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import { type Answer, onlyRow, type Row, rowsOf, type Transformed, transform } from "./harness.ts";

/** Five dynamic views and the full one show the values of custom fields: what the golden cases do not hold of their rows. */

const OFFERED = [
  { id: "v1", display: "First", value: "1st", archived: false },
  { id: "v2", display: "Second", value: "2nd", archived: false },
];

/** The definition as it stands in every item's full document, with the item's value. */
function inFull(field_type: string, value: unknown, more: JsonObject = {}): JsonObject {
  return { id: "cf", field_type, name: "cf", formatted_select_values: OFFERED, value, ...more };
}

function dynamic(views: {
  sent?: unknown;
  shown?: unknown;
  ids?: unknown;
  detail?: JsonObject;
  previewable?: unknown;
}): Answer {
  const document: JsonObject = { id: "i" };
  if ("sent" in views) document.custom_fields = { cf: views.sent };
  if ("shown" in views) document.custom_field_values = { cf: views.shown };
  if ("ids" in views) document.custom_field_value_ids = { cf: views.ids };
  if ("detail" in views) document.custom_fields_details = [{ id: "cf", ...views.detail }];
  if ("previewable" in views) document.previewable_custom_field_values = { cf: views.previewable };
  return { shape: "dynamic", document };
}

function full(...fields: JsonObject[]): Answer {
  return { shape: "full", document: { id: "i", custom_fields: fields } };
}

function values(...answers: Answer[]): readonly Row[] {
  return rowsOf(transform([answers]), "content_custom_field_values");
}

const COLUMNS = ["ordinal", "value_id", "value", "value_json", "file_id"] as const;

function cells(...answers: Answer[]): unknown[][] {
  return values(...answers).map((row) => COLUMNS.map((column) => row[column]));
}

describe("values of a select or multiselect field", () => {
  test("are IDs to the mapping where custom_field_value_ids has the same string in that place, and only there", () => {
    const rows = values(
      dynamic({ sent: ["v9", "v1", "x"], ids: ["v9", "x"] }),
      full(inFull("multiselect", null)),
    );
    assert.deepEqual(
      rows.map((row) => [row.mapping_input, row.mapping_input_is_id]),
      [
        ["v9", true],
        ["v1", false],
        ["x", false],
      ],
    );
  });

  test("need nothing but custom_fields to have an ID that the definition knows", () => {
    assert.deepEqual(cells(dynamic({ sent: ["v1", "v7"] }), full(inFull("multiselect", null))), [
      [0, "v1", null, null, null],
      [1, null, "v7", null, null],
    ]);
  });

  test("have the ID of their own property, whatever it is called", () => {
    const strange = inFull("select", null, { formatted_select_values: null, select_value_ids: {} });
    for (const name of ["constructor", "__proto__", "toString"]) {
      assert.deepEqual(cells(dynamic({ sent: name }), full(strange)), [[0, null, name, null, null]]);
    }
  });
});

describe("values of other fields", () => {
  test("have no value ID, also where a text is the ID of something", () => {
    assert.deepEqual(cells(dynamic({ sent: "v1", shown: "v1" }), full(inFull("text", "v1"))), [
      [0, null, "v1", null, null],
    ]);
  });

  test("never come from a default", () => {
    assert.deepEqual(cells(full(inFull("text", null, { default_value: "n/a" }))), []);
  });
});

describe("what stands beside a value", () => {
  const text = { field_type: "text", value: "x" };

  test("is the time of its change, and whether it is shown in previews", () => {
    const [shown] = values(
      dynamic({ sent: "x", detail: { ...text, updated_at: "2026-01-01T00:00:00Z" }, previewable: "x" }),
    );
    assert.deepEqual([shown?.updated_at, shown?.previewable], [Date.UTC(2026, 0, 1) * 1000, true]);
    const hidden = { id: "i", custom_fields: { cf: "x" }, previewable_custom_field_values: {} };
    assert.equal(values({ shape: "dynamic", document: hidden })[0]?.previewable, false);
    assert.equal(values(dynamic({ sent: "x" }))[0]?.previewable, null, "nobody said");
  });

  test("is what nobody knows, in full or in the details, with the value and with the definition", () => {
    const made = transform([
      [
        dynamic({ sent: "x", detail: { ...text, confidence: 0.7 } }),
        full({ id: "cf", field_type: "text", value: "x", reviewed: true }),
      ],
    ]);
    const extra: unknown = JSON.parse(String(onlyRow(made, "content_custom_field_values").extra));
    assert.deepEqual(extra, { confidence: 0.7, reviewed: true });
    assert.deepEqual(JSON.parse(String(onlyRow(made, "custom_fields").extra)), extra);
    assert.equal(onlyRow(made, "content").extra, null);
  });

  test("is a drift record where the views show different values", () => {
    const differing = (made: Transformed) =>
      made.drift.map(({ path, kind, example }) => [path, kind, example]);
    const made = transform([
      [dynamic({ sent: "v1", shown: "1st", ids: "v1" }), full(inFull("select", "2nd"))],
    ]);
    assert.deepEqual(differing(made), [
      ["content_custom_field_values.value", "views_differ", '["1st","2nd"]'],
    ]);
    const agreeing = transform([
      [dynamic({ sent: "v1", shown: "1st", ids: "v1", previewable: "1st" }), full(inFull("select", "1st"))],
    ]);
    assert.deepEqual(differing(agreeing), []);
  });
});
