/** Writes rows as JSON, CSV or Markdown, as they come. */
import { csvCell, printableText, spreadsheetText } from "../common/printable.ts";

/** Length of the texts that are written at once, in characters. */
const WRITE_LENGTH = 1024 * 1024;

/** Texts of rows that come some at a time, joined to about a megabyte each, so that there are few writes. */
export async function* rowTexts<Row>(
  chunks: AsyncIterable<Iterable<Row>>,
  text: (row: Row) => string,
): AsyncIterable<string> {
  for await (const rows of chunks) {
    let joined = "";
    for (const row of rows) {
      joined += text(row);
      if (joined.length < WRITE_LENGTH) continue;
      yield joined;
      joined = "";
    }
    if (joined !== "") yield joined;
  }
}

/** A JSON array with one object a line. */
export async function* jsonArray<Row>(
  chunks: AsyncIterable<Iterable<Row>>,
  object: (row: Row) => string,
): AsyncIterable<string> {
  let before = "[\n";
  yield* rowTexts(chunks, (row) => {
    const text = before + object(row);
    before = ",\n";
    return text;
  });
  yield before === "[\n" ? "[]" : "\n]";
}

const NEGATIVE_NUMBER = /^-\d[\d.]*(?:e[+-]?\d+)?$/;

/**
 * `spreadsheet`: texts that a spreadsheet takes for formulas get an apostrophe in front, and the file begins with
 * U+FEFF, without which Excel assumes an old code page. `toScreen`: control characters are left out.
 */
export async function* csvTexts<Row>(
  chunks: AsyncIterable<Iterable<Row>>,
  names: readonly string[],
  cells: (row: Row) => readonly (string | null)[],
  { spreadsheet, toScreen }: { readonly spreadsheet: boolean; readonly toScreen: boolean },
): AsyncIterable<string> {
  const guarded = (text: string | null) =>
    text === null || NEGATIVE_NUMBER.test(text) ? text : spreadsheetText(text);
  const line = (texts: readonly (string | null)[]) => {
    const text = csvRow(spreadsheet ? texts.map(guarded) : texts);
    return toScreen ? printableText(text) : text;
  };
  if (spreadsheet && !toScreen) yield "\uFEFF";
  yield line(names);
  yield* rowTexts(chunks, (row) => line(cells(row)));
}

/**
 * A row that ends with LF. NULL is an empty cell, the empty text is `""`. A row of one NULL is `""` too, because many
 * readers skip blank lines.
 */
function csvRow(cells: readonly (string | null)[]): string {
  if (cells.length === 1 && cells[0] === null) return '""\n';
  return `${cells.map((cell) => (cell === null ? "" : cell === "" ? '""' : csvCell(cell))).join(",")}\n`;
}

/** A row of a Markdown table; the cells are Markdown. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}
