import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/raw/document.ts";
import {
  type Answer,
  FIRST_OBSERVED_AT,
  onlyRow,
  rowsOf,
  type Transformed,
  transform,
} from "../transform/harness.ts";

/** How the answers about one item become one row. Answers are given in the order of their observation. */

function dynamic(document: JsonObject): Answer {
  return { shape: "dynamic", document: { id: "i", ...document } };
}

function full(document: JsonObject): Answer {
  return { shape: "full", document: { id: "i", ...document } };
}

function content(...answers: Answer[]) {
  return onlyRow(transform([answers]), "content");
}

function driftOf(transformed: Transformed): [string, string, number][] {
  return transformed.drift.map(({ path, kind, count }) => [path, kind, count]);
}

const micros = (iso: string, fraction = 0): number => Date.parse(iso) * 1000 + fraction;

describe("a fact that several answers give", () => {
  test("E6: is that of the later observation, and the difference is counted", () => {
    const later = transform([[dynamic({ title: "old" }), full({ title: "new" })]]);
    assert.equal(onlyRow(later, "content").title, "new");
    assert.deepEqual(driftOf(later), [["content.title", "views_differ", 1]]);
    assert.equal(later.drift[0]?.example, '["new","old"]');
    const earlier = transform([[full({ title: "old" }), dynamic({ title: "new" })]]);
    assert.equal(onlyRow(earlier, "content").title, "new");
  });

  test("is no drift where the answers agree", () => {
    const agreed = transform([
      [dynamic({ title: "same", field_locks: { a: 1, b: 2 } }), full({ title: "same" })],
    ]);
    assert.deepEqual(driftOf(agreed), []);
    const reordered = transform([
      [dynamic({ field_locks: { a: [1, { b: null }] } }), dynamic({ field_locks: { a: [1, { b: null }] } })],
    ]);
    assert.deepEqual(driftOf(reordered), []);
  });

  test("H3: is taken from the answer that has the key: one that lacks it overwrites nothing", () => {
    const row = content(
      dynamic({ title: "kept", payment: 12.5, tags: ["a"] }),
      full({ slug: "s" }),
      dynamic({ slug: "s" }),
    );
    assert.equal(row.title, "kept");
    assert.equal(row.payment, 12.5);
    const tags = rowsOf(transform([[dynamic({ tags: ["a"] }), full({ slug: "s" })]]), "content_tags");
    assert.deepEqual(
      tags.map(({ tag }) => tag),
      ["a"],
    );
  });

  test("is emptied by a later null: the key is there", () => {
    const emptied = transform([[dynamic({ title: "old" }), full({ title: null })]]);
    assert.equal(onlyRow(emptied, "content").title, null);
    assert.deepEqual(driftOf(emptied), [["content.title", "views_differ", 1]]);
  });

  test("is put together from its two spellings", () => {
    const row = content(
      dynamic({ author: "u1", creator: "u2", newsroom_id: "n" }),
      full({
        assignee_id: "u1",
        creator_id: "u2",
        owner: "u3",
        next_task: "Write",
        content_type: { id: "t" },
      }),
    );
    assert.deepEqual(
      [
        row.assignee_id,
        row.creator_id,
        row.owner_id,
        row.instance_id,
        row.next_task_description,
        row.content_type_id,
      ],
      ["u1", "u2", "u3", "n", "Write", "t"],
    );
  });

  test("keeps the three URLs apart", () => {
    const row = content(dynamic({ url: "u", service_url: "s" }), full({ factory_url: "f" }));
    assert.deepEqual([row.url, row.service_url, row.factory_url], ["u", "s", "f"]);
  });
});

describe("where the specification's default is the empty string", () => {
  test("null and the empty string are one: NULL where the answers disagree so, empty where all say so", () => {
    for (const column of ["content", "published_url"]) {
      const cases = [
        [null, "", null],
        ["", null, null],
        ["", "", ""],
        [null, null, null],
      ] as const;
      for (const [first, second, expected] of cases) {
        const merged = transform([[dynamic({ [column]: first }), full({ [column]: second })]]);
        assert.equal(onlyRow(merged, "content")[column], expected, `${column}: ${first} and ${second}`);
        assert.deepEqual(driftOf(merged), []);
      }
      const three = transform([
        [dynamic({ [column]: null }), dynamic({ [column]: "" }), full({ [column]: "" })],
      ]);
      assert.equal(onlyRow(three, "content")[column], null);
      assert.deepEqual(driftOf(three), []);
    }
  });

  test("elsewhere they differ", () => {
    const merged = transform([[dynamic({ title: null }), full({ title: "" })]]);
    assert.equal(onlyRow(merged, "content").title, "");
    assert.deepEqual(driftOf(merged), [["content.title", "views_differ", 1]]);
  });
});

describe("instants", () => {
  const second = "2026-03-01T09:30:12Z";
  const fine = "2026-03-01T09:30:12.123456Z";

  test("that agree to the second agree, and the finer is kept, whichever came first", () => {
    for (const answers of [
      [dynamic({ updated_at: fine }), full({ updated_at: second })],
      [full({ updated_at: second }), dynamic({ updated_at: fine })],
    ]) {
      const merged = transform([answers]);
      assert.equal(onlyRow(merged, "content").updated_at, micros(second, 123_456));
      assert.deepEqual(driftOf(merged), []);
    }
  });

  test("that differ by a second differ: the later observation counts", () => {
    const other = "2026-03-01T09:30:13Z";
    const merged = transform([[dynamic({ updated_at: fine }), full({ updated_at: other })]]);
    assert.equal(onlyRow(merged, "content").updated_at, micros(other));
    assert.deepEqual(driftOf(merged), [["content.updated_at", "views_differ", 1]]);
  });

  test("C16: that are none are kept as text, whatever else they begin with", () => {
    const text = "2026-03-01T09:30:12 o'clock";
    const merged = transform([[dynamic({ updated_at: second }), full({ updated_at: text })]]);
    const row = onlyRow(merged, "content");
    assert.equal(row.updated_at, null);
    assert.deepEqual(JSON.parse(String(row.extra)), { updated_at: text });
    assert.deepEqual(driftOf(merged), [
      ["content.updated_at", "views_differ", 1],
      ["updated_at", "unreadable", 1],
    ]);
  });
});

describe("a value that is not of its column's type", () => {
  test("H4: leaves the column NULL, stays in extra, and is counted", () => {
    const merged = transform([
      [
        dynamic({
          title: 7,
          archived: "yes",
          wordcount: 1.5,
          assigned_date: "last Tuesday",
          acl: { access_summary: [] },
        }),
      ],
    ]);
    const row = onlyRow(merged, "content");
    for (const column of ["title", "archived", "wordcount", "assigned_date", "access_summary"]) {
      assert.equal(row[column], null, column);
    }
    assert.deepEqual(JSON.parse(String(row.extra)), {
      title: 7,
      archived: "yes",
      wordcount: 1.5,
      assigned_date: "last Tuesday",
      "acl.access_summary": [],
    });
    assert.deepEqual(driftOf(merged), [
      ["acl.access_summary", "type", 1],
      ["archived", "type", 1],
      ["assigned_date", "unreadable", 1],
      ["title", "type", 1],
      ["wordcount", "type", 1],
    ]);
  });
});

describe("rows that an item has or has not", () => {
  test("content always, its time being that of the last answer", () => {
    const row = content(dynamic({}), full({}));
    assert.equal(row.content_id, "i");
    assert.equal(row.observed_at, FIRST_OBSERVED_AT + 2_000_000);
    const ofOthers = Object.entries(row).filter(([name]) => !["content_id", "observed_at"].includes(name));
    assert.ok(ofOthers.every(([, value]) => value === null));
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

  test("one for each file, one for the next task where it is an object", () => {
    const document = {
      content_file: { id: "f", size: 9_007_199_254 },
      gallery_preview_revision: { id: "p" },
      next_task: { id: "t", owner_ids: ["u1", null, "u1"] },
    };
    const made = transform([[dynamic(document), full({ next_task: "Write" })]]);
    assert.deepEqual(
      rowsOf(made, "content_files").map(({ role, file_id }) => [role, file_id]),
      [
        ["content_file", "f"],
        ["gallery_preview", "p"],
      ],
    );
    assert.equal(onlyRow(made, "content_next_tasks").task_id, "t");
    assert.equal(onlyRow(made, "content").next_task_description, "Write");
    assert.deepEqual(
      rowsOf(made, "content_next_task_owners").map(({ ordinal, user_id }) => [ordinal, user_id]),
      [
        [0, "u1"],
        [1, null],
        [2, "u1"],
      ],
    );
    const none = transform([[dynamic({ next_task: null, content_file: null, next_task_owner: ["u9"] })]]);
    assert.deepEqual(rowsOf(none, "content_files"), []);
    assert.deepEqual(rowsOf(none, "content_next_tasks"), []);
    assert.equal(onlyRow(none, "content_next_task_owners").user_id, "u9");
  });
});
