import assert from "node:assert/strict";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { FAULTS } from "./rows.ts";
import { testsByRow } from "./titles.ts";

test("every fault is named in the title of a test or has a reason why not, and never both", () => {
  const tests = testsByRow(packagePath("test"));
  const wrong = Object.entries(FAULTS).flatMap(([id, [, , untested]]) => {
    const files = tests.get(id);
    if (files === undefined && untested === undefined) return [`${id} has neither a test nor a reason`];
    if (files === undefined || untested === undefined) return [];
    return [`${id} is held by test/${files.join(", test/")}: take its reason out of test/faults/rows.ts`];
  });
  assert.deepEqual(wrong, []);
});

test("titles name only faults that are on the list, or rules that have no row there", () => {
  const known = new Set(Object.keys(FAULTS));
  const unknown = [...testsByRow(packagePath("test")).keys()].filter(
    (id) => !known.has(id) && !/^[SZ]\d+$/.test(id),
  );
  assert.deepEqual(unknown, []);
});
