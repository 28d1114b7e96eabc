import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Answer, col, section } from "../../src/common/answer.ts";
import { type AnswerFlags, answerText, showAnswer } from "../../src/show/answer.ts";
import type { TerminalEnvironment } from "../../src/show/terminal.ts";
import { readRows } from "../../src/storage/typed-rows.ts";

const COLUMNS = {
  item_id: col.name({ required: true }),
  item: col.text({ shown: (row) => row.item ?? row.item_id }),
  values: col.count({ required: true }),
  size: col.bytes(),
  elapsed: col.milliseconds(),
  sent: col.list(),
  since: col.instant({ head: "so since" }),
  isOld: col.flag({ required: true }),
} as const;

// @ts-expect-error: an option of a column is spelled as it is declared
col.count({ required: true, chrat: "length" });

const SQL = `
  SELECT * FROM (VALUES
    ('a', '=one', 1234, 5000::BIGINT, 1500::DOUBLE, ['x', 'y,z'], '2026-11-20 02:00:00+00'::TIMESTAMPTZ, true),
    ('b', NULL, 0, NULL, NULL, NULL, NULL, NULL)
  ) AS v(item_id, item, "values", size, elapsed, sent, since, is_old)`;

const connection = await (await DuckDBInstance.create(":memory:")).connect();

async function drawn(
  form: Partial<AnswerFlags>,
  { env = {}, ...terminal }: Partial<TerminalEnvironment["out"] & Pick<TerminalEnvironment, "env">> = {},
): Promise<string> {
  const rows = await readRows(connection, COLUMNS, SQL);
  const sections = [
    section({
      key: "items",
      title: "Items",
      columns: COLUMNS,
      shows: ["item", "values", "size", "elapsed", "sent", "since"],
      rows,
    }),
    section({ key: "none", title: "Others", columns: { item: col.text() }, rows: [] }),
  ];
  const answer: Answer = { lead: "Two items.", facts: { run: "r1" }, sections, next: ["Run again."] };
  const out = Object.assign(new PassThrough(), terminal);
  const written = buffer(out);
  await showAnswer({ out, env }, answer, { format: "table", ...form });
  out.end();
  return String(await written);
}

test("an answer is a leading sentence, tables, and what to do next", async () => {
  assert.equal(
    await drawn({}),
    `Two items.

Items
┌──────┬────────┬──────┬─────────┬──────────┬──────────────────┐
│ item │ values │ size │ elapsed │ sent     │ so since         │
├──────┼────────┼──────┼─────────┼──────────┼──────────────────┤
│ =one │  1,234 │ 5 kB │   1.5 s │ x, "y,z" │ 2026-11-20 02:00 │
│ b    │      0 │      │         │          │                  │
└──────┴────────┴──────┴─────────┴──────────┴──────────────────┘

Others: none

Run again.
`,
  );
});

test("what does not fit becomes records, without empty lines; a pipe is as wide as COLUMNS", async () => {
  const records = `Items
  item      =one
  values    1,234
  size      5 kB
  elapsed   1.5 s
  sent      x, "y,z"
  so since  2026-11-20 02:00

  item      b
  values    0
`;
  assert.ok((await drawn({}, { columns: 60 })).includes(records));
  assert.ok((await drawn({}, { env: { COLUMNS: "60" } })).includes(records));
  assert.ok((await drawn({}, { env: { COLUMNS: "70" } })).includes("│ item │"));
});

test("rows stand under the text of the first column, in tables of equal widths", async () => {
  const columns = { site: col.text(), field: col.text(), status: col.text() };
  const rows = [
    { site: "Web CMS", field: "region", status: "mapped" },
    { site: "Portal", field: "season", status: "unmapped" },
    { site: "Web CMS", field: "x", status: "mapped" },
  ];
  const sections = [section({ key: "values", title: "Values", columns, rows, isGrouped: true })];
  const draw = async (isTTY: boolean) => {
    const out = Object.assign(new PassThrough(), { columns: 60, isTTY });
    const written = buffer(out);
    await showAnswer({ out, env: {} }, { lead: "", facts: {}, sections }, { format: "table" });
    out.end();
    return String(await written);
  };
  const plain = `Values
Web CMS
┌────────┬──────────┐
│ field  │ status   │
├────────┼──────────┤
│ region │ mapped   │
│ x      │ mapped   │
└────────┴──────────┘
Portal
┌────────┬──────────┐
│ field  │ status   │
├────────┼──────────┤
│ season │ unmapped │
└────────┴──────────┘
`;
  assert.equal(await draw(false), plain);
  const coloured = await draw(true);
  assert.ok(
    coloured.includes("\u001b[32mmapped\u001b[39m") && coloured.includes("\u001b[33munmapped"),
    coloured,
  );
  assert.equal(stripVTControlCharacters(coloured), plain);
});

test("lines keep all of a long text, below names that leave no room beside them", async () => {
  const columns = { site: col.text(), sent: col.list() };
  const rows = [{ site: "A site", sent: Array.from({ length: 40 }, (_, index) => `value-${index}`) }];
  for (const site of ["A site", "A site with a name that is longer than the screen has room"]) {
    const lines = rows.map((row) => ({ ...row, site }));
    const sections = [section({ key: "sent", title: "Sent", columns, rows: lines, isLines: true })];
    const text = answerText({ lead: "", facts: {}, sections }, { width: 60, isColoured: false });
    assert.match(text.replaceAll(/\s+/g, " "), /value-0, value-1, .* value-39 $/);
    for (const line of text.split("\n")) assert.ok(line.length <= Math.max(60, site.length + 2), line);
  }
});

test("JSON and CSV have every column, exact", async () => {
  const { items, ...rest } = JSON.parse(await drawn({ format: "json" }));
  assert.deepEqual(rest, { run: "r1", lead: "Two items.", next: ["Run again."], none: [] });
  assert.deepEqual(items, [
    {
      ...{ item_id: "a", item: "=one", values: 1234, size: 5000, elapsed: 1500 },
      ...{ sent: ["x", "y,z"], since: "2026-11-20T02:00:00Z", isOld: true },
    },
    { item_id: "b", item: null, values: 0, size: null, elapsed: null, sent: null, since: null, isOld: false },
  ]);
  assert.equal(
    await drawn({ format: "csv", spreadsheet: true }),
    '\uFEFFitem_id,item,values,size,elapsed,sent,since,isOld\na,\'=one,1234,5000,1500,"[""x"",""y,z""]",2026-11-20T02:00:00Z,true\nb,,0,,,,,false\n',
  );
});

test("Markdown has the tables under headings", async () => {
  const markdown = await drawn({ format: "markdown" });
  assert.match(markdown, /^Two items\.\n\n## Items\n\n\| item \| values \| .*\n\| --- \| ---: \| /);
  assert.match(markdown, /\n\n## Others\n\nnone\n\nRun again\.\n$/);
});

test("rows are read by their declaration alone: a column that is not there, or of another kind, is a fault", async () => {
  const faults = [
    [{ nothing: col.text() }, /the query has no column nothing/],
    [{ values: col.text() }, /values is no text: 1234/],
    [{ item: col.text({ required: true }) }, /item is empty/],
    [{ item_id: col.text({ of: ["a"] }) }, /item_id is no text: b/],
  ] as const;
  for (const [columns, message] of faults) await assert.rejects(readRows(connection, columns, SQL), message);
});

test("a misspelled column does not compile", () => {
  const columns = { item: col.text() };
  // @ts-expect-error the rows have another column
  section({ key: "k", title: "t", columns, rows: [{ itme: "a" }] });
  // @ts-expect-error a count is no text
  section({ key: "k", title: "t", columns, rows: [{ item: 1 }] });
  // @ts-expect-error no such column to show
  section({ key: "k", title: "t", columns, shows: ["itme"], rows: [] });
});
