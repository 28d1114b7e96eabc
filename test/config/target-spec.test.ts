import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readConfigSpec } from "../../src/config/read-spec.ts";

const LAKE = { type: "lake", url: "file:///srv/lake", instance: "north" };
const POSTGRES = { type: "postgres", url: "postgres://loader@db.example.com/reports" };

function problems(...targets: readonly unknown[]): readonly string[] {
  const result = readConfigSpec({ targets });
  return "problems" in result ? result.problems : [];
}

suite("targets in JSON", () => {
  test("that are right have no faults", () => {
    assert.deepEqual(problems(LAKE, POSTGRES), []);
  });

  const cases: Readonly<Record<string, readonly [target: unknown, sentence: string]>> = {
    "of a type that there is not": [
      { ...LAKE, type: "lakes" },
      '`targets[1].type`: expected "lake" or "postgres", found "lakes".',
    ],
    "without a type": [{ url: LAKE.url }, '`targets[1].type`: expected "lake" or "postgres", found nothing.'],
    "with a misspelled setting": [
      { ...LAKE, instnce: "north" },
      "`targets[1].instnce` is not a setting; did you mean `instance`?",
    ],
    "with a setting of the other type": [
      { ...POSTGRES, pathStyle: true },
      "`targets[1].pathStyle` is not a setting; there are type, url, schema, name.",
    ],
    "with credentials": [
      { ...LAKE, secretAccessKey: "s" },
      "`targets[1].secretAccessKey` is not a setting: credentials do not belong in a configuration file; they come from the environment, or from files of their own.",
    ],
    "without an address": [
      { type: "postgres" },
      "`targets[1].url`: expected the address of a store or of a database, found nothing.",
    ],
    "with another address": [
      { ...POSTGRES, url: "https://db.example.com" },
      "`targets[1]`: postgres: url is not an address such as postgres://user@host/database.",
    ],
    "that are none": [
      "lake",
      '`targets[1]`: expected an object such as { type: "lake", url: "s3://bucket/prefix", instance: "main" }, found "lake".',
    ],
  };
  for (const [what, [target, sentence]] of Object.entries(cases)) {
    test(`${what}: one sentence, with the place`, () => {
      assert.deepEqual(problems({ ...LAKE, name: "first" }, target), [sentence]);
    });
  }

  test("two of one name are told", () => {
    assert.deepEqual(problems(LAKE, LAKE), [
      '`targets`: two are called "lake"; give each a `name` of its own.',
    ]);
  });

  test("a lake's instance may come from a variable, and where it does not, the variable is named", () => {
    const { instance: _instance, ...shared } = LAKE;
    assert.deepEqual(problems(shared), [
      "`targets[0]`: lake: instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE.",
    ]);
    assert.ok("settings" in readConfigSpec({ targets: [shared] }, "north"));
    assert.ok("problems" in readConfigSpec({ targets: [shared] }, "No name"));
  });
});
