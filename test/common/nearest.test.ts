import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest, nearestSentence } from "../../src/common/nearest.ts";

test("the nearest names come first, three at most, and none that is far", () => {
  const names = ["Web CMS", "Web Shop", "Print Archive", "Partner Portal"];
  assert.deepEqual(nearest("web csm", names), ["Web CMS"]);
  assert.deepEqual(nearest("web", names), ["Web CMS", "Web Shop"]);
  assert.deepEqual(nearest("Archive", names), ["Print Archive"]);
  assert.deepEqual(nearest("Nordix", ["D", "no", "nordic", "Nordics"]), ["nordic", "Nordics"]);
  assert.deepEqual(nearest("kitten", ["mitten", "sitting", "sitting in"]), ["mitten", "sitting"]);
  assert.deepEqual(nearest("naïve", ["native", "nave", "naive"]), ["nave", "naive", "native"]);
  assert.deepEqual(nearest("abcd", ["dcba", "abdc"]), ["abdc"]);
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
  assert.equal(nearestSentence("regoin", ["region", "season"], "None."), ' The nearest is "region".');
  assert.equal(
    nearestSentence("region", ["region\u001b[2J\u202e"], "None."),
    ' The nearest is "region [2J".',
  );
  assert.equal(nearestSentence("web", ["Web A", "Web B"], "None."), ' The nearest are "Web A" and "Web B".');
  assert.equal(nearestSentence("xxxxxxxx", ["region"], "None."), " None.");
  assert.equal(nearestSentence("xxxxxxxx", [], ""), "");
});
