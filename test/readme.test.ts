import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeTree } from "../src/run/tree.ts";

const ROOT = new URL("..", import.meta.url);
const QUESTIONS = /```sql\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

const out = await mkdtemp(join(tmpdir(), "content-warehouse-readme-"));
after(async () => removeTree(out));

function command(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ["src/cli/main.ts", ...args, "--out", out], {
    cwd: ROOT,
    encoding: "utf8",
  });
}

/** With UPDATE_README=1 the answers are written into the page instead. */
test("the README's questions have the answers that the sample gives", async () => {
  const run = command("run", "nightly", "--sample");
  assert.equal(run.status, 0, run.stderr);
  const page = await readFile(new URL("README.md", ROOT), "utf8");
  const questions = [...page.matchAll(QUESTIONS)];
  assert.equal(questions.length, 5);
  const answer = (sql: string): string => {
    const asked = command("sql", sql);
    assert.equal(asked.status, 0, asked.stderr);
    return asked.stdout;
  };
  if (process.env.UPDATE_README === "1") {
    const updated = page.replace(
      QUESTIONS,
      (_block, sql) => `\`\`\`sql\n${sql}\`\`\`\n\n\`\`\`text\n${answer(sql)}\`\`\``,
    );
    await writeFile(new URL("README.md", ROOT), updated);
  } else {
    for (const [, sql = "", expected] of questions) assert.equal(answer(sql), expected, sql);
  }
});
