/** The questions of docs/questions.md, by the lines of that page: the same answers in DuckDB, Python and Spark. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { capture } from "../cli/capture.ts";
import { questionsIn } from "../questions.ts";
import { pythonWith, READERS, SPARK, sparkArguments } from "./python.ts";

const warehouse = await sampleWarehouse();
const page = await readFile(packagePath("docs/questions.md"), "utf8");
const questions = questionsIn(page);

/** The lines that open the warehouse; the last one of a block asks something. */
const [ofDuckdb = "", ofSpark = ""] = [...page.matchAll(/```python\n([\s\S]*?)[^\n]*\n```/g)].map(
  ([, lines = ""]) => lines.replaceAll("/srv/warehouse", warehouse),
);

type Answers = readonly (readonly (readonly unknown[])[])[];

/** JSON columns are texts outside of our commands. */
async function expected(): Promise<Answers> {
  const answers: unknown[][][] = [];
  for (const sql of questions) {
    const answer = await capture(sqlCommand, [sql, "--format", "json", "--warehouse", warehouse]);
    const rows: object[] = JSON.parse(answer);
    answers.push(
      rows.map((row) =>
        Object.values(row).map((value) => (value instanceof Object ? JSON.stringify(value) : value)),
      ),
    );
  }
  return answers;
}

/** On a machine in Vancouver: the lines of the page say what makes it UTC. */
async function answersOf(python: string, opening: string): Promise<Answers> {
  const child = spawn(python, [packagePath("test/engines/questions.py")], {
    env: {
      ...process.env,
      TZ: "America/Vancouver",
      ...sparkArguments(),
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(JSON.stringify([opening, questions]));
  const [answers, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.notEqual(answers, "", said);
  return JSON.parse(answers);
}

suite("the twenty questions have the answers of the command", async () => {
  const wanted = expected();
  for (const [name, packages, opening] of [
    ["Python", READERS, ofDuckdb],
    ["Spark", SPARK, ofSpark],
  ] as const)
    test(`in ${name}`, async () => {
      const [answers, answersWanted] = [await answersOf(await pythonWith(packages), opening), await wanted];
      assert.equal(answersWanted.length, 20);
      for (const [place, sql] of questions.entries()) {
        assert.notEqual(answersWanted[place]?.length, 0, sql);
        assert.deepEqual(answers[place], answersWanted[place], sql);
      }
    });
});
