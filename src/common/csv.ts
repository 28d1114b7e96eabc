/** First characters that make a spreadsheet take a text for a formula, in their usual and their full-width form. */
export const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/**
 * A row in CSV by RFC 4180, ended by LF. NULL is an empty cell, the empty text `""`; so is NULL as the only cell,
 * because many readers skip a blank line.
 */
export function csvRow(cells: readonly (string | null)[]): string {
  if (cells.length === 1 && cells[0] === null) return '""\n';
  return `${cells.map((cell) => (cell === null ? "" : cell === "" ? '""' : csvCell(cell))).join(",")}\n`;
}

/** A text, in quotes where it needs them. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
