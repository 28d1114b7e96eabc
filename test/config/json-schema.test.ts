import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Ajv } from "ajv";
import { packagePath } from "../../src/common/package-root.ts";
import { type ConfigSpec, configSpec, fileSpec } from "../../src/config/config-spec.ts";
import { expectedOf, schemaOf } from "../../src/config/form-faults.ts";
import { readConfigSpec } from "../../src/config/read-spec.ts";
import { fleetFileSpec, readFleetSpec } from "../../src/fleet/fleet-spec.ts";
import { FILE_SCHEMAS } from "./file-schemas.ts";

/** With UPDATE_DOCS=1 they are written instead. */
test("the JSON Schemas are made from the settings as they are read", async () => {
  for (const [name, text] of Object.entries(FILE_SCHEMAS)) {
    const file = packagePath(name);
    if (process.env.UPDATE_DOCS === "1") await writeFile(file, text);
    assert.equal(await readFile(file, "utf8"), text, "run this test with UPDATE_DOCS=1");
  }
});

test("the package has each schema and exports it, where `$schema` of a file names it", async () => {
  const { resolve } = createRequire(import.meta.url);
  const { files } = JSON.parse(await readFile(packagePath("package.json"), "utf8"));
  for (const name of Object.keys(FILE_SCHEMAS)) {
    assert.equal(resolve(`content-warehouse/${name}`), packagePath(name));
    assert.ok(files.includes(name), name);
  }
});

test("the schemas describe every setting that JSON can have", () => {
  const { onFinish: _notInJson, ...settings } = configSpec.shape;
  const { items } = schemaOf(fleetFileSpec.shape.instances.options[0]);
  const described = [
    [JSON.parse(FILE_SCHEMAS["config.schema.json"]), settings],
    [JSON.parse(FILE_SCHEMAS["fleet.schema.json"]), fleetFileSpec.shape],
  ] as const;
  for (const [{ properties }, shape] of described) {
    assert.deepEqual(Object.keys(properties), Object.keys(shape));
    assertDescribed(properties);
  }
  assert.ok(typeof items === "object" && !Array.isArray(items));
  assertDescribed(items.properties ?? {});
});

function assertDescribed(properties: NonNullable<Schema["properties"]>): void {
  assert.ok(Object.keys(properties).length > 0);
  for (const [setting, schema] of Object.entries(properties)) {
    assert.ok(typeof schema === "object");
    assert.match(schema.description ?? "", /^.{20,}\.$/, setting);
  }
}

type Schema = ReturnType<typeof schemaOf>;

/** What is told of a setting that is wrong, and of all within. */
function expectations(schema: Schema): string[] {
  const { items, properties = {}, additionalProperties, anyOf, oneOf = anyOf ?? [] } = schema;
  const ofForms = oneOf.flatMap((form) => [form.items, ...Object.values(form.properties ?? {})]);
  const within = [items, additionalProperties, ...Object.values(properties), ...ofForms].flat();
  const schemas = within.flatMap((each) => (typeof each === "object" ? [each] : []));
  return [expectedOf(schema), ...schemas.flatMap(expectations)];
}

test("every setting of a configuration and of a fleet declares what is expected of it", () => {
  for (const spec of [fileSpec, fleetFileSpec]) {
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

const NORTH = { name: "north", url: "https://north.example.com", tokenEnv: "NORTH_TOKEN" };
const GOOD_FLEETS: readonly object[] = [
  { instances: [NORTH] },
  { $schema: "./node_modules/content-warehouse/fleet.schema.json", instances: [NORTH] },
  { instances: [{ ...NORTH, schedule: "0 2 * * *", memoryMb: 448 }], hostRatePerSecond: null, retries: 0 },
];
const WRONG_FLEETS: readonly object[] = [
  {},
  { instances: [] },
  { instances: [NORTH], retrys: 3 },
  { instances: [{ ...NORTH, name: "North" }] },
  { instances: [{ ...NORTH, memoryMb: 100 }] },
  { instances: [{ ...NORTH, token: "x" }] },
  { instances: { table: "a; DROP TABLE b" } },
];

test("an editor and the program agree on what is right and what is wrong", () => {
  const files = [
    ["config.schema.json", readConfigSpec, GOOD, WRONG],
    ["fleet.schema.json", readFleetSpec, GOOD_FLEETS, WRONG_FLEETS],
  ] as const;
  for (const [name, read, good, wrong] of files) {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(FILE_SCHEMAS[name]));
    for (const [specs, right] of [[good, true] as const, [wrong, false] as const]) {
      for (const spec of specs) {
        assert.equal(validate(spec), right, `editor: ${JSON.stringify(spec)}`);
        assert.equal("settings" in read(spec), right, `program: ${JSON.stringify(spec)}`);
      }
    }
  }
});

test("an editor takes a table in the place of the instances", () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(FILE_SCHEMAS["fleet.schema.json"]));
  assert.ok(validate({ instances: { table: "public.fleet_instances" }, postgres: "postgres:///fleet" }));
});
