import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import type { ItemDocuments } from "../../src/pipeline.ts";
import type { ItemDocument, Shape } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import { text } from "../../src/tables/declare.ts";
import { EntityPool } from "../../src/transform/entity-store.ts";
import { customTable } from "../../src/transform/stages.ts";
import { compileTransform } from "../../src/transform/transform-group.ts";

/** What the function of a custom table is given of an item with these documents, the latest first. */
function seenOf(...documents: readonly (readonly [Shape, JsonObject])[]): ItemDocuments | undefined {
  let seen: ItemDocuments | undefined;
  const { tables } = customTable({
    name: "titles",
    comment: "x",
    columns: [text("title", { comment: "x" })],
    rows: () => [],
  });
  const rows = (item: ItemDocuments) => {
    seen = item;
    return [];
  };
  const views = documents.map(
    ([shape, document], at): ItemDocument => ({ shape, document, observedAt: 0, order: -at, unknown: [] }),
  );
  const transform = compileTransform({
    tables,
    rows: { titles: rows },
    pool: new EntityPool(),
    sink: () => () => {},
  });
  transform({ contentId: "a", views, order: 0, drift: new Drift() });
  return seen;
}

test("the function of a custom table sees what a single-item answer lacks as the listing has it", () => {
  const seen = seenOf(
    ["dynamic", { id: "a", event_start_date: "2026-02-01", tags: null }],
    ["full", { id: "a", title: "Full" }],
    ["dynamic", { id: "a", title: "Listed", tags: ["x"], event_start_date: "2026-01-01" }],
  );
  assert.deepEqual(seen, {
    contentId: "a",
    dynamic: { id: "a", title: "Listed", tags: null, event_start_date: "2026-02-01" },
    full: { id: "a", title: "Full" },
  });
});

test("the function of a custom table has no document of a listing that the item is not in", () => {
  assert.deepEqual(seenOf(["full", { id: "a" }]), { contentId: "a", dynamic: undefined, full: { id: "a" } });
});
