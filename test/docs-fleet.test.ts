/** docs/fleet.md: its fleet file is one, its schedulers do what the exit codes of docs/operations.md say. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { z } from "zod";
import { EXIT_CODES } from "../src/cli/exit-codes.ts";
import { packagePath } from "../src/common/package-root.ts";
import { schemaOf } from "../src/config/form-faults.ts";
import { readFleet } from "../src/fleet/fleet.ts";
import { fleetFileSpec } from "../src/fleet/fleet-spec.ts";
import { type AfterExit, afterExit } from "../src/fleet/outcome.ts";

const PAGE = packagePath("docs/fleet.md");
const OPERATIONS = packagePath("docs/operations.md");

async function blocks(language: string): Promise<string[]> {
  const page = await readFile(PAGE, "utf8");
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, text = ""]) => text,
  );
}

test("the fleet file on the page is one", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  t.after(() => rm(folder, { recursive: true }));
  const [example = ""] = await blocks("json");
  await writeFile(join(folder, "fleet.json"), example);
  const { instances } = await readFleet(folder, "fleet.json");
  assert.deepEqual(
    instances.map(({ name }) => name),
    ["north", "south", "east", "west", "centre"],
  );
});

const SETTINGS = /(?<=<!-- settings -->\n\n)[\s\S]*?(?=<!-- end of the settings -->)/;

test("the page has what the declaration says of each setting", async () => {
  const { instances } = fleetFileSpec.shape;
  const { items } = schemaOf(instances.options[0]);
  assert.ok(typeof items === "object" && !Array.isArray(items));
  const tables = [
    tableOfSettings("Setting of an instance", items),
    tableOfSettings("Setting of the fleet", schemaOf(fleetFileSpec.omit({ $schema: true }))),
  ];
  await assertSection(PAGE, SETTINGS, tables.join(""));
});

function tableOfSettings(title: string, { properties = {}, required = [] }: z.core.JSONSchema.BaseSchema) {
  const rows = Object.entries(properties).map(([name, setting]) => {
    assert.ok(typeof setting === "object");
    const { default: value, description } = setting;
    const otherwise = value === undefined ? "" : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | ${required.includes(name) ? "required" : otherwise} | ${description} |\n`;
  });
  return `| ${title} | Default | Meaning |\n|---|---|---|\n${rows.join("")}\n`;
}

/** With UPDATE_DOCS=1 it is written into the page instead. */
async function assertSection(file: string, section: RegExp, text: string): Promise<void> {
  const page = await readFile(file, "utf8");
  if (process.env.UPDATE_DOCS === "1")
    await writeFile(
      file,
      page.replace(section, () => text),
    );
  else assert.equal(section.exec(page)?.[0], text, "run this test with UPDATE_DOCS=1");
}

const CODES = EXIT_CODES.map(([code]) => code);

function codesOf(after: AfterExit): number[] {
  return CODES.filter((code) => afterExit(code) === after);
}

function numbersIn(text: string, list: RegExp): number[] {
  const [, numbers = ""] = list.exec(text) ?? [];
  return numbers.split(",").map(Number);
}

test("the schedulers on the page run the command, and try again what the exit codes say", async () => {
  const [yaml = ""] = await blocks("yaml");
  assert.match(yaml, /content-warehouse run --instance "\$name" --fleet \/fleet\/fleet\.json\n/);
  assert.deepEqual(numbersIn(yaml, /values: \[(.*)\]/), codesOf("stop"));
  const [python = ""] = await blocks("python");
  assert.match(python, /"content-warehouse", "run", "--instance", instance, "--fleet", FLEET\]/);
  assert.deepEqual(numbersIn(python, /DONE = \{(.*)\}/), codesOf("done"));
  assert.deepEqual(numbersIn(python, /RETRY = \{(.*)\}/), codesOf("retry"));
  for (const script of await blocks("sh")) {
    const { status, stderr } = spawnSync("sh", ["-n"], { input: script, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }
});

const TABLE = /(?<=<!-- exit codes -->\n\n)[\s\S]*?(?=<!-- end of the exit codes -->)/;

test("docs/operations.md says what comes after each exit code", async () => {
  const rows = EXIT_CODES.map(([code, short]) => `| ${code} | ${afterExit(code)} | ${short} |\n`);
  await assertSection(OPERATIONS, TABLE, `| Code | Then | Meaning |\n|---|---|---|\n${rows.join("")}\n`);
});
