import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeTree } from "../src/run/tree.ts";

const ROOT = new URL("..", import.meta.url);
const PAGE = new URL("docs/audit.md", ROOT);
const QUESTIONS = /```(sh|sql)\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

const folder = await mkdtemp(join(tmpdir(), "content-warehouse-audit-page-"));
const out = join(folder, "warehouse");
after(() => removeTree(folder));

function command(...args: string[]): string {
  const program = join(ROOT.pathname, "src/cli/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, "--out", out], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** The answer without what differs from run to run. */
function masked(text: string): string {
  return text
    .replace(/\b\d{6}-\d{8}T\d{6}Z/g, "000001-20261120T020000Z")
    .replace(/answered \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "answered 2026-11-20 02:00:00 UTC")
    .replace(/SHA-256 [0-9a-f]{64}/g, "SHA-256 ...");
}

function answer(language: string, question: string): string {
  if (language === "sql") return command("sql", question);
  const words = question.trim().match(/"[^"]*"|\S+/g) ?? [];
  const [name, ...args] = words.map((word) => word.replace(/^"(.*)"$/, "$1"));
  assert.equal(name, "content-warehouse");
  return masked(command(...args));
}

/** With UPDATE_README=1 the answers are written into the page instead. */
test("the auditor's questions have the answers that the sample gives", async () => {
  command("run", "nightly", "--sample");
  const mapping = join(folder, "mapping.csv");
  command("audit", "--export-mapping", mapping);
  await writeFile(
    mapping,
    (await readFile(mapping, "utf8")).replaceAll(",T1 North\r\n", ",T9 Far North\r\n"),
  );
  const page = await readFile(PAGE, "utf8");
  const answered = page.replace(
    QUESTIONS,
    (_, language: string, question: string) =>
      `\`\`\`${language}\n${question}\`\`\`\n\n\`\`\`text\n${answer(language, question)}\`\`\``,
  );
  if (process.env.UPDATE_README === "1") await writeFile(PAGE, answered);
  else assert.equal(page, answered);
  assert.ok([...page.matchAll(QUESTIONS)].length >= 10);
});
