import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Ajv } from "ajv";
import { packagePath } from "../../src/common/package-root.ts";
import { type ConfigSpec, configSpec } from "../../src/config/config-spec.ts";
import { readSettings } from "../../src/config/read-spec.ts";
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
  const { properties } = JSON.parse(TEXT) as {
    properties: Record<string, { readonly description?: string }>;
  };
  assert.deepEqual(Object.keys(properties), Object.keys(settings));
  for (const [setting, { description }] of Object.entries(properties))
    assert.match(description ?? "", /^.{20,}\.$/, setting);
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
      const read = () => readSettings("c.json", spec, undefined, () => () => null);
      if (right) read();
      else assert.throws(read, { code: "config.invalid" }, JSON.stringify(spec));
    }
  }
});
