import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { EXIT_CODES } from "../src/cli/exit-codes.ts";
import { packagePath } from "../src/common/package-root.ts";
import { VERSION } from "../src/common/version.ts";

const PAGE = packagePath("docs/operations.md");

/** Exit codes after which a run is started again, and those after which it is not; the others are of signals. */
function codesOf(isRetried: boolean): number[] {
  return EXIT_CODES.flatMap(([code, then]) =>
    code !== 0 && code < 128 && (then === "retry") === isRetried ? [code] : [],
  );
}

const TABLE = /(?<=<!-- exit codes -->\n\n)[\s\S]*?(?=<!-- end of the exit codes -->)/;

/** With UPDATE_DOCS=1 the table is written instead. */
test("the page says what comes after each exit code", async () => {
  const rows = EXIT_CODES.map(([code, then, short]) => `| ${code} | ${then} | ${short} |\n`);
  const table = `| Code | Then | Meaning |\n|---|---|---|\n${rows.join("")}\n`;
  const page = await readFile(PAGE, "utf8");
  if (process.env.UPDATE_DOCS === "1") await writeFile(PAGE, page.replace(TABLE, table));
  else assert.equal(TABLE.exec(page)?.[0], table, "run this test with UPDATE_DOCS=1");
});

test("cron, systemd and Kubernetes try again after the exit codes that may pass, and after no others", async () => {
  const page = await readFile(PAGE, "utf8");
  const codes = (pattern: RegExp) =>
    [...page.matchAll(pattern)].map(([, list = ""]) => list.split(/[^0-9]+/).map(Number));
  assert.deepEqual(codes(/case \$code in ([\d|]+)\) sleep/g), [codesOf(true)]);
  assert.deepEqual(codes(/RestartPreventExitStatus=([\d ]+)$/gm), [codesOf(false)]);
  // The job of a night, and that of many instances.
  assert.deepEqual(codes(/operator: In, values: \[([\d, ]+)\]/g), [codesOf(false), codesOf(false)]);
  assert.ok(page.includes(`image: content-warehouse:${VERSION}\n`));
});

test("every scheduler on the page runs the same command at two", async () => {
  const page = await readFile(PAGE, "utf8");
  const [, section = ""] = page.split("\n## Every night\n");
  const blocks = [...(section.split("\n## ")[0] ?? "").matchAll(/```(\w*)\n([\s\S]*?)```/g)];
  const schedules = blocks.map(([, , text = ""]) => text).filter((text) => text.includes("--config"));
  assert.equal(schedules.length, 6);
  for (const text of schedules) {
    const words = text.replace(/["',[\]]/g, " ").replace(/\s+/g, " ");
    assert.match(
      words,
      /run nightly --config (?:CONFIG|\/(?:srv\/content-warehouse|config)\/content-warehouse\.config\.json)/,
    );
  }
  assert.equal(section.split("\n## ")[0]?.match(/0 2 \* \* \*|02:00/g)?.length, 6);
});

test("the schedulers of many instances try again what the exit codes say, and their shell lines are right", async () => {
  const [, section = ""] = (await readFile(PAGE, "utf8")).split("\n## Many instances\n");
  const [many = ""] = section.split("\n## ");
  const blocks = (language: string) =>
    [...many.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
      ([, text = ""]) => text,
    );
  const [python = ""] = blocks("python");
  const codes = (then: string) => EXIT_CODES.flatMap((each) => (each[1] === then ? [each[0]] : []));
  for (const [name, then] of [
    ["DONE", "done"],
    ["RETRY", "retry"],
  ] as const) {
    const [, list = ""] = new RegExp(`${name} = \\{(.*)\\}`).exec(python) ?? [];
    assert.deepEqual(list.split(", ").map(Number), codes(then), name);
  }
  const scripts = [...blocks("sh"), /(?<=- \|\n)(?: {14}.*\n)+/.exec(blocks("yaml")[0] ?? "")?.[0] ?? ""];
  assert.equal(scripts.length, 3);
  for (const input of scripts) {
    assert.match(input, /content-warehouse run nightly /);
    const { status, stderr } = spawnSync("sh", ["-n"], { input, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }
});
