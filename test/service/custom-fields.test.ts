import assert from "node:assert/strict";
import { test } from "node:test";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { ask, json, read, serve, singleEnvelope } from "./ask.ts";
import { BARE, FILE, makeField, REGIONS } from "./fixture.ts";

const VIEWS = [
  "custom_fields",
  "custom_field_values",
  "custom_field_value_ids",
  "custom_fields_details",
  "previewable_custom_field_values",
] as const;
const QUERY = VIEWS.map((name) => `columns[]=${name}`).join("&");

test("the dynamic views show value IDs, texts and files each in their way", async (t) => {
  const service = await serve(t);
  const { response } = await read(service, `/api/v1/content/c-rich?${QUERY}`, singleEnvelope(dynamicItem));
  assert.deepEqual(response.custom_fields, {
    note: "<b>n</b>",
    region: "v-eu",
    regions: ["v-us", "v-eu"],
    due: "2024-05-05",
    plan: "file-1",
    budget: 12.5,
  });
  assert.deepEqual(response.custom_field_values, {
    note: "<b>n</b>",
    region: "EU",
    regions: ["US", "EU"],
    due: "2024-05-05",
    plan: FILE,
    budget: 12.5,
  });
  assert.deepEqual(response.custom_field_value_ids, {
    region: "v-eu",
    regions: ["v-us", "v-eu"],
    plan: "file-1",
  });
  assert.deepEqual(response.previewable_custom_field_values, { region: "EU", plan: FILE });
  const detail = { html: false, value_id: null, updated_at: null };
  assert.deepEqual(response.custom_fields_details, [
    { ...detail, id: "note", display_label: "Label note", field_type: "text", html: true, value: "<b>n</b>" },
    {
      ...detail,
      id: "region",
      display_label: "Label region",
      field_type: "select",
      value: "EU",
      value_id: "v-eu",
      updated_at: "2024-01-06T00:00:00Z",
    },
    {
      ...detail,
      id: "regions",
      display_label: "Label regions",
      field_type: "multiselect",
      value: ["US", "EU"],
      value_id: ["v-us", "v-eu"],
    },
    { ...detail, id: "due", display_label: "Label due", field_type: "date", value: "2024-05-05" },
    {
      ...detail,
      id: "plan",
      display_label: "Label plan",
      field_type: "file",
      value: "file-1",
      value_id: "file-1",
    },
    { ...detail, id: "budget", display_label: "Label budget", field_type: "currency", value: 12.5 },
  ]);
});

test("full shows each field's definition with the value as text", async (t) => {
  const service = await serve(t);
  const { response } = await read(service, "/api/v1/content/c-rich?detail=full", singleEnvelope(fullItem));
  const byId = new Map(response.custom_fields?.map((field) => [field.id, field]));
  const common = {
    created_at: "2020-06-06T00:00:00Z",
    archived_value_ids: [],
    options: { editor_or_admin_only: false, required_field: false, api_only: false },
    newsroom_id: "instance-1",
    visible_in_previews: false,
    visible_in_insights: false,
    instructions: null,
  };
  assert.deepEqual([...byId.keys()], ["note", "region", "regions", "due", "plan", "budget"]);
  assert.deepEqual(byId.get("note"), {
    ...common,
    id: "note",
    field_type: "text",
    display_label: "Label note",
    name: "note",
    default_value: "none yet",
    select_value_ids: {},
    options: { html: true, multiline: false },
    value: "<b>n</b>",
  });
  assert.deepEqual(byId.get("region"), {
    ...common,
    id: "region",
    field_type: "select",
    display_label: "Label region",
    name: "region",
    select_values: ["EU", "US"],
    select_value_ids: { "v-eu": "EU", "v-us": "US" },
    archived_value_ids: ["v-us"],
    formatted_select_values: REGIONS,
    visible_in_previews: true,
    value: "EU",
  });
  assert.deepEqual(byId.get("regions")?.value, ["US", "EU"]);
  assert.equal(byId.get("due")?.select_value_ids, null);
  assert.equal(byId.get("plan")?.value, "file-1");
  assert.deepEqual(byId.get("plan")?.select_value_ids, {});
  assert.equal(byId.get("budget")?.value, 12.5);
});

test("a field is shown on items of the types that carry it, and wherever an item has a value for it", async (t) => {
  const service = await serve(t);
  const fieldsOf = async (id: string) => {
    const body = json(await ask(service, `/api/v1/content/${id}?detail=full`)) as {
      response: { custom_fields: { id: string; value: unknown }[] };
    };
    return Object.fromEntries(body.response.custom_fields.map((field) => [field.id, field.value]));
  };
  assert.equal((await fieldsOf("c-event")).venue, "Hall 3");
  assert.ok(!("venue" in (await fieldsOf("c-bare"))));
  assert.deepEqual((await fieldsOf("c-odd"))["twin-2"], ["x", null]);
});

test("values that no definition allows are shown as they are", async (t) => {
  const service = await serve(t);
  const body = json(await ask(service, `/api/v1/content/c-odd?${QUERY}`)) as {
    response: Record<Exclude<(typeof VIEWS)[number], "custom_fields_details">, Record<string, unknown>> & {
      custom_fields_details: { id: string }[];
    };
  };
  const { custom_fields, custom_field_values, custom_field_value_ids } = body.response;
  assert.deepEqual(custom_fields, {
    "field-gone": "orphan",
    region: "v-gone",
    regions: ["Europe", null, "v-nowhere", 7, "no such value"],
    "twin-2": ["x", null],
    plan: "file-9",
    note: null,
    due: [],
  });
  assert.deepEqual(custom_field_values, custom_fields);
  assert.deepEqual(custom_field_value_ids, {
    region: "v-gone",
    // The ID of the select value whose text was given in its place.
    regions: ["v-eu", null, "v-nowhere", 7, null],
    plan: "file-9",
  });
  assert.deepEqual(body.response.previewable_custom_field_values, { region: "v-gone", plan: "file-9" });
  assert.deepEqual(
    body.response.custom_fields_details.map(({ id }) => id),
    ["region", "regions", "twin-2", "plan", "note", "due"],
    "without a definition a field is in the keyed views only",
  );
});

test("a text given for a value ID is the first select value's that has it, unless a mapping knows it as an ID", async (t) => {
  const values = (...entries: [id: string, value: string, display: string][]) =>
    entries.map(([id, value, display]) => ({ id, value, display, archived: false }));
  const select = makeField("select", "select", {
    formatted_select_values: values(
      ["v-1", "x", "X"],
      ["v-2", "x", "X"],
      ["v-3", "X", "three"],
      ["v-4", "four", "4"],
    ),
    mappings: [
      {
        id: "m",
        field_name: "f",
        external_site_id: "d",
        values: [{ id: "mv", value_id: "4", value: "vier" }],
      },
    ],
  });
  const ids = async (given: string) => {
    const documents = [{ ...BARE, custom_fields: { select: given } }];
    const service = await serve(t, { documents, customFields: [select] });
    const path = "/api/v1/content/c-bare?columns[]=custom_field_value_ids";
    return (await read(service, path, singleEnvelope(dynamicItem))).response.custom_field_value_ids;
  };
  assert.deepEqual(await ids("x"), { select: "v-1" });
  assert.deepEqual(await ids("X"), { select: "v-3" }, "a value goes before a display");
  assert.deepEqual(await ids("three"), { select: "v-3" });
  assert.deepEqual(await ids("four"), { select: "v-4" });
  assert.deepEqual(await ids("4"), { select: "4" });
  assert.deepEqual(await ids("Three"), { select: "Three" }, "which may be the ID of a value that is gone");
  assert.deepEqual(await ids("Number three"), {}, "which no ID can be");
});
