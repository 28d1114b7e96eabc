import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import type { Shape } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import { EntityPool, EntityStore, type EntityVersion } from "../../src/transform/entity-store.ts";
import { type Answer, onlyRow, rowsOf, transform } from "./harness.ts";

/** Things that many items describe: each has one row, put together from all descriptions. */

function full(id: string, document: JsonObject): Answer {
  return { shape: "full", document: { id, ...document } };
}

function dynamic(id: string, document: JsonObject): Answer {
  return { shape: "dynamic", document: { id, ...document } };
}

test("a content type has the fields that its full documents list, each with the number of items", () => {
  const item = (id: string, content_type: unknown, ...fields: unknown[]) => [
    full(id, { content_type, custom_fields: fields }),
  ];
  const made = transform([
    item("i1", { id: "post" }, { id: "topic", value: "bread" }, { id: "mood", value: null }),
    // As `basic` has it: the ID alone. A field that is listed twice counts once.
    item("i2", "post", { id: "topic" }, { id: "topic" }, { name: "without an ID" }),
    item("i3", { id: "event" }, { id: "topic" }),
    item("i4", { id: "event" }),
    item("i5", null, { id: "topic" }),
    // Read again: the latest full document counts.
    [...item("i6", "photo", { id: "old" }), ...item("i6", "photo", { id: "new" })],
    [dynamic("i7", { content_type: "dynamic-only", custom_fields: { topic: "bread" } })],
  ]);
  const found = rowsOf(made, "content_type_custom_fields").map((row) => Object.values(row).join(" "));
  assert.deepEqual(found.toSorted(), ["event topic 1", "photo new 1", "post mood 1", "post topic 2"]);
});

describe("a thing that several answers describe", () => {
  test("has the newest description's attributes, and what it lacks of older ones, of its kind or another", () => {
    const made = transform([
      [full("i1", { last_updated_by: { id: "u", tz: "Asia/Tokyo", superadmin: true, visitor: false } })],
      [dynamic("i2", { author_details: { id: "u", tz: "Asia/Tokyo", name: "N" } })],
      [dynamic("i3", { author_details: { id: "u", tz: "Europe/Oslo" } })],
    ]);
    const row = onlyRow(made, "users");
    assert.deepEqual([row.tz, row.name, row.superadmin, row.visitor], ["Europe/Oslo", "N", true, false]);
  });

  test("is emptied by a newer null", () => {
    const made = transform([
      [dynamic("i1", { campaign_details: [{ id: "c", name: "Spring", end_date: "2026-01-01T00:00:00Z" }] })],
      [dynamic("i2", { campaign_details: [{ id: "c", name: "Spring", end_date: null }] })],
    ]);
    assert.equal(onlyRow(made, "campaigns").end_date, null);
  });

  test("is the same whatever the order in which its descriptions arrive", () => {
    const version = (order: number, attributes: JsonObject): EntityVersion => ({
      kind: "users",
      id: "u",
      order,
      attributes: JSON.stringify(attributes),
      unknown: "{}",
    });
    const versions = [
      version(1, { id: "u", tz: "a", name: "first", bio: "only here" }),
      version(2, { id: "u", tz: "b", name: "second" }),
      version(3, { id: "u", tz: "c" }),
      version(4, { id: "u", name: "fourth", tz: "d" }),
    ];
    const expected = { id: "u", tz: "d", name: "fourth", bio: "only here" };
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ]) {
      const store = new EntityStore();
      for (const at of order) store.add(versions[at] ?? version(0, {}));
      assert.deepEqual(
        [...store.of("users")].map(({ attributes }) => attributes),
        [expected],
      );
    }
  });

  test("has none where it is only mentioned by its ID", () => {
    const made = transform([
      [dynamic("i", { author: "u", campaigns: ["c"], content_type: "t", newsroom_id: "n" })],
    ]);
    assert.deepEqual(rowsOf(made, "users"), []);
    assert.deepEqual(rowsOf(made, "campaigns"), []);
    assert.deepEqual(rowsOf(made, "content_types"), []);
    // But newsroom_id is an API field of the instances' own.
    assert.deepEqual(
      rowsOf(made, "instances").map(({ instance_id }) => instance_id),
      ["n"],
    );
  });
});

describe("a description that is none", () => {
  test("stays with its item and is counted", () => {
    const document = {
      author_details: "somebody",
      campaign_details: [{ name: "without an ID" }, "loose text", null],
      instance: { name: "nameless" },
    };
    const made = transform([[dynamic("i", document)]]);
    assert.deepEqual(rowsOf(made, "users"), []);
    assert.deepEqual(rowsOf(made, "campaigns"), []);
    assert.deepEqual(JSON.parse(String(onlyRow(made, "content").extra)), {
      author_details: "somebody",
      campaign_details: { name: "without an ID" },
      "campaign_details (2)": "loose text",
      instance: { name: "nameless" },
    });
    assert.deepEqual(
      made.drift.map(({ path, kind, count }) => [path, kind, count]),
      [
        ["author_details", "type", 1],
        ["campaign_details", "type", 2],
        ["instance", "type", 1],
      ],
    );
  });
});

describe("custom field definitions", () => {
  const lookedUp = {
    id: "cf",
    name: "topic",
    field_type: "multiselect",
    display_label: "Topic",
    formatted_select_values: [
      { id: "v1", display: "One", value: "1", archived: true },
      { id: "v1", display: "Again", value: "2", archived: false },
    ],
    mappings: [
      {
        id: "m",
        field_name: "Topic",
        external_site_id: "d1",
        values: [{ id: "e", value_id: "v1", value: "" }],
      },
      { id: "m", field_name: null, external_site_id: "d2", values: null },
    ],
  };

  test("come from the lookup before the items, which add what it does not say", () => {
    const inItem = {
      id: "cf",
      name: "old name",
      field_type: "select",
      instructions: "Choose",
      options: { html: true },
    };
    const made = transform([[full("i", { custom_fields: [inItem] })]], {
      destinations: [],
      definitions: [lookedUp],
    });
    const row = onlyRow(made, "custom_fields");
    assert.deepEqual(
      [row.name, row.field_type, row.instructions, row.option_html, row.from_lookup],
      ["topic", "multiselect", "Choose", true, true],
    );
  });

  test("that no lookup answered say so, and have select values from whatever says something of them", () => {
    const inItem = {
      id: "cf",
      select_values: ["one", "two"],
      select_value_ids: { v1: "one", constructor: "two" },
      archived_value_ids: ["constructor"],
      options: { html: false, sparkling: { very: true } },
    };
    const made = transform([[full("i", { custom_fields: [inItem] })]]);
    const row = onlyRow(made, "custom_fields");
    assert.deepEqual([row.from_lookup, row.options, row.extra], [false, '{"sparkling":{"very":true}}', null]);
    assert.deepEqual(
      rowsOf(made, "custom_field_select_values").map(({ value_id, value, archived }) => [
        value_id,
        value,
        archived,
      ]),
      [
        ["v1", "one", false],
        ["constructor", "two", true],
      ],
    );
    assert.equal(onlyRow(made, "content").extra, null);
  });

  test("keep what is no select value and no option where the definition is, and count it", () => {
    const inItem = {
      id: "cf",
      formatted_select_values: [{ id: "v1" }, "loose", { id: "v1", display: "again" }, null],
      select_value_ids: "none",
      archived_value_ids: { v1: true },
      select_values: 7,
      options: ["html"],
    };
    const made = transform([[full("i", { custom_fields: [inItem] })]]);
    const strange = {
      select_value_ids: "none",
      archived_value_ids: { v1: true },
      select_values: 7,
      "formatted_select_values[1]": "loose",
      "formatted_select_values[2]": { id: "v1", display: "again" },
      options: ["html"],
    };
    assert.deepEqual(JSON.parse(String(onlyRow(made, "custom_fields").extra)), strange);
    assert.deepEqual(
      made.drift.filter(({ kind }) => kind === "type").map(({ path }) => path),
      Object.keys(strange)
        .map((path) => `custom_fields.${path}`)
        .sort(),
    );
    assert.equal(rowsOf(made, "custom_field_select_values").length, 1);
  });

  test("find a value's text by its own ID only, whatever that is called", () => {
    const values = [{ id: "constructor" }, { id: "toString", value: null }, { id: "__proto__" }];
    const inItem = { id: "cf", formatted_select_values: values, select_value_ids: {} };
    const made = transform([[full("i", { custom_fields: [inItem] })]]);
    for (const row of rowsOf(made, "custom_field_select_values"))
      assert.deepEqual([row.value, row.extra], [null, null]);
  });

  test("have mappings and entries with keys of their own, also where IDs repeat", () => {
    const made = transform([], {
      destinations: [{ id: "d1", identification: "CMS" }],
      definitions: [lookedUp],
    });
    assert.deepEqual(
      rowsOf(made, "custom_field_mappings").map((row) => [
        row.mapping_id,
        row.destination_id,
        row.external_field_name,
      ]),
      [
        ["m", "d1", "Topic"],
        ["m (cf#1)", "d2", null],
      ],
    );
    const entry = onlyRow(made, "custom_field_mapping_values");
    assert.deepEqual([entry.mapping_value_id, entry.mapping_id, entry.external_value], ["e", "m", ""]);
    assert.deepEqual(
      rowsOf(made, "destinations").map(({ destination_id, identification }) => [
        destination_id,
        identification,
      ]),
      [
        ["d1", "CMS"],
        ["d2", null],
      ],
    );
    assert.equal(rowsOf(made, "custom_field_select_values").length, 1);
  });
});

describe("one object that stands in many documents", () => {
  const described = (pool: EntityPool, shape: Shape, order: number, document: JsonObject) => {
    const view = { shape, document, order, observedAt: 0, unknown: [] };
    pool.describe({ contentId: "i", order, drift: new Drift(), views: [view] });
  };

  test("is of its latest observation, whatever the order in which they come", () => {
    const [user, other] = ["Asia/Tokyo", "Europe/Oslo"].map((tz) => ({ id: "u", tz }));
    for (const [orders, latest] of [
      [
        [2, 5, 3],
        [5, user],
      ],
      [
        [2, 3],
        [4, other],
      ],
    ] as const) {
      const pool = new EntityPool();
      for (const order of orders) described(pool, "full", order, { owner_details: user });
      described(pool, "full", 4, { owner_details: other });
      const found = pool.take().map(({ order, attributes }) => [order, JSON.parse(attributes)]);
      assert.deepEqual(found, [latest]);
    }
  });
});
