import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { constantColumns, layOutTable } from "../../src/show/table.ts";
import { displayWidth, wrapText, writeAll } from "../../src/show/terminal.ts";
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
  const { head, row, foot, leftOut } = layOutTable(table, width);
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

test("no number and no name that is typed again is cut; what does not fit is left out, and that is said", () => {
  const columns = [
    { name: "run", align: "left", whole: true },
    { name: "text", align: "left" },
    { name: "bytes", align: "right" },
  ] as const;
  const table = { columns, rows: [["000001-20261120T020000Z", "so long that it is cut", "1,234,567,890"]] };
  const cut = drawTable(table, 60);
  assert.match(cut, /│ 000001-20261120T020000Z │ so long that … │ 1,234,567,890 │\n└.*┘\n$/);
  const short = drawTable(table, 45);
  assert.match(short, /│ 000001-20261120T020000Z │ so long that i… │\n/);
  assert.match(short, /\nleft out: bytes; widen the terminal or pipe\nthe output\n$/);
  const [run, text, bytes] = columns;
  const dispensable = { columns: [run, { ...text, dispensable: 1 }, bytes], rows: table.rows };
  assert.match(
    drawTable(dispensable, 50),
    /│ 000001-20261120T020000Z │ 1,234,567,890 │\n.*\nleft out: text; /,
  );
});

test("an instant and a figure stay where texts go, and a name breaks within rather than be cut", () => {
  const text = (name: string) => ({ name, align: "left", wraps: true }) as const;
  const columns = [
    text("field"),
    { ...text("why"), dispensable: 1 },
    { ...text("since"), kept: true },
    { name: "no payload change", align: "right", wraps: true, kept: true },
    text("other"),
  ] as const;
  const table = {
    columns,
    rows: [["no_value_mapping", "its ID", "2026-11-20 02:00", "1,234", "x".repeat(9)]],
  };
  assert.equal(
    drawTable(table, 48),
    `┌───────────┬───────────┬─────────┬───────────┐
│ field     │ since     │      no │ other     │
│           │           │ payload │           │
│           │           │  change │           │
├───────────┼───────────┼─────────┼───────────┤
│ no_value_ │ 2026-11-  │   1,234 │ xxxxxxxxx │
│ mapping   │ 20 02:00  │         │           │
└───────────┴───────────┴─────────┴───────────┘
left out: why; widen the terminal or pipe the
output
`,
  );
  assert.match(drawTable(table, 32), /│ since +│ +no │\n/);
  assert.deepEqual(constantColumns({ columns, rows: [...table.rows, ...table.rows] }, 50), [0, 1]);
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
