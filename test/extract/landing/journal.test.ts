import assert from "node:assert/strict";
import { test } from "node:test";
import { Journal, type RequestRecord } from "../../../src/extract/landing/journal.ts";

test("requests come in the order of the plan, whatever the order of the answers", () => {
  const ordered = [
    { mode: "destinations", pass: null, page: null },
    { mode: "custom_fields", pass: null, page: null },
    { mode: "dynamic", pass: 1, page: 1 },
    { mode: "dynamic", pass: 1, page: 2 },
    { mode: "item", pass: 1, page: 1, contentId: "\uFFEE" },
    { mode: "item", pass: 1, page: 1, contentId: "\u{1F600}" },
    { mode: "full", pass: 1, page: 1 },
    { mode: "full", pass: 2, page: 1 },
    { mode: "basic", pass: 2, page: 1 },
  ] as RequestRecord[];
  const journal = new Journal();
  journal.requests.push(...ordered.toReversed());
  assert.deepEqual(journal.requestsInOrder(), ordered);
});
