import assert from "node:assert/strict";
import { test } from "node:test";
import { splitIntoBatches } from "../../src/raw/batches.ts";
import { FILE_LIMITS } from "../../src/raw/regroup.ts";

const MB = 1024 * 1024;
const ids = Array.from({ length: 2500 }, (_, i) => `c-${i}`);

test("views are brought together for a thousand items at a time, or for fewer where these are large", () => {
  const sizes = (contentIds: readonly string[], weightOf: (id: string) => number) => {
    const made = [...splitIntoBatches(contentIds, weightOf, FILE_LIMITS)];
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
