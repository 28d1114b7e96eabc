import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, nearest, suggestion } from "../../src/common/nearest.ts";

test("the edit distance counts letters put in, left out, replaced and exchanged", () => {
  for (const [a, b, distance] of [
    ["", "", 0],
    ["abc", "abc", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["kitten", "sitting", 3],
    ["abcd", "acbd", 1],
    ["Web CMS", "Web CSM", 1],
    ["naïve", "naive", 1],
    ["😀a", "a", 1],
  ] as const) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
  }
});

test("the nearest names come first, three at most, and none that is far", () => {
  const names = ["Web CMS", "Web Shop", "Print Archive", "Partner Portal"];
  assert.deepEqual(nearest("web csm", names), ["Web CMS"]);
  assert.deepEqual(nearest("web", names), ["Web CMS", "Web Shop"]);
  assert.deepEqual(nearest("Archive", names), ["Print Archive"]);
  assert.deepEqual(nearest("Nordix", ["D", "no", "nordic", "Nordics"]), ["nordic", "Nordics"]);
  assert.deepEqual(nearest("zzzzzz", names), []);
  assert.equal(
    nearest(
      "a",
      Array.from({ length: 9 }, (_, index) => `a${index}`),
    ).length,
    3,
  );
});

test("a suggestion is a sentence, or what is said where nothing is near", () => {
  assert.equal(suggestion("regoin", ["region", "season"], "None."), ' The nearest is "region".');
  assert.equal(suggestion("web", ["Web A", "Web B"], "None."), ' The nearest are "Web A" and "Web B".');
  assert.equal(suggestion("xxxxxxxx", ["region"], "None."), " None.");
  assert.equal(suggestion("xxxxxxxx", [], ""), "");
});
