/** What a person who types a command gets: each one of the README, and wrong ones. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { either } from "../long.ts";
import { callAll } from "./calls.ts";
import { argumentsOf, UNANSWERED, WRONG_CALLS } from "./wrong-calls.ts";

/** The working directory: `warehouse` in it has a run of the sample. */
const cwd = dirname(await sampleWarehouse());
await writeFile(join(cwd, "a-file"), "");
const MAPPING_COLUMNS =
  "custom_field_id,destination_id,mapping_id,external_field_name,mapping_value_id,value_id";
await writeFile(join(cwd, "mapping.csv"), `${MAPPING_COLUMNS},external_value\n`);

/** What the README's examples stand for, here. */
const HERE: readonly (readonly [there: RegExp, here: string])[] = [
  [/^content-warehouse run nightly$/, "content-warehouse run nightly --sample"],
  [/^npx /, ""],
  [/ --limit 20$/, " --limit 20 --sample"],
  [/\b41\b/, either("1", "2")],
];
/**
 * Commands that need what is not here: a service that is no sample, a person or a client that speaks to them. The short
 * form makes no second run, which `diff` needs.
 */
const ELSEWHERE = either(
  /^(?:npm|mkdir|content-warehouse (?:serve|init|check|run|diff)\b)/,
  /^(?:npm|mkdir|content-warehouse (?:serve|init|check)\b)/,
);

async function commandsOfReadme(): Promise<string[]> {
  const readme = await readFile(packagePath("README.md"), "utf8");
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)];
  const lines = blocks.flatMap(([, block = ""]) => block.trim().split("\n"));
  const commands = lines.map((line) =>
    HERE.reduce((text, [there, here]) => text.replace(there, here), line.replace(/\s+#.*/, "")),
  );
  return [...new Set(commands)].filter(
    (command) => command.startsWith("content-warehouse ") && !ELSEWHERE.test(command),
  );
}

/** Words of a command, with double quotes around those that have blanks. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

/** A query that begins with a comment. */
const COMMENTED = ["sql", "-- top = all\nSELECT 1 AS one", "--format", "csv"];
const PLAIN = ["audit", "current", "--format", "json", "--field=region", "--value", "Nordics"];
/** The same with blanks and ends of lines, as they are pasted. */
const PASTED = [
  PLAIN.map((each) => ` ${each}\r\n`),
  ["audit", "--format= json\r", "--field=\tregion", "--value=Nordics\r"],
];

const commands = await commandsOfReadme();
const outcomes = await callAll(
  [
    ...[...WRONG_CALLS, ...UNANSWERED].map(argumentsOf),
    COMMENTED,
    PLAIN,
    ...PASTED,
    ...commands.map((command) => wordsOf(command).slice(1)),
  ],
  { cwd, env: { CONTENT_API_TOKEN: "token" } },
);

for (const [title, calls, exitCode] of [
  ["a wrong argument gets one sentence and exit code 2", WRONG_CALLS, 2],
  ["K1: a question about what does not exist gets one sentence and exit code 3", UNANSWERED, 3],
] as const)
  suite(title, () => {
    for (const call of calls) {
      const { code, stdout, stderr } = outcomes.shift() ?? assert.fail();
      test(argumentsOf(call).join(" "), () => {
        assert.deepEqual([code, stdout], [exitCode, ""], stderr);
        assert.match(stderr, /^[^\n]+[.?]\n$/);
        assert.doesNotMatch(stderr, /^(?:error|\w*Error): /);
        assert.ok(stderr.toLowerCase().includes(call[1].toLowerCase()), `${stderr}has no ${call[1]}`);
      });
    }
  });

const commented = outcomes.shift();

test("a query may begin with a comment", () => {
  assert.deepEqual(commented, { code: 0, stdout: "one\n1\n", stderr: "" });
});

const [plain, ...pasted] = outcomes.splice(0, 1 + PASTED.length);

test("blanks and ends of lines around arguments are no part of them", () => {
  assert.equal(plain?.code, 0, plain?.stderr);
  for (const each of pasted) assert.deepEqual(each, plain);
});

test("each command of the README does what it says, in the order of the page", () => {
  assert.ok(commands.length >= 8, commands.join("\n"));
  for (const [index, command] of commands.entries()) {
    const { code, stdout, stderr } = outcomes[index] ?? assert.fail();
    assert.equal(code, 0, `${command}: ${stderr}`);
    assert.notEqual(stdout + stderr, "", command);
    assert.doesNotMatch(stdout + stderr, /^ +at /m, command);
  }
});
