import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearest, nearestSentence } from "../../src/common/nearest.ts";

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

test("names that look the same come first, and what nobody sees is said", () => {
  const cases = [
    ["contact\u200b", "contact", "U+200B at the end of yours"],
    ["\ufeffcontact", "contact", "U+FEFF at the beginning of yours"],
    ["contact", "contact  ", "U+0020 U+0020 at the end of that one"],
    ["Web\u00a0Shop", "Web Shop", "U+0020 at character 4 of that one, where yours has U+00A0"],
    ["cafe\u0301s", "caf\u00e9s", "U+00E9 at character 4 of that one, where yours has U+0065 U+0301"],
  ] as const;
  for (const [wanted, name, difference] of cases) {
    const hidden = `they differ only in what is not visible: ${difference}`;
    const sentence = nearestSentence(wanted, ["contacts", "Web Shops", "cafés 2", name], "None.");
    assert.equal(sentence, ` The nearest is ${JSON.stringify(name.trim())}; ${hidden}.`);
    assert.equal(didYouMean(wanted, [name]), ` (did you mean ${JSON.stringify(name.trim())}? ${hidden})`);
  }
  assert.equal(nearestSentence("Contact", ["contact"], ""), ' The nearest is "contact".');
});
