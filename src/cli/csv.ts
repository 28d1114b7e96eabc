/** First characters that make a spreadsheet take a text for a formula, in their usual and their full-width form. */
const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/** A row in CSV as RFC 4180 has it, with its end. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text that no spreadsheet runs: one that looks like a formula gets an apostrophe in front. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
