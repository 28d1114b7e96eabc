import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/raw/document.ts";
import { type Answer, onlyRow, type Row, rowsOf, type Transformed, transform } from "./harness.ts";

/** Five dynamic views and the full one show the values of custom fields: here they become rows. */

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
  test("have their ID and their text", () => {
    const views = dynamic({ sent: ["v2", "v1"], shown: ["2nd", "1st"], ids: ["v2", "v1"] });
    assert.deepEqual(cells(views, full(inFull("multiselect", ["2nd", "1st"]))), [
      [0, "v2", "2nd", null, null],
      [1, "v1", "1st", null, null],
    ]);
  });

  test("that are null inside a list have no row and leave their place free", () => {
    const views = dynamic({ sent: [null, "v1", null], shown: [null, "1st", null], ids: [null, "v1", null] });
    assert.deepEqual(cells(views, full(inFull("multiselect", [null, "1st", null]))), [
      [1, "v1", "1st", null, null],
    ]);
  });

  test("that are null, an empty list or absent have none; an empty text has one", () => {
    for (const nothing of [null, []]) {
      assert.deepEqual(cells(dynamic({ sent: nothing, shown: nothing, ids: nothing })), []);
    }
    assert.deepEqual(cells(full(inFull("select", null))), []);
    assert.deepEqual(cells(dynamic({ sent: "", shown: "" }), full(inFull("text", ""))), [
      [0, null, "", null, null],
    ]);
  });

  test("may be sent as a text in place of an ID: the text is what the mapping reads, the ID what the service found", () => {
    const [row] = values(dynamic({ sent: "2nd", shown: "2nd", ids: "v2" }), full(inFull("select", "2nd")));
    assert.deepEqual([row?.value_id, row?.value], ["v2", "2nd"]);
    assert.deepEqual([row?.mapping_input, row?.mapping_input_is_id], ["2nd", false]);
  });

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
  test("are text; numbers and booleans as their JSON text, every digit kept", () => {
    const json =
      '{"id":"i","custom_fields":{"a":12.50,"b":false,"c":12345678901234567890,"d":["x",7,null,true],"e":0}}';
    const rows = rowsOf(transform([[{ shape: "dynamic", document: json }]]), "content_custom_field_values");
    assert.deepEqual(
      rows.map((row) => [row.custom_field_id, row.ordinal, row.value, row.mapping_input]),
      [
        ["a", 0, "12.5", "12.5"],
        ["b", 0, "false", "false"],
        ["c", 0, "12345678901234567890", "12345678901234567890"],
        ["d", 0, "x", "x"],
        ["d", 1, "7", "7"],
        ["d", 3, "true", "true"],
        ["e", 0, "0", "0"],
      ],
    );
  });

  test("H5: that are objects or lists stay as JSON", () => {
    assert.deepEqual(cells(dynamic({ sent: [{ a: 1 }, ["b"]], shown: [{ a: 1 }, ["b"]] })), [
      [0, null, null, '{"a":1}', null],
      [1, null, null, '["b"]', null],
    ]);
    const made = transform([[dynamic({ sent: { a: 1 }, shown: { a: 1 } })]]);
    assert.equal(onlyRow(made, "content").extra, null, "and nowhere else");
  });

  test("have no value ID, also where a text is the ID of something", () => {
    assert.deepEqual(cells(dynamic({ sent: "v1", shown: "v1" }), full(inFull("text", "v1"))), [
      [0, null, "v1", null, null],
    ]);
  });

  test("never come from a default", () => {
    assert.deepEqual(cells(full(inFull("text", null, { default_value: "n/a" }))), []);
  });

  test("of a field that nothing defines are kept as they are", () => {
    assert.deepEqual(cells(dynamic({ sent: "text", shown: "text" })), [[0, null, "text", null, null]]);
  });
});

describe("files", () => {
  const file = { id: "f1", file_name: "plan.pdf", uploaded_by: "u", updated_at: "2026-01-01T00:00:00Z" };

  test("are named by their ID, not as a value, and have a row of their own", () => {
    const made = transform([
      [
        dynamic({
          sent: "f1",
          shown: file,
          ids: "f1",
          detail: { field_type: "file", value: "f1", value_id: "f1" },
          previewable: file,
        }),
        full(inFull("file", "f1")),
      ],
    ]);
    const row = onlyRow(made, "content_custom_field_values");
    assert.deepEqual([row.file_id, row.value_id, row.value, row.value_json], ["f1", null, null, null]);
    assert.deepEqual([row.previewable, row.mapping_input, row.mapping_input_is_id], [true, "f1", true]);
    const described = onlyRow(made, "custom_field_files");
    assert.deepEqual(
      [described.file_id, described.file_name, described.uploaded_by],
      ["f1", "plan.pdf", "u"],
    );
    assert.deepEqual(made.drift, []);
  });

  test("may be objects or URLs in full too", () => {
    assert.deepEqual(cells(full(inFull("file", file))), [[0, null, null, null, "f1"]]);
    const url = "https://f.example/old.jpg";
    assert.deepEqual(cells(full(inFull("image", url))), [[0, null, url, null, null]]);
    assert.deepEqual(cells(dynamic({ sent: url, shown: url, ids: url }), full(inFull("image", url))), [
      [0, null, url, null, null],
    ]);
  });

  test("keep what nobody knows of them", () => {
    const made = transform([[dynamic({ sent: "f1", shown: { ...file, checksum: "abc" } })]]);
    assert.equal(onlyRow(made, "custom_field_files").extra, '{"checksum":"abc"}');
    assert.equal(onlyRow(made, "content").extra, null);
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
