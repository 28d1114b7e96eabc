import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import { type Answer, onlyRow, rowsOf, transform } from "../transform/harness.ts";

/** How the answers about one item become one row; the rules of merging are in test/property/transform-views.test.ts. */

function dynamic(document: JsonObject): Answer {
  return { shape: "dynamic", document: { id: "i", ...document } };
}

function full(document: JsonObject): Answer {
  return { shape: "full", document: { id: "i", ...document } };
}

function content(...answers: Answer[]) {
  return onlyRow(transform([answers]), "content");
}

describe("rows that an item has or has not", () => {
  test("content always", () => {
    const { content_id, single_item_read, ...others } = content(dynamic({}), full({}));
    assert.deepEqual([content_id, single_item_read], ["i", false]);
    assert.ok(Object.values(others).every((value) => value === null));
  });

  test("the gallery's only where an answer gave one of its fields", () => {
    assert.deepEqual(rowsOf(transform([[dynamic({ title: "x" })]]), "content_gallery"), []);
    const row = onlyRow(transform([[dynamic({ pinned: null })]]), "content_gallery");
    assert.equal(row.pinned, null);
  });

  test("an event's for events that were asked for singly, and for nothing else", () => {
    const nothing = { event_start_date: null, event_end_date: null, latitude: null, longitude: null };
    const events = (document: JsonObject) =>
      rowsOf(transform([[dynamic(document)]]), "content_events").length;
    assert.equal(events({ body_type: "event" }), 0, "listed only");
    assert.equal(events({ body_type: "event", ...nothing }), 1, "an event without facts");
    assert.equal(events({ body_type: "html", ...nothing }), 0, "another type has nulls");
    assert.equal(
      events({ body_type: "html", latitude: 48.2 }),
      1,
      "another type with a value: nothing is lost",
    );
  });

  test("an event's dates also as they were sent", () => {
    const sent = { body_type: "event", event_start_date: "07/04/26", event_end_date: "Whitsun" };
    const row = onlyRow(transform([[dynamic(sent)]]), "content_events");
    assert.equal(row.event_start_date, Date.UTC(2026, 6, 4) / 86_400_000);
    assert.equal(row.event_start_date_text, "07/04/26");
    assert.equal(row.event_end_date, null);
    assert.equal(row.event_end_date_text, "Whitsun");
    assert.deepEqual(JSON.parse(String(row.extra)), { event_end_date: "Whitsun" });
  });
});
