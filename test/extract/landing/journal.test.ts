import assert from "node:assert/strict";
import { test } from "node:test";
import { Journal, type RequestRecord } from "../../../src/extract/landing/journal.ts";

const RECORD: RequestRecord = {
  mode: "dynamic",
  pass: 1,
  page: 1,
  position: null,
  nextPage: null,
  previousPage: null,
  contentId: null,
  status: 200,
  attempts: 1,
  bytes: 10,
  milliseconds: 1.5,
  observedAt: 1_000_000,
  sha256: "",
};

test("requests come in the order of the plan, whatever the order of the answers", () => {
  const ordered: Partial<RequestRecord>[] = [
    { mode: "destinations", pass: null, page: null },
    { mode: "custom_fields", pass: null, page: null },
    { page: 1 },
    { page: 2 },
    { mode: "item", page: 1, contentId: "\uFFEE" },
    { mode: "item", page: 1, contentId: "\u{1F600}" },
    { mode: "full", page: 1 },
    { mode: "full", pass: 2, page: 1 },
    { mode: "basic", pass: 2, page: 1 },
  ];
  const journal = new Journal();
  for (const each of ordered.toReversed()) journal.requests.push({ ...RECORD, ...each });
  assert.deepEqual(
    journal.requestsInOrder(),
    ordered.map((each) => ({ ...RECORD, ...each })),
  );
});
