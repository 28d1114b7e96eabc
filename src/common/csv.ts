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

/** Control characters but tab and ends of lines, and what turns the direction of a text around. */
const STEERING = /(?![\t\r\n])[\p{Cc}\p{Bidi_Control}]/gu;

/** A text that no spreadsheet runs and no terminal obeys: `'` before a formula, `[U+001B]` for a control character. */
export function safeText(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return guarded.replace(STEERING, (character) => {
    return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
