import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapHelp } from "../../src/cli/help.ts";

test("a list goes on under its terms; what fits stays as it is", () => {
  assert.equal(
    wrapHelp(`A line.\n  $ command\n  short  ${"word ".repeat(18).trim()}\n`),
    `A line.
  $ command
  short  word word word word word word word word word word word word word word
         word word word word
`,
  );
});
