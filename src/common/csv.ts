/** Writes CSV by RFC 4180. */
/** Matches texts that a spreadsheet reads as a formula, by their first character, full-width forms included. */
export const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/**
 * A row that ends with LF. NULL is an empty cell, the empty text is `""`. A row of one NULL is `""` too, because many
 * readers skip blank lines.
 */
export function csvRow(cells: readonly (string | null)[]): string {
  if (cells.length === 1 && cells[0] === null) return '""\n';
  return `${cells.map((cell) => (cell === null ? "" : cell === "" ? '""' : csvCell(cell))).join(",")}\n`;
}

/** A cell, in quotes if necessary. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
