import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { checkSteps, HISTORY_STEPS } from "../../src/load/history-steps.ts";
import { historyDiagram } from "../history-diagram.ts";

/** Tables that a query reads; names of its own common table expressions are none. */
function tablesIn(sql: string): string[] {
  const code = sql.replace(/--.*/g, "");
  const own = new Set([...code.matchAll(/(\w+) AS (?:NOT MATERIALIZED )?\(/g)].map(([, name = ""]) => name));
  const named = [...code.matchAll(/(?<!DISTINCT )\b(?:FROM|JOIN)\s+"?(\w+)/g)].map(([, name = ""]) => name);
  return [...new Set(named)].filter((name) => !own.has(name)).sort();
}

test("each step of the history states the tables that its SQL reads", () => {
  for (const { name, reads, sql } of HISTORY_STEPS) {
    // The mapping steps in it run by definitions as they were.
    const among = name === "history_effects" ? reads.filter((table) => sql.includes(table)) : reads;
    assert.deepEqual([...new Set(among)].sort(), tablesIn(sql), name);
  }
});

test("a list in which a step reads a table before it is made cannot be loaded", () => {
  const at = HISTORY_STEPS.findIndex(({ name }) => name === "history_pairs");
  const early = [...HISTORY_STEPS.slice(at, at + 1), ...HISTORY_STEPS.filter((_, index) => index !== at)];
  assert.throws(() => checkSteps(early), {
    message: "The step history_pairs of the history reads history_now before it is made.",
  });
});

const DIAGRAM = /(?<=<!-- written by .* -->\n)[\s\S]*?(?=<!-- end of the steps -->)/;

/** With UPDATE_DOCS=1 it is written into the page instead. */
test("docs/history.md has the diagram of the steps", async () => {
  const file = new URL("../../docs/history.md", import.meta.url);
  const page = await readFile(file, "utf8");
  const expected = `\n${historyDiagram()}\n\n`;
  if (process.env.UPDATE_DOCS === "1")
    await writeFile(
      file,
      page.replace(DIAGRAM, () => expected),
    );
  else
    assert.equal(
      DIAGRAM.exec(page)?.[0],
      expected,
      "UPDATE_DOCS=1 npm test -- test/load/history-steps.test.ts",
    );
});
