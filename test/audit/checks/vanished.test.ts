import assert from "node:assert/strict";
import { test } from "node:test";
import { findVanished } from "../../../src/audit/checks/mass-change.ts";

test("what all items have lost is told, and not what a history that begins anew has not yet", () => {
  const rows = { content: 3, content_tags: 2, run_history: 2, mapping_history: 5 };
  const columns = ["content.slug", "content.title", "run_history.previous_run"];
  const before = { rows, emptyColumns: ["content.slug"], columns };
  const now = {
    rows: { ...rows, content_tags: 0, run_history: 1, mapping_history: 0 },
    emptyColumns: ["content.mood", ...columns],
  };
  assert.deepEqual(findVanished(before, now), ["content_tags", "content.title"]);
  const withoutTitle = { ...before, columns: ["content.slug"] };
  assert.deepEqual(findVanished(withoutTitle, now), ["content_tags"], "it did not have the column");
});
