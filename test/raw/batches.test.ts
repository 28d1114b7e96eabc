import assert from "node:assert/strict";
import { test } from "node:test";
import { splitIntoBatches } from "../../src/raw/batches.ts";

const MB = 1024 * 1024;
const LIMITS = { items: 1000, bytes: 24 * MB };
const ids = Array.from({ length: 2500 }, (_, i) => `c-${i}`);

test("a list is split into batches of so many items, or of fewer where these are large", () => {
  const sizes = (contentIds: readonly string[], weightOf: (id: string) => number) => {
    const made = [...splitIntoBatches(contentIds, weightOf, LIMITS)];
    assert.deepEqual(made.flat(), contentIds);
    return made.map(({ length }) => length);
  };
  assert.deepEqual(
    sizes(ids, () => 0),
    [1000, 1000, 500],
  );
  assert.deepEqual(
    sizes(ids.slice(0, 7), () => 8 * MB),
    [3, 3, 1],
  );
  assert.deepEqual(
    sizes(ids.slice(0, 3), (id) => (id === "c-1" ? 60 * MB : 1)),
    [1, 1, 1],
  );
  assert.deepEqual(
    sizes([], () => 1),
    [],
  );
});
