import assert from "node:assert/strict";
import { test } from "node:test";
import { ItemVersions } from "../../../src/extract/passes/item-versions.ts";
import { PassSnapshot } from "../../../src/extract/passes/pass-snapshot.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";
import fc from "../../properties.ts";

const instantOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "");

const shape = fc.constantFrom("dynamic" as const, "full" as const);
const item = fc.nat(12).map((n) => `c-${n}`);
const seconds = fc.nat(3);
const step = fc.oneof(
  fc.record({
    kind: fc.constant("pass" as const),
    shape,
    rows: fc.array(fc.record({ id: item, seconds }), { maxLength: 12 }),
    fresh: fc.array(item, { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("hold" as const), shape, id: item, seconds }),
  fc.record({ kind: fc.constant("forget" as const), shape, id: item }),
);

test("what is held of an item is what was staged of it since the last pass, and unknown where that saw it twice", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const itemIndex = new ItemIndex();
      const versions = new ItemVersions(itemIndex);
      const held = { dynamic: new Map<string, number>(), full: new Map<string, number>() };
      for (const made of steps) {
        const model = held[made.shape];
        if (made.kind === "pass") {
          const snapshot = new PassSnapshot(itemIndex);
          for (const { id, seconds } of made.rows) snapshot.add(id, instantOf(seconds));
          versions.recordPass(made.shape, { pass: 1, snapshot, fresh: made.fresh, unread: [] });
          model.clear();
          for (const { id, seconds } of made.rows) model.set(id, seconds);
          for (const id of [...snapshot.repeated, ...made.fresh]) model.delete(id);
        } else if (made.kind === "hold") {
          versions.recordDocument(made.shape, made.id, instantOf(made.seconds));
          model.set(made.id, made.seconds);
        } else {
          versions.invalidate(made.shape, made.id);
          model.delete(made.id);
        }
      }
      const ids = Array.from({ length: itemIndex.size }, (_, number) => itemIndex.idOf(number));
      for (const seconds of [0, 1, 2, 3]) {
        const snapshot = new PassSnapshot(itemIndex);
        for (const id of ids) snapshot.add(id, instantOf(seconds));
        for (const shape of ["dynamic", "full"] as const) {
          const differing = versions.differing(shape, { pass: 1, snapshot }).map((n) => itemIndex.idOf(n));
          assert.deepEqual(
            differing,
            ids.filter((id) => held[shape].get(id) !== seconds),
          );
        }
        const twice = versions.ofTwoTimes({ pass: 1, snapshot }).map((n) => itemIndex.idOf(n));
        const both = ids.filter((id) => held.dynamic.has(id) && held.full.has(id));
        assert.deepEqual(
          twice,
          both.filter((id) => held.dynamic.get(id) !== held.full.get(id)),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test("an item that a pass after a basic one could not read is not accounted for by a single answer in one shape", () => {
  const itemIndex = new ItemIndex();
  const versions = new ItemVersions(itemIndex);
  const seen = (...ids: string[]) => {
    const snapshot = new PassSnapshot(itemIndex);
    for (const id of ids) snapshot.add(id, instantOf(1));
    return snapshot;
  };
  const land = (shape: "dynamic" | "full", pass: number, snapshot: PassSnapshot, unread: string[] = []) =>
    versions.recordPass(shape, { pass, snapshot, fresh: [], unread });
  land("dynamic", 1, seen("b"));
  land("full", 2, seen("b"));
  const fourth = seen("a", "b");
  land("dynamic", 4, fourth, ["a"]);
  versions.recordResponse("a", "there", 4);
  const looks = [
    { pass: 4, snapshot: fourth },
    { pass: 5, snapshot: seen("b") },
  ];
  assert.deepEqual(versions.unlisted(looks).unaccounted, [itemIndex.numberOf("a")]);
});
