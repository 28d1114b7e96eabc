import assert from "node:assert/strict";
import { test } from "node:test";
import { IdTable } from "../../src/raw/ids.ts";
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
      const ids = new IdTable();
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

test("IDs of 24 digits alone are ordered by all of their digits", () => {
  fc.assert(
    fc.property(fc.array(hexadecimal.map((digits) => digits.join(""))), (given) => {
      const ids = new IdTable();
      const near = given.flatMap((id) => [
        id,
        `${id.slice(0, 23)}0`,
        `0${id.slice(1)}`,
        `${id.slice(0, 9)}f${id.slice(10)}`,
      ]);
      for (const id of near) ids.numberOf(id);
      assert.deepEqual(
        Array.from(ids.sorted(), (number) => ids.idOf(number)),
        [...new Set(near)].sort(),
      );
    }),
  );
});

test("a hundred thousand IDs that are counters are found without long searches", () => {
  const ids = new IdTable();
  const idOf = (n: number) => n.toString(16).padStart(24, "0");
  for (let n = 0; n < 100_000; n++) assert.equal(ids.numberOf(idOf(n)), n);
  for (let n = 0; n < 100_000; n++) assert.equal(ids.find(idOf(n)), n);
  assert.equal(ids.idOf(99_999), idOf(99_999));
});
