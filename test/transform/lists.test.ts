import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import { rowsOf, type Transformed, transform } from "./harness.ts";

function dynamic(document: JsonObject): Transformed {
  return transform([[{ shape: "dynamic", document: { id: "i", ...document } }]]);
}

/** Cells of some columns, row by row. */
function cells(transformed: Transformed, table: string, ...columns: string[]): unknown[][] {
  return rowsOf(transformed, table).map((row) => columns.map((column) => row[column]));
}

const micros = (iso: string): number => Date.parse(iso) * 1000;

describe("a list", () => {
  test("keeps the place of an element that is null", () => {
    assert.deepEqual(cells(dynamic({ tags: [null, "a", null] }), "content_tags", "ordinal", "tag"), [
      [0, null],
      [1, "a"],
      [2, null],
    ]);
    const attached = dynamic({ attachments: [null, { id: "a" }] });
    assert.deepEqual(cells(attached, "content_attachments", "ordinal", "attachment_id", "extra"), [
      [0, null, null],
      [1, "a", null],
    ]);
  });

  test("H8: may come as a single value, which is counted", () => {
    const made = dynamic({ tags: "alone", attachments: { id: "a", url: "u" } });
    assert.deepEqual(cells(made, "content_tags", "ordinal", "tag"), [[0, "alone"]]);
    assert.deepEqual(cells(made, "content_attachments", "ordinal", "attachment_id", "url"), [[0, "a", "u"]]);
    assert.deepEqual(
      made.drift.map(({ path, kind, count }) => [path, kind, count]),
      [
        ["attachments", "single_for_list", 1],
        ["tags", "single_for_list", 1],
      ],
    );
  });

  test("keeps what nobody knows of its elements in their rows, once, where several answers have the same", () => {
    const attachments = [
      { id: "a", mood: 1, image_attributes: { focus: 2 } },
      { id: "b", mood: 3 },
    ];
    const made = transform([
      [
        { shape: "dynamic", document: { id: "i", attachments } },
        { shape: "full", document: { id: "i", attachments } },
      ],
    ]);
    assert.deepEqual(cells(made, "content_attachments", "extra"), [
      ['{"mood":1,"image_attributes.focus":2}'],
      ['{"mood":3}'],
    ]);
    assert.deepEqual(cells(made, "content", "extra"), [[null]]);
  });
});

describe("lists that are put together", () => {
  test("favourites stand side by side, NULL on the shorter side", () => {
    const made = dynamic({
      favorited_by_users: ["u1", "u2", null],
      favorite_dates: ["2026-01-01T00:00:00Z"],
    });
    assert.deepEqual(cells(made, "content_favorites", "ordinal", "user_id", "favorite_date"), [
      [0, "u1", micros("2026-01-01T00:00:00Z")],
      [1, "u2", null],
      [2, null, null],
    ]);
    const dates = dynamic({ favorite_dates: ["2026-01-01T00:00:00Z", "soon"] });
    assert.deepEqual(cells(dates, "content_favorites", "ordinal", "user_id", "favorite_date", "extra"), [
      [0, null, micros("2026-01-01T00:00:00Z"), null],
      [1, null, null, '{"favorite_dates":"soon"}'],
    ]);
  });

  test("collections are the union of four fields, in the order of first mention", () => {
    const made = dynamic({
      pinned_collection_rank: { d: 4, a: 1 },
      added_to_collection_date: { c: "2026-03-01T00:00:00Z", a: "2026-01-01T00:00:00Z" },
      added_to_collection_dates: [
        { collection_id: "b", added_date: "2026-02-01T00:00:00Z" },
        { collection_id: "a", added_date: null },
      ],
      collection_uids: ["a"],
    });
    assert.deepEqual(
      cells(made, "content_collections", "collection_id", "ordinal", "added_date", "pinned_rank"),
      [
        ["a", 0, micros("2026-01-01T00:00:00Z"), 1],
        ["b", 1, micros("2026-02-01T00:00:00Z"), null],
        ["c", 2, micros("2026-03-01T00:00:00Z"), null],
        ["d", 3, null, 4],
      ],
    );
    assert.deepEqual(made.drift, []);
  });

  test("of two times of adding the list's is kept, or the finer of one second; others are counted", () => {
    for (const [added, kept, drift] of [
      ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", ["content_collections.added_date views_differ"]],
      ["2026-01-01T00:00:00.250Z", "2026-01-01T00:00:00.250Z", []],
    ] as const) {
      const made = dynamic({
        added_to_collection_dates: [{ collection_id: "a", added_date: "2026-01-01T00:00:00Z" }],
        added_to_collection_date: { a: added },
      });
      assert.deepEqual(cells(made, "content_collections", "added_date"), [[micros(kept)]]);
      assert.deepEqual(
        made.drift.map(({ path, kind }) => `${path} ${kind}`),
        drift,
      );
    }
  });

  test("principals stand once, in their first place, groups and users apart", () => {
    const made = dynamic({
      acl: { group_ids: ["x", "y", "x"], user_ids: [null, "x"], access_summary: "PRIVATE" },
    });
    assert.deepEqual(cells(made, "content_acl_principals", "principal_kind", "principal_id", "ordinal"), [
      ["group", "x", 0],
      ["group", "y", 1],
      ["user", "x", 1],
    ]);
  });
});
