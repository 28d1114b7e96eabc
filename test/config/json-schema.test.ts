/** The JSON Schema of a configuration file, and what editors make of it. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Ajv } from "ajv";
import { packagePath } from "../../src/common/package-root.ts";
import { type ConfigSpec, configSpec } from "../../src/config/config-spec.ts";
import { readSettings } from "../../src/config/read-spec.ts";
import { configSchema, settingsTable } from "./file-schemas.ts";

const FILE = "config.schema.json";
const TEXT = configSchema();
const PAGE = packagePath("docs/configuration.md");
const TABLE = /(?<=<!-- written by .*json-schema.test.ts -->\n)[\s\S]*?(?=<!-- end of the settings -->)/;

test("the JSON Schema and the table of the page are made from the settings; UPDATE_DOCS=1 writes them", async () => {
  const page = await readFile(PAGE, "utf8");
  const table = `\n${settingsTable()}\n`;
  if (process.env.UPDATE_DOCS === "1") {
    await writeFile(packagePath(FILE), TEXT);
    await writeFile(
      PAGE,
      page.replace(TABLE, () => table),
    );
    return;
  }
  assert.equal(await readFile(packagePath(FILE), "utf8"), TEXT);
  assert.equal(TABLE.exec(page)?.[0], table);
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
    extraColumns: ["editor_rating"],
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
