/** Ranges of items that are loaded at a time, ranges of files, and the memory that the database needs for them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutItems, memoryLimitMb, mergeBounds } from "../../src/load/range-bounds.ts";
import { ItemIndex } from "../../src/raw/item-index.ts";
import { rangesOf } from "../../src/storage/id-ranges.ts";

const MB = 1024 * 1024;
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `c-${String(i).padStart(6, "0")}`);

/** Ranges of items with these weights; `before`: bounds of the files of a table that has all bytes. */
function cut(
  ids: readonly string[],
  widestTableBytes: number,
  { weightOf = () => 1, before }: { weightOf?: (id: string) => number; before?: readonly string[] } = {},
) {
  const items = {
    weights: Float32Array.from(ids, weightOf),
    idAt: (place: number) => ids[place] ?? "",
    widestTableBytes,
  };
  const known = new Map(before === undefined ? [] : [["content", before]]);
  return cutItems(items, new Map([["content", widestTableBytes]]), known);
}

const first = (weight: number, count: number) => (id: string) =>
  id < (idsOf(count + 1)[count] ?? "") ? weight : 1;

/** Items, MB of the widest table, and items in each range. */
const SIZES: readonly (readonly [
  what: string,
  items: number,
  mb: number,
  sizes: readonly number[],
  weightOf?: (id: string) => number,
])[] = [
  ["one range of few and small items", 10_000, 20, [10_000]],
  ["one range without items", 0, 0, [0]],
  ["one range of one large item", 1, 500, [1]],
  ["10,000 items at most, however small", 25_000, 1, [10_000, 10_000, 5000]],
  ["24 MB of the widest table at most", 10_000, 80, [3000, 3000, 3000, 1000]],
  ["fewer items where large ones stand together", 10_000, 49, [600, 8400, 1000], first(40, 1000)],
  ["an item that weighs more than a range may", 3, 100, [1, 1, 1], (id) => (id === "c-000001" ? 1000 : 0)],
];

for (const [what, count, mb, sizes, weightOf] of SIZES)
  test(`items are cut into ${what}`, () => {
    const ids = idsOf(count);
    const { bounds } = cut(ids, mb * MB, weightOf && { weightOf });
    const found = rangesOf(bounds).map(({ lower = "", upper }) => {
      const size = ids.filter((id) => id >= lower && (upper === undefined || id < upper)).length;
      return size < 100 ? size : Math.round(size / 100) * 100;
    });
    assert.deepEqual(found, sizes);
  });

test("a narrower table has several neighbouring ranges in one file, of 12 MB at most, and as many as a step wants", () => {
  const bounds = idsOf(10);
  const merged = (mb: number, ranges?: number, of = bounds) =>
    mergeBounds(of, mb * MB, ranges).map((id) => of.indexOf(id));
  assert.deepEqual(
    [240, 48, 24, 12, 0].map((mb) => merged(mb)),
    [[...bounds.keys()], [0, 2, 4, 6, 8], [0, 5], [], []],
  );
  assert.deepEqual(
    [merged(0, 4), merged(0, 4, bounds.slice(0, 3)), merged(480, 1, [])],
    [[0, 2, 4, 6, 8], [0, 1, 2], []],
  );
});

test("files keep the ranges of the run before, and are cut where one has more than twice its items or bytes", () => {
  const before = ["", "c-010000", "c-020000"];
  const after = (ids: readonly string[], mb: number, held?: readonly string[]) =>
    cut(ids, mb * MB, held && { before: held }).fileBounds.get("content") ?? [];
  const ids = idsOf(25_000);
  assert.deepEqual(after(ids, 50), cut(ids, 50 * MB).bounds);
  for (const [moved, mb] of [
    [ids.slice(1), 50],
    [["c", ...ids], 50],
    [idsOf(35_000), 70],
    [ids, 119],
  ] as const)
    assert.deepEqual(after(moved, mb, before), before);
  const further = ["c-030000", "c-040000"];
  assert.deepEqual(after(idsOf(45_000), 90, before), [...before, ...further]);
  assert.deepEqual(after(idsOf(45_000), 90, [""]), [...before, ...further]);
  assert.ok(after(ids, 140, before).length > 3);
  // Of many small items, no more than the table's bytes ask for.
  assert.deepEqual(after(idsOf(45_000), 20, [""]), [""]);
});

test("the database gets memory for the heaviest 2,048 items that stand together, up to 4 GB", () => {
  const bytes = (count: number, weightOf: (id: string) => number) =>
    cut(idsOf(count), 100 * MB, { weightOf }).vectorBytes;
  const together = (id: string) => (id >= "c-005000" && id < "c-006000" ? 1 : 0);
  const found = [
    bytes(2048, () => 1),
    bytes(8192, () => 7),
    bytes(8192, together),
    bytes(0, () => 1),
    bytes(3, () => 0),
  ];
  assert.deepEqual(found, [100 * MB, 25 * MB, 100 * MB, 0, 0]);
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
