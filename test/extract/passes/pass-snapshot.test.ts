import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { PassSnapshot } from "../../../src/extract/passes/pass-snapshot.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";
import fc from "../../properties.ts";

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
const instantOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000", "");
const instant = fc.oneof(
  fc.oneof(second, oddSecond).map((seconds) => ({ text: instantOf(seconds), seconds })),
  fc.constant({ text: null, seconds: -1 }),
);
const listing = fc.array(fc.record({ id: fc.nat(3000).map((n) => `c-${n}`), instant }), { maxLength: 3000 });

test("a pass knows of each item the time that it saw last, whatever time it is, and digests them by ID", () => {
  fc.assert(
    fc.property(listing, (rows) => {
      const itemIndex = new ItemIndex();
      itemIndex.numberOf("never seen");
      const snapshot = new PassSnapshot(itemIndex);
      const seen = new Map<string, number>();
      for (const { id, instant } of rows) {
        snapshot.add(id, instant.text);
        seen.set(id, instant.seconds);
      }
      for (const [id, seconds] of seen) assert.equal(snapshot.at(itemIndex.numberOf(id)), seconds);
      assert.ok(Number.isNaN(snapshot.at(itemIndex.numberOf("never seen"))));
      const lines = [...seen]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, seconds]) => `${id}\t${seconds}\n`);
      assert.equal(snapshot.digest(itemIndex.sorted()), hash("sha256", lines.join("")));
    }),
    { numRuns: 50 },
  );
});
