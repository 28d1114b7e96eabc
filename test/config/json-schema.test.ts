import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Ajv } from "ajv";
import { packagePath } from "../../src/common/package-root.ts";
import { type ConfigSpec, configSpec, fileSpec } from "../../src/config/config-spec.ts";
import { expectedOf, schemaOf } from "../../src/config/form-faults.ts";
import { readConfigSpec } from "../../src/config/read-spec.ts";
import { fleetSpec } from "../../src/fleet/fleet-spec.ts";
import { configJsonSchema } from "./config-json-schema.ts";

const FILE = packagePath("config.schema.json");

/** With UPDATE_DOCS=1 the file is written instead. */
test("config.schema.json is made from the settings as they are read", async () => {
  if (process.env.UPDATE_DOCS === "1") await writeFile(FILE, configJsonSchema());
  assert.equal(await readFile(FILE, "utf8"), configJsonSchema(), "run this test with UPDATE_DOCS=1");
});

test("the package exports the schema, where `$schema` of a file names it", () => {
  const { resolve } = createRequire(import.meta.url);
  assert.equal(resolve("content-warehouse/config.schema.json"), FILE);
});

const schema: { readonly properties: Readonly<Record<string, { readonly description?: string }>> } =
  JSON.parse(configJsonSchema());

test("the schema describes every setting that JSON can have", () => {
  const settings = Object.keys(configSpec.shape).filter((name) => name !== "onFinish");
  assert.deepEqual(Object.keys(schema.properties), settings);
  for (const [setting, { description }] of Object.entries(schema.properties))
    assert.match(description ?? "", /^.{20,}\.$/, setting);
});

type Schema = ReturnType<typeof schemaOf>;

/** What is told of a setting that is wrong, and of all within. */
function expectations(schema: Schema): string[] {
  const { items, properties = {}, additionalProperties, anyOf, oneOf = anyOf ?? [] } = schema;
  const objects = oneOf.flatMap((form) => Object.values(form.properties ?? {}));
  const within = [items, additionalProperties, ...Object.values(properties), ...objects].flat();
  const schemas = within.flatMap((each) => (typeof each === "object" ? [each] : []));
  return [expectedOf(schema), ...schemas.flatMap(expectations)];
}

test("every setting of a configuration and of a fleet declares what is expected of it", () => {
  for (const spec of [fileSpec, fleetSpec]) {
    const told = expectations(schemaOf(spec));
    assert.ok(told.length > 20);
    for (const expected of told) assert.match(expected, /^[\w"{'][^\n]+[^.]$/);
  }
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
  const validate = new Ajv({ strict: false }).compile(schema);
  for (const [specs, right] of [[GOOD, true] as const, [WRONG, false] as const]) {
    for (const spec of specs) {
      assert.equal(validate(spec), right, `editor: ${JSON.stringify(spec)}`);
      assert.equal("settings" in readConfigSpec(spec), right, `program: ${JSON.stringify(spec)}`);
    }
  }
});
