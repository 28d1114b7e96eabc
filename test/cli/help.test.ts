import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapHelp } from "../../src/cli/help.ts";

test("a paragraph that is too wide is broken anew, a command goes on after a backslash, a list under its term", () => {
  const wide = `Examples:
  $ content-warehouse sql "FROM content_wide LIMIT 10" --format csv --warehouse /srv/warehouse
  short  ${"word ".repeat(18).trim()}

One sentence that is ${"very ".repeat(14)}wide.
And another.
`;
  assert.equal(
    wrapHelp(wide),
    `Examples:
  $ content-warehouse sql "FROM content_wide LIMIT 10" --format csv \\
    --warehouse /srv/warehouse
  short  word word word word word word word word word word word word word word
         word word word word

One sentence that is very very very very very very very very very very very very
very very wide. And another.
`,
  );
});

test("what fits stays as it is", () => {
  const text = "A line.\nAnother.\n\n  $ command\n  term  text\n";
  assert.equal(wrapHelp(text), text);
});
