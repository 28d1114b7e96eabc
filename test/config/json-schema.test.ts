import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Ajv } from "ajv";
import { packagePath } from "../../src/common/package-root.ts";
import { type ConfigSpec, configSpec, fileSpec } from "../../src/config/config-spec.ts";
import { expectedOf, schemaOf } from "../../src/config/form-faults.ts";
import { readConfigSpec } from "../../src/config/read-spec.ts";
import { configSchema } from "./file-schemas.ts";

const FILE = "config.schema.json";
const TEXT = configSchema();

/** With UPDATE_DOCS=1 it is written instead. */
test("the JSON Schema is made from the settings as they are read", async () => {
  const file = packagePath(FILE);
  if (process.env.UPDATE_DOCS === "1") await writeFile(file, TEXT);
  assert.equal(await readFile(file, "utf8"), TEXT, "run this test with UPDATE_DOCS=1");
});

test("the package has the schema and exports it, where `$schema` of a file names it", async () => {
  const { resolve } = createRequire(import.meta.url);
  const { files } = JSON.parse(await readFile(packagePath("package.json"), "utf8"));
  assert.equal(resolve(`content-warehouse/${FILE}`), packagePath(FILE));
  assert.ok(files.includes(FILE));
});

test("the schema describes every setting that JSON can have", () => {
  const { onFinish: _notInJson, ...settings } = configSpec.shape;
  const { properties } = JSON.parse(TEXT) as { properties: Record<string, Schema> };
  assert.deepEqual(Object.keys(properties), Object.keys(settings));
  for (const [setting, { description }] of Object.entries(properties))
    assert.match(description ?? "", /^.{20,}\.$/, setting);
});

type Schema = ReturnType<typeof schemaOf>;

/** What is told of a setting that is wrong, and of all within. */
function expectations(schema: Schema): string[] {
  const { items, properties = {}, additionalProperties, anyOf, oneOf = anyOf ?? [] } = schema;
  const ofForms = oneOf.flatMap((form) => [form.items, ...Object.values(form.properties ?? {})]);
  const within = [items, additionalProperties, ...Object.values(properties), ...ofForms].flat();
  const schemas = within.flatMap((each) => (typeof each === "object" ? [each] : []));
  return [expectedOf(schema), ...schemas.flatMap(expectations)];
}

test("every setting of a configuration declares what is expected of it", () => {
  const told = expectations(schemaOf(fileSpec));
  assert.ok(told.length > 20);
  for (const expected of told) assert.match(expected, /^[\w"{'][^\n]+[^.]$/);
});

const GOOD: readonly ConfigSpec[] = [
  {},
  { $schema: "./node_modules/content-warehouse/config.schema.json", perPage: 50 },
  {
    destinations: [{ name: "Website" }, { name: "Shop", platform: "Mail" }],
    personalData: { policy: "keep" },
    personalFields: ["owner_team"],
    ignoreDestinations: ["Shop:Mail", "20ff76a286238f962af5b190"],
  },
  { perPage: "auto", ratePerSecond: null, maxRejects: "0.5%", aliases: { a: "b" }, columns: ["id"] },
];
const WRONG: readonly object[] = [
  { perpage: 5 },
  { perPage: 0 },
  { perPage: "50" },
  { destinations: ["Website"] },
  { maxRejects: "101%" },
  { personalData: "all" },
  { personalFields: "owner_team" },
  { ignoreDestinations: [""] },
  { token: "x" },
];

test("an editor and the program agree on what is right and what is wrong", () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(TEXT));
  for (const [specs, right] of [[GOOD, true] as const, [WRONG, false] as const]) {
    for (const spec of specs) {
      assert.equal(validate(spec), right, `editor: ${JSON.stringify(spec)}`);
      assert.equal("settings" in readConfigSpec(spec), right, `program: ${JSON.stringify(spec)}`);
    }
  }
});
