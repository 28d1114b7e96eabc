import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  fileBounds,
  type ItemWeights,
  memoryLimitMb,
  mergeBounds,
  rangeBounds,
  vectorBytes,
} from "../../src/load/range-bounds.ts";
import { ItemIndex } from "../../src/raw/item-index.ts";
import { rangesOf } from "../../src/storage/id-ranges.ts";

const MB = 1024 * 1024;
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `c-${String(i).padStart(6, "0")}`);

function weighing(
  ids: readonly string[],
  weightOf: (id: string) => number,
  widestTableBytes: number,
): ItemWeights {
  return { weights: Float32Array.from(ids, weightOf), idAt: (place) => ids[place] ?? "", widestTableBytes };
}

/** Items in each range. */
function sizes(
  count: number,
  widestTableBytes: number,
  weightOf: (id: string) => number = () => 1,
): number[] {
  const ids = idsOf(count);
  const ranges = rangesOf(rangeBounds(weighing(ids, weightOf, widestTableBytes)));
  return ranges.map(
    ({ lower, upper }) =>
      ids.filter((id) => (lower === undefined || id >= lower) && (upper === undefined || id < upper)).length,
  );
}

suite("the ranges of items that are loaded at a time", () => {
  test("are one where the items are few and small, or none", () => {
    assert.deepEqual(sizes(10_000, 20 * MB), [10_000]);
    assert.deepEqual(sizes(0, 0), [0]);
    assert.deepEqual(sizes(1, 500 * MB), [1]);
  });

  test("have ten thousand items at most, however small these are", () => {
    assert.deepEqual(sizes(25_000, 1 * MB), [10_000, 10_000, 5000]);
  });

  test("have less of large items: 24 MB of the widest table", () => {
    assert.deepEqual(sizes(10_000, 80 * MB), [3000, 3000, 3000, 1000]);
  });

  test("have less where the large items stand together", () => {
    const weightOf = (id: string) => (id < "c-001000" ? 40 : 1);
    const found = sizes(10_000, 49 * MB, weightOf);
    assert.deepEqual(
      found.map((size) => Math.round(size / 100) * 100),
      [600, 8400, 1000],
    );
  });

  test("have every item, also one that no answer weighs or that weighs more than a range may", () => {
    const weightOf = (id: string) => (id === "c-000001" ? 1000 : 0);
    assert.deepEqual(sizes(3, 100 * MB, weightOf), [1, 1, 1]);
  });
});

suite("the ranges of a table that is narrower than the widest", () => {
  const bounds = idsOf(10);

  test("are several of those together, of 12 MB at most", () => {
    assert.deepEqual(
      mergeBounds(bounds, 48 * MB),
      [0, 2, 4, 6, 8].map((place) => bounds[place]),
    );
    assert.deepEqual(mergeBounds(bounds, 24 * MB), [bounds[0], bounds[5]]);
  });

  test("are one where the table is small, empty, or there is but one range", () => {
    assert.deepEqual(mergeBounds(bounds, 12 * MB), []);
    assert.deepEqual(mergeBounds(bounds, 0), []);
    assert.deepEqual(mergeBounds([], 480 * MB), []);
  });

  test("are several where steps work on several at a time, as far as there are so many", () => {
    assert.equal(mergeBounds(bounds, 0, 4).length, 5);
    assert.deepEqual(mergeBounds(bounds.slice(0, 3), 0, 4), bounds.slice(0, 3));
    assert.deepEqual(mergeBounds([], 0, 4), []);
  });

  test("are those of the widest where the table is as wide", () => {
    assert.deepEqual(mergeBounds(bounds, 240 * MB), bounds);
  });
});

suite("the ranges of the files of a run after another", () => {
  /** Bounds of a table of so many bytes that is the widest, where the run before has those of 25,000 items. */
  function after(ids: readonly string[], bytes: number, before: readonly string[] | undefined) {
    const weighed = weighing(ids, () => 1, bytes);
    const known = new Map(before === undefined ? [] : [["content", before]]);
    const staged = new Map([["content", bytes]]);
    return fileBounds(weighed, rangeBounds(weighed), staged, known).get("content");
  }
  const first = idsOf(25_000);
  const held = ["", "c-010000", "c-020000"];

  test("are cut as in a first run where nothing is known of the run before", () => {
    assert.deepEqual(after(first, 50 * MB, undefined), rangeBounds(weighing(first, () => 1, 50 * MB)));
  });

  test("stay where an item goes or comes, though all that follow would move", () => {
    assert.deepEqual(after(first.slice(1), 50 * MB, held), held);
    assert.deepEqual(after(["c", ...first], 50 * MB, held), held);
    assert.deepEqual(after(idsOf(35_000), 70 * MB, held), held);
  });

  test("are cut anew where one has more than twice its items or bytes, and there alone", () => {
    assert.deepEqual(after(idsOf(45_000), 90 * MB, held), [...held, "c-030000", "c-040000"]);
    assert.deepEqual(after(idsOf(45_000), 90 * MB, [""]), [
      "",
      "c-010000",
      "c-020000",
      "c-030000",
      "c-040000",
    ]);
    assert.deepEqual(after(first, 119 * MB, held), held);
    assert.ok((after(first, 140 * MB, held)?.length ?? 0) > 3);
  });

  test("of many small items are no more than the table's bytes ask for", () => {
    assert.deepEqual(after(idsOf(45_000), 20 * MB, [""]), [""]);
  });
});

test("what the database holds at once is the heaviest 2,048 items that stand together", () => {
  const weighed = (count: number, weightOf: (id: string) => number) =>
    vectorBytes(weighing(idsOf(count), weightOf, 100 * MB));
  const together = (id: string) => (id >= "c-005000" && id < "c-006000" ? 1 : 0);
  const found = [weighed(2048, () => 1), weighed(8192, () => 7), weighed(8192, together)];
  assert.deepEqual(found, [100 * MB, 25 * MB, 100 * MB]);
  assert.deepEqual([weighed(0, () => 1), weighed(3, () => 0)], [0, 0]);
});

test("the database gets memory for as much, up to 4 GB", () => {
  assert.deepEqual([0, 480e6, 1e12].map(memoryLimitMb), [192, 792, 4096]);
});

test("the item index keeps the greatest weight of an item, and none of one that was never weighed", () => {
  const itemIndex = new ItemIndex();
  for (const id of idsOf(3000)) itemIndex.weigh(id, 10);
  itemIndex.weigh("c-002999", 30);
  itemIndex.weigh("c-002999", 20);
  const weightOf = (id: string) => itemIndex.weightAt(itemIndex.numberOf(id));
  assert.deepEqual(["c-000000", "c-002999", "new"].map(weightOf), [10, 30, 0]);
});
