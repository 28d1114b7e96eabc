import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { drawTables, layOutTable } from "../../src/show/table.ts";
import { displayWidth, widthOf, wrapText, writeAll } from "../../src/show/terminal.ts";
import fc from "../properties.ts";

test("a text is as wide as a terminal shows it", () => {
  const widths: Record<string, number> = {
    "": 0,
    abc: 3,
    ü: 1,
    "u\u0308": 1,
    漢字: 4,
    "😀": 2,
    ｱ: 1,
    Ａ: 2,
    한: 2,
    각: 2,
    "👨‍👩‍👧‍👦": 2,
    "🏳️‍🌈": 2,
    "👍🏽": 2,
    "🇩🇪": 2,
    "🇩🇪🇫🇷": 4,
    "1️⃣": 2,
    "❤️": 2,
    "❤": 1,
    "☺︎": 1,
    क्: 1,
    "a\u200bb": 2,
    "\ufeffa": 1,
  };
  for (const [text, width] of Object.entries(widths)) assert.equal(displayWidth(text), width, text);
});

test("a cut text is never wider than asked, and one that fits is left alone", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }),
      (text, width) => {
        const [cut = ""] = wrapText(text, width, 1);
        assert.ok(displayWidth(cut) <= width);
        assert.equal(cut === text, displayWidth(text) <= width || cut === text);
        if (displayWidth(text) > width) assert.ok(cut.endsWith("…"));
      },
    ),
  );
});

function drawTable(table: Parameters<typeof layOutTable>[0], width: number | undefined): string {
  const { head, row, foot, leftOut } = layOutTable(table, { width });
  return [head, ...table.rows.map(row), foot, leftOut].join("");
}

test("every line of a table has the same width, and fits the screen where a column can", () => {
  const cell = fc.string({ unit: "grapheme", maxLength: 30 });
  fc.assert(
    fc.property(
      fc
        .array(cell, { minLength: 1, maxLength: 8 })
        .chain((names) =>
          fc.tuple(
            fc.constant(names),
            fc.array(fc.array(cell, { minLength: names.length, maxLength: names.length }), { maxLength: 4 }),
          ),
        ),
      fc.option(fc.integer({ min: 20, max: 120 }), { nil: undefined }),
      ([names, rows], width) => {
        const columns = names.map((name) => ({ name, align: "left" as const }));
        const text = drawTable({ columns, rows }, width);
        const lines = text.split("\n").filter((line) => /^[┌│├└]/.test(line));
        const widths = new Set(lines.map(displayWidth));
        assert.equal(widths.size, 1, text);
        if (width === undefined) assert.equal(lines[0]?.split("┬").length, names.length);
        else assert.ok(Math.max(...widths) <= width, text);
      },
    ),
  );
});

const columns = [
  { name: "run", align: "left", whole: true },
  { name: "text", align: "left" },
  { name: "bytes", align: "right" },
] as const;
const ROW = ["000001-20261120T020000Z", "a text of several words", "1,234,567,890"];

test("texts take several lines before a number or a name that is typed again does; the longest gets the room", () => {
  const table = { columns, rows: [ROW] };
  assert.match(
    drawTable(table, 60),
    /│ 000001-20261120T020000Z │ a text of +│ 1,234,567,890 │\n│ +│ several words +│ +│\n/,
  );
  const texts = [
    { name: "field", align: "left" },
    { name: "why", align: "left" },
  ] as const;
  const drawn = drawTable({ columns: texts, rows: [["a region or two", "x ".repeat(50)]] }, 50);
  assert.match(drawn, /\n│ a region or two │ (x ){10,}/);
});

test("a word stays whole while a longer text can take more lines", () => {
  const columns = ["value", "since"].map((name) => ({ name, align: "left" as const }));
  const rows = [
    ["for Schulklassen", "x".repeat(20)],
    ["Papier & Pergament", "the history begins ".repeat(4).trim()],
  ];
  const text = drawTables(columns, new Map([["", rows]]), { width: 36 });
  assert.match(text, /│ (for )?Schulklassen +│/);
  assert.match(text, /│ Papier & +│/);
});

test("a terminal that tells no width takes COLUMNS, or has 120", () => {
  const out = (columns?: number) => Object.assign(new PassThrough(), { isTTY: true, columns });
  assert.equal(widthOf({ env: {}, out: out(80) }), 80);
  for (const columns of [0, undefined]) {
    assert.equal(widthOf({ env: { COLUMNS: "100" }, out: out(columns) }), 100);
    assert.equal(widthOf({ env: {}, out: out(columns) }), 120);
  }
});

test("of more than 20 rows columns are left out from the right, but not the first two, and a line names them", () => {
  const rows = Array.from({ length: 21 }, () => ROW);
  const draw = (width: number) => drawTables(columns, new Map([["", rows]]), { width });
  assert.match(draw(45), /│ 000001-20261120T020000Z │ a text of +│\n/);
  assert.match(draw(45), /\nleft out: bytes; `--format csv` has all\ncolumns\n$/);
  const narrow = draw(30);
  assert.match(narrow, /│ 000001- +│ a text of +│\n│ 20261120T02 │ several +│\n/);
  for (const line of narrow.split("\n")) assert.ok(line.length <= 30, line);
});

test("up to 20 rows are records if a column does not fit, or if a cell would be cut", () => {
  const draw = (row: readonly string[], width: number) =>
    drawTables(columns, new Map([["", [row]]]), { width });
  assert.equal(
    draw(ROW, 45),
    "  run    000001-20261120T020000Z\n  text   a text of several words\n  bytes  1,234,567,890\n",
  );
  const long = ROW.with(1, "word ".repeat(100).trim());
  assert.match(draw(long, 70), /^ {2}run {4}0/);
  assert.equal(draw(long, 70).split("word").length, 101);
});

test("writing waits for a slow reader, and throws what is no closed pipe", async () => {
  const taken: string[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      taken.push(chunk);
      setImmediate(done);
    },
  });
  await writeAll(slow, ["a", "b", "c"]);
  assert.deepEqual(taken.join(""), "abc");
  for (const [code, fails] of [
    ["EPIPE", false],
    ["ENOSPC", true],
  ] as const) {
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
    });
    const writing = writeAll(broken, ["a", "b"]);
    if (fails) await assert.rejects(writing, { code });
    else await writing;
  }
});
