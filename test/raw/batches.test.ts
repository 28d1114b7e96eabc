import assert from "node:assert/strict";
import { test } from "node:test";
import { splitIntoBatches } from "../../src/raw/batches.ts";

test("a list is split into batches of so many items, or of fewer where these are large", () => {
  for (const [list, sizes] of [
    [Array(250).fill(0), [100, 100, 50]],
    [Array(7).fill(8), [3, 3, 1]],
    [
      [1, 60, 1],
      [1, 1, 1],
    ],
    [[], []],
  ] as const) {
    const made = [...splitIntoBatches<number>(list, (bytes) => bytes, { items: 100, bytes: 24 })];
    assert.deepEqual([made.flat(), made.map(({ length }) => length)], [list, sizes]);
  }
});
