import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Catalogue, Holdings, Sightings } from "../../src/run/catalogue.ts";

const second = fc.integer({ min: -5_000_000_000, max: 10_000_000_000 });
const oddSecond = fc.constantFrom(
  0,
  -1,
  -2,
  1,
  2 ** 31,
  2 ** 32 - 4,
  2 ** 32 - 3,
  2 ** 32 - 2,
  2 ** 32 - 1,
  2 ** 32,
);
const instantOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "");
const instant = fc.oneof(
  fc.oneof(second, oddSecond).map((seconds) => ({ text: instantOf(seconds), seconds })),
  second.map((seconds) => ({ text: `${instantOf(seconds)}.250`, seconds: seconds + 0.25 })),
  fc.constant({ text: null, seconds: -1 }),
);
const listing = fc.array(fc.record({ id: fc.nat(3000).map((n) => `c-${n}`), instant }), { maxLength: 3000 });

test("a pass knows of each item the time that it saw last, whatever time it is, and digests them by ID", () => {
  fc.assert(
    fc.property(listing, (rows) => {
      const catalogue = new Catalogue();
      catalogue.numberOf("never seen");
      const sightings = new Sightings(catalogue);
      const seen = new Map<string, number>();
      for (const { id, instant } of rows) {
        sightings.add(id, instant.text);
        seen.set(id, instant.seconds);
      }
      for (const [id, seconds] of seen) assert.equal(sightings.secondsOf(id), seconds);
      assert.equal(sightings.saw("never seen"), false);
      const lines = [...seen]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, seconds]) => `${id}\t${seconds}\n`);
      assert.equal(sightings.digest(catalogue.sorted()), hash("sha256", lines.join("")));
    }),
    { numRuns: 50 },
  );
});

const shape = fc.constantFrom("dynamic" as const, "full" as const);
const item = fc.nat(12).map((n) => `c-${n}`);
const seconds = fc.nat(3);
const step = fc.oneof(
  fc.record({
    kind: fc.constant("pass" as const),
    shape,
    rows: fc.array(fc.record({ id: item, seconds }), { maxLength: 12 }),
  }),
  fc.record({ kind: fc.constant("hold" as const), shape, id: item, seconds }),
  fc.record({ kind: fc.constant("forget" as const), shape, id: item }),
);

test("what is held of an item is what was staged of it since the last pass, and unknown where that saw it twice", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const catalogue = new Catalogue();
      const holdings = new Holdings(catalogue);
      const held = { dynamic: new Map<string, number>(), full: new Map<string, number>() };
      for (const made of steps) {
        const model = held[made.shape];
        if (made.kind === "pass") {
          const sightings = new Sightings(catalogue);
          for (const { id, seconds } of made.rows) sightings.add(id, instantOf(seconds));
          holdings.holdAll(made.shape, sightings);
          model.clear();
          for (const { id, seconds } of made.rows) model.set(id, seconds);
          for (const id of sightings.repeated) model.delete(id);
        } else if (made.kind === "hold") {
          holdings.hold(made.shape, made.id, instantOf(made.seconds));
          model.set(made.id, made.seconds);
        } else {
          holdings.forget(made.shape, made.id);
          model.delete(made.id);
        }
      }
      const ids = Array.from({ length: catalogue.size }, (_, number) => catalogue.idOf(number));
      for (const seconds of [0, 1, 2, 3]) {
        const last = new Sightings(catalogue);
        for (const id of ids) last.add(id, instantOf(seconds));
        const stale = ids.filter((id) => held.dynamic.get(id) !== seconds || held.full.get(id) !== seconds);
        assert.deepEqual(holdings.stale(last, false), stale);
        const staleInFull = ids.filter((id) => !held.dynamic.has(id) || held.full.get(id) !== seconds);
        assert.deepEqual(holdings.stale(last, true), staleInFull);
      }
    }),
    { numRuns: 500 },
  );
});
