import assert from "node:assert/strict";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { FAULTS } from "./rows.ts";
import { rowsIn, testsByRow } from "./titles.ts";

/** Rows that came later, after the one that they belong to. */
const INSERTED: Readonly<Record<string, string>> = { B4: "B4a" };

/** How many faults each letter has. */
const SIZES = { A: 22, B: 20, C: 19, D: 22, E: 7, F: 21, G: 10, H: 13, I: 8 };

test("the list has every fault once, in order", () => {
  const expected = Object.entries(SIZES).flatMap(([letter, size]) =>
    Array.from({ length: size }, (_, index) => `${letter}${index + 1}`).flatMap((id) => [
      id,
      ...(INSERTED[id] === undefined ? [] : [INSERTED[id]]),
    ]),
  );
  assert.deepEqual(
    FAULTS.map(({ id }) => id),
    expected,
  );
});

test("every fault is named in the title of a test or has a reason why not, and never both", () => {
  const tests = testsByRow(packagePath("test"));
  const wrong = FAULTS.flatMap(({ id, untested }) => {
    const files = tests.get(id);
    if (files === undefined && untested === undefined) return [`${id} has neither a test nor a reason`];
    if (files === undefined || untested === undefined) return [];
    return [`${id} is held by test/${files.join(", test/")}: take its reason out of test/faults/rows.ts`];
  });
  assert.deepEqual(wrong, []);
});

test("titles name only faults that are on the list, or rules that have no row there", () => {
  const known = new Set(FAULTS.map(({ id }) => id));
  const unknown = [...testsByRow(packagePath("test")).keys()].filter(
    (id) => !known.has(id) && !/^[SZ]\d+$/.test(id),
  );
  assert.deepEqual(unknown, []);
});

test("a title names its rows at its beginning, before a colon", () => {
  const title = (text: string) => `test(${JSON.stringify(text)})`;
  assert.deepEqual([...rowsIn(title("D12, D13: what comes"))], ["D12", "D13"]);
  assert.deepEqual([...rowsIn("test(`F3: $" + "{signal}`)")], ["F3"]);
  assert.deepEqual([...rowsIn(title("of D12: nothing"))], []);
  assert.deepEqual([...rowsIn(title("D12 nothing"))], []);
});
