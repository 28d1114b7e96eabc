import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { checkSteps, HISTORY_STEPS } from "../../src/load/history-steps.ts";
import { historyDiagram } from "../history-diagram.ts";

test("what a step of the history reads is what its SQL names", () => {
  const read = new Map(HISTORY_STEPS.map(({ name, reads }) => [name, reads.toSorted()]));
  assert.deepEqual(read.get("history_pairs"), ["custom_fields", "history_before", "history_now"]);
  assert.deepEqual(read.get("mapping_value_history"), [
    "custom_field_mapping_values",
    "custom_fields",
    "previous_mapping_history",
    "previous_mapping_value_history",
  ]);
});

test("a list in which a step reads a table before it is made cannot be loaded", () => {
  const at = HISTORY_STEPS.findIndex(({ name }) => name === "history_pairs");
  const early = [...HISTORY_STEPS.slice(at, at + 1), ...HISTORY_STEPS.filter((_, index) => index !== at)];
  assert.throws(() => checkSteps(early), {
    message: "The step history_pairs of the history reads history_before before it is made.",
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
