import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ItemIndex } from "../../src/raw/item-index.ts";
import { RawIndex } from "../../src/raw/raw-index.ts";
import type { ItemGroup } from "../../src/transform/transform-group.ts";
import { planGroups } from "../../src/transform/transform-items.ts";
import fc from "../properties.ts";

interface Document {
  readonly id: string;
  readonly full: boolean;
  readonly whole: boolean;
  readonly order: number;
}

type File = readonly Document[];

function indexOf(files: readonly File[]): RawIndex {
  const index = new RawIndex(new ItemIndex());
  for (const [i, documents] of files.entries()) {
    index.add(`file ${i}`, {
      ids: documents.map(({ id }) => id),
      codes: Uint8Array.from(documents, ({ full, whole }) => Number(full) + 2 * Number(whole)),
      orders: Float64Array.from(documents, ({ order }) => order),
    });
  }
  return index;
}

/** The documents of an item that count, by the rule's own words; the latest first. */
function counting(files: readonly File[], id: string): Document[] {
  const all = files.flat().filter((document) => document.id === id);
  return all
    .filter((one) => !all.some((other) => other.full === one.full && other.whole && other.order > one.order))
    .sort((a, b) => b.order - a.order);
}

function documentsOf({ files: paths, documents }: ItemGroup, files: readonly File[]): Document[][] {
  const items: Document[][] = [];
  for (let at = 0; at < documents.length; ) {
    const count = documents[at++] ?? 0;
    items.push(
      Array.from({ length: count }, () => {
        const file = files[Number(paths[documents[at++] ?? 0]?.slice("file ".length))];
        const document = file?.[documents[at++] ?? 0];
        assert.ok(document);
        return document;
      }),
    );
  }
  return items;
}

function grouped(files: readonly File[], leftOut: ReadonlySet<string> = new Set()) {
  const index = indexOf(files);
  const plan = planGroups(index, (item) => leftOut.has(index.items.idOf(item)));
  const made: ItemGroup[] = [];
  let step = plan.next();
  for (; step.done !== true; step = plan.next()) made.push(step.value);
  return {
    index,
    made,
    items: made.flatMap((group) => documentsOf(group, files)),
    rest: step.value.map((item) => index.items.idOf(item)),
  };
}

const documents = fc.array(
  fc.record({
    id: fc.constantFrom(..."abcdefghij"),
    full: fc.boolean(),
    whole: fc.boolean(),
    order: fc.integer({ min: 0, max: 1e6 }),
  }),
  { maxLength: 20 },
);

test("each item that has a document is in one group or in the rest, with the documents that count", () => {
  fc.assert(
    fc.property(fc.array(documents, { maxLength: 6 }), fc.constantFrom("a", "z"), (made, left) => {
      // No two documents are observed at one time.
      let order = 0;
      const files = made.map((file) =>
        file.map((document) => ({ ...document, order: document.order * 1000 + order++ })),
      );
      const { items, rest, index } = grouped(files, new Set([left]));
      const ids = [...new Set(files.flat().map(({ id }) => id))].filter((id) => id !== left).sort();
      const found = items.map(([document]) => document?.id ?? "");
      assert.deepEqual([...found, ...rest].sort(), ids);
      for (const item of items) assert.deepEqual(item, counting(files, item[0]?.id ?? ""));
      for (const id of rest) {
        const places = index.counting(index.items.numberOf(id));
        assert.deepEqual(
          places.map(({ file, row }) => files[file]?.[row]),
          counting(files, id),
        );
      }
    }),
  );
});

/** A listing of so many items in groups of 100. */
function listing(items: readonly number[], full: boolean, from: number): File[] {
  const all = items.map((item, i) => ({ id: `item ${item}`, full, whole: true, order: from + i }));
  return Array.from({ length: Math.ceil(all.length / 100) }, (_, i) => all.slice(i * 100, (i + 1) * 100));
}

const ITEMS = Array.from({ length: 1000 }, (_, i) => i);

test("where the listings agree in order nothing is left over, and no file is read twice", () => {
  const singles = [
    ITEMS.filter((i) => i % 10 === 0 && i < 400),
    ITEMS.filter((i) => i % 10 === 0 && i >= 400),
  ];
  const files = [
    ...listing(ITEMS, false, 0),
    ...singles.map((some, i) =>
      some.map((item) => ({ id: `item ${item}`, full: false, whole: false, order: 2000 + i * 1000 + item })),
    ),
    ...listing(ITEMS, true, 10_000),
  ];
  const { made, items, rest } = grouped(files);
  assert.deepEqual(rest, []);
  assert.equal(items.length, 1000);
  assert.deepEqual(
    made.map((group) => group.files.length),
    Array.from({ length: 10 }, () => 3),
  );
});

test("a few items that moved are the rest, and do not have other groups' files read", () => {
  const moved = ITEMS.toSpliced(20, 3).toSpliced(700, 0, 20, 21, 22);
  const { made, rest } = grouped([...listing(ITEMS, false, 0), ...listing(moved, true, 10_000)]);
  // Those around the places where they were and came stand in two groups.
  assert.deepEqual(rest.filter((id) => /^item 2[012]$/.test(id)).sort(), ["item 20", "item 21", "item 22"]);
  assert.ok(rest.length <= 30, `${rest.length} are left over`);
  for (const group of made) assert.ok(group.files.length <= 2);
});

/** What has been outgrown is not counted. */
function bytesHeld(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")({ type: "major", execution: "sync", flavor: "last-resort" });
  return process.memoryUsage().arrayBuffers;
}

test("an index takes at most 64 bytes of memory a document", () => {
  const documents = 200_000;
  const ids = Array.from({ length: documents / 2 }, (_, i) => i.toString(16).padStart(24, "0"));
  const itemIndex = new ItemIndex();
  for (const id of ids) itemIndex.numberOf(id);
  const before = bytesHeld();
  const index = new RawIndex(itemIndex);
  for (let file = 0; file < 2; file++) {
    index.add(`file ${file}`, {
      ids,
      codes: new Uint8Array(ids.length),
      orders: Float64Array.from(ids, (_, i) => file * 1e6 + i),
    });
  }
  assert.equal(index.counting(0).length, 2);
  const bytes = bytesHeld() - before;
  assert.equal(index.size, documents);
  assert.ok(bytes < 64 * documents, `${bytes / documents} bytes a document`);
});
