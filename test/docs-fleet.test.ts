/** docs/fleet.md: its fleet file is one, its schedulers do what the exit codes of docs/operations.md say. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { EXIT_CODES } from "../src/cli/exit-codes.ts";
import { packagePath } from "../src/common/package-root.ts";
import { readFleet } from "../src/fleet/fleet.ts";
import { fleetSpec } from "../src/fleet/fleet-spec.ts";
import { type AfterExit, afterExit } from "../src/fleet/outcome.ts";

const PAGE = packagePath("docs/fleet.md");
const OPERATIONS = packagePath("docs/operations.md");

async function blocks(language: string): Promise<string[]> {
  const page = await readFile(PAGE, "utf8");
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, text = ""]) => text,
  );
}

test("the fleet file on the page is one, and the page has a row for each setting", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  t.after(() => rm(folder, { recursive: true }));
  const [example = ""] = await blocks("json");
  await writeFile(join(folder, "fleet.json"), example);
  const { instances } = await readFleet(folder, "fleet.json");
  assert.deepEqual(
    instances.map(({ name }) => name),
    ["north", "south", "east", "west", "centre"],
  );
  const page = await readFile(PAGE, "utf8");
  const { instances: list, ...fleet } = fleetSpec.shape;
  const settings = [...Object.keys(fleet), ...Object.keys(list.unwrap().element.shape)];
  for (const name of settings) assert.match(page, new RegExp(`^\\| (\`\\w+\`, )?\`${name}\`[ ,]`, "m"), name);
});

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

/** With UPDATE_DOCS=1 it is written into the page instead. */
test("docs/operations.md says what comes after each exit code", async () => {
  const rows = EXIT_CODES.map(([code, short]) => `| ${code} | ${afterExit(code)} | ${short} |\n`);
  const table = `| Code | Then | Meaning |\n|---|---|---|\n${rows.join("")}\n`;
  const page = await readFile(OPERATIONS, "utf8");
  if (process.env.UPDATE_DOCS === "1")
    await writeFile(
      OPERATIONS,
      page.replace(TABLE, () => table),
    );
  else assert.equal(TABLE.exec(page)?.[0], table, "run this test with UPDATE_DOCS=1");
});
