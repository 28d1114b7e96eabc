import assert from "node:assert/strict";
import { test } from "node:test";
import { distinctColumnNames } from "../../src/load/column-names.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import fc from "../properties.ts";

const LONG = "\u{1F600}".repeat(200);

/** What is told of the columns that are wanted, each as `name|tag|tag`, the reserved names, and the names that they get. */
const CASES: readonly (readonly [
  what: string,
  wanted: readonly string[],
  names: readonly string[],
  reserved?: readonly string[],
])[] = [
  [
    "a name that nobody else has stays as it is",
    ['Région / d\'été "x"|f1', "__proto__|f2"],
    ['Région / d\'été "x"', "__proto__"],
  ],
  [
    "C9: all names that differ only in case get their tag, by the rules of Unicode",
    ["Topic|f1", "topic|f2", "Topics|f3", "k|f4", "\u212A|f5", "É|f6", "é|f7"],
    ["Topic (f1)", "topic (f2)", "Topics", "k (f4)", "\u212A (f5)", "É (f6)", "é (f7)"],
  ],
  [
    "the first tag is taken where it tells namesakes apart, else the last one",
    [
      "topic|Old topic|f1",
      "topic|New topic|f2",
      "Region|Market|f3",
      "region|market|f4",
      "title|Title|f5",
      "Title||f6",
    ],
    ["topic (Old topic)", "topic (New topic)", "Region (f3)", "region (f4)", "title (Title)", "Title (f6)"],
    ["title"],
  ],
  ["H13: a name that is reserved gets its tag", ["TITLE|f1"], ["TITLE (f1)"], ["content_id", "title"]],
  [
    "a name that looks like a tagged one keeps its name, and the tagged one is numbered",
    ["a|f1", "A|F1", "a (f1)|f3"],
    ["a (f1) #2", "A (F1) #3", "a (f1)"],
  ],
  [
    "C12: a name that DuckDB cannot have is written in another way",
    ["|f1", "a\0b|f2", `${LONG}|f3`],
    ["(f1)", "a\uFFFDb (f2)", `${"\u{1F600}".repeat(90)} (f3)`],
  ],
];

for (const [what, wanted, names, reserved = []] of CASES) {
  test(what, () => {
    const columns = wanted.map((each) => {
      const [name = "", ...tags] = each.split("|");
      return { name, tags };
    });
    assert.deepEqual(distinctColumnNames(columns, reserved), names);
  });
}

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
