import assert from "node:assert/strict";
import { test } from "node:test";
import { ItemIndex } from "../../src/raw/item-index.ts";
import fc from "../properties.ts";

const hexadecimal = fc.array(fc.constantFrom(..."0123456789abcdef"), { minLength: 24, maxLength: 24 });
const counter = fc.nat(3000).map((n) => `5f0000000000000000${n.toString(16).padStart(6, "0")}`);
const anyId = fc.oneof(
  { weight: 6, arbitrary: counter },
  { weight: 3, arbitrary: hexadecimal.map((digits) => digits.join("")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("0".repeat(24), "f".repeat(24), "F".repeat(24), "a", "", "x".repeat(24)),
  },
  { weight: 1, arbitrary: fc.string() },
);

test("IDs of any form have the numbers that a map of texts would give them, and come back as they were", () => {
  fc.assert(
    fc.property(fc.array(anyId, { maxLength: 4000 }), (given) => {
      const ids = new ItemIndex();
      const map = new Map<string, number>();
      for (const id of given) {
        assert.equal(ids.find(id), map.get(id));
        if (!map.has(id)) map.set(id, map.size);
        assert.equal(ids.numberOf(id), map.get(id));
      }
      assert.equal(ids.size, map.size);
      for (const [id, number] of map) {
        assert.equal(ids.find(id), number);
        assert.equal(ids.idOf(number), id);
      }
      const inOrder = [...map.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(
        Array.from(ids.sorted(), (number) => ids.idOf(number)),
        inOrder,
      );
    }),
    { numRuns: 60 },
  );
});
