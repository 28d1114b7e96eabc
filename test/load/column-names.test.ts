import assert from "node:assert/strict";
import { test } from "node:test";
import { distinctColumnNames } from "../../src/load/column-names.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import fc from "../properties.ts";

type Wanted = readonly [name: string, tag: string, ...tags: string[]];

const names = (wanted: readonly Wanted[], reserved: readonly string[] = []) =>
  distinctColumnNames(
    wanted.map(([name, ...tags]) => ({ name, tags })),
    reserved,
  );

test("a name that nobody else has stays as it is", () => {
  assert.deepEqual(
    names([
      ['Région / d\'été "x"', "f1"],
      ["__proto__", "f2"],
    ]),
    ['Région / d\'été "x"', "__proto__"],
  );
});

test("C9: all names that differ only in case get their tag, by the rules of Unicode", () => {
  assert.deepEqual(
    names([
      ["Topic", "f1"],
      ["topic", "f2"],
      ["Topics", "f3"],
    ]),
    ["Topic (f1)", "topic (f2)", "Topics"],
  );
  assert.deepEqual(
    names([
      ["k", "f1"],
      ["\u212A", "f2"],
      ["É", "f3"],
      ["é", "f4"],
    ]),
    ["k (f1)", "\u212A (f2)", "É (f3)", "é (f4)"],
  );
});

test("the first tag is taken where it tells namesakes apart, else the last one", () => {
  assert.deepEqual(
    names(
      [
        ["topic", "Old topic", "f1"],
        ["topic", "New topic", "f2"],
        ["Region", "Market", "f3"],
        ["region", "market", "f4"],
        ["title", "Title", "f5"],
        ["Title", "", "f6"],
      ],
      ["title"],
    ),
    ["topic (Old topic)", "topic (New topic)", "Region (f3)", "region (f4)", "title (Title)", "Title (f6)"],
  );
});

test("H13: a name that is reserved gets its tag", () => {
  assert.deepEqual(names([["TITLE", "f1"]], ["content_id", "title"]), ["TITLE (f1)"]);
});

test("a name that looks like a tagged one keeps its name, and the tagged one is numbered", () => {
  assert.deepEqual(
    names([
      ["a", "f1"],
      ["A", "F1"],
      ["a (f1)", "f3"],
    ]),
    ["a (f1) #2", "A (F1) #3", "a (f1)"],
  );
});

test("C12: a name that DuckDB cannot have is written in another way", () => {
  const long = "\u{1F600}".repeat(200);
  const [empty, nul, cut] = names([
    ["", "f1"],
    ["a\0b", "f2"],
    [long, "f3"],
  ]);
  assert.equal(empty, "(f1)");
  assert.equal(nul, "a\uFFFDb (f2)");
  assert.equal(cut, `${"\u{1F600}".repeat(90)} (f3)`);
});

test("whatever is wanted, each column has a name that can be quoted and that no other has", () => {
  const part = fc.oneof(
    fc.constantFrom("", "a", "A", "a (a)", "a (A) #2", "(a)", "\0", "\uFFFD", "k", "\u212A", "x".repeat(300)),
    fc.string({ unit: "grapheme", maxLength: 300 }),
  );
  const wanted = fc.array(fc.record({ name: part, tags: fc.tuple(part, part) }), { maxLength: 12 });
  fc.assert(
    fc.property(
      wanted,
      fc.uniqueArray(part, { selector: (name) => name.toLowerCase() }),
      (columns, reserved) => {
        const named = distinctColumnNames(columns, reserved);
        assert.equal(named.length, columns.length);
        for (const name of named) quoteIdentifier(name);
        const folded = new Set([...named, ...reserved].map((name) => name.toLowerCase()));
        assert.equal(folded.size, named.length + reserved.length);
      },
    ),
    { numRuns: 500 },
  );
});
