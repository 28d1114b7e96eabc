/** CSV as people's programs write it, with the place of each cell. */

export interface CsvCell {
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** Of its first character in the line, from 1. */
  readonly column: number;
}

export interface CsvProblem {
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

const SEPARATORS = [",", ";", "\t"] as const;

/**
 * Rows of cells, empty lines left out. Lines end with LF, CRLF or CR; cells may be quoted, and quotes in them doubled.
 * The separator is the first of comma, semicolon and tab that the first line has outside of quotes.
 */
export function readCsv(text: string): CsvCell[][] | CsvProblem {
  const separator = separatorOf(text);
  const rows: CsvCell[][] = [];
  const place = { at: 0, line: 1, lineStart: 0 };
  while (place.at < text.length) {
    const row = readRow(text, separator, place);
    if (!Array.isArray(row)) return row;
    if (row.length > 1 || row[0]?.text !== "") rows.push(row);
  }
  return rows;
}

interface Place {
  at: number;
  line: number;
  lineStart: number;
}

function separatorOf(text: string): string {
  const [first = ""] = text.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
  return SEPARATORS.find((separator) => first.includes(separator)) ?? ",";
}

function readRow(text: string, separator: string, place: Place): CsvCell[] | CsvProblem {
  const row: CsvCell[] = [];
  for (;;) {
    const cell = text[place.at] === '"' ? readQuoted(text, place) : readPlain(text, separator, place);
    if ("problem" in cell) return cell;
    row.push(cell);
    const after = text[place.at];
    if (after === separator) {
      place.at += 1;
    } else if (after === undefined || after === "\r" || after === "\n") {
      if (after !== undefined) endLine(text, place);
      return row;
    } else {
      return {
        ...whereIs(place),
        problem: "there is text after a closing quote; a quote inside a cell is written twice",
      };
    }
  }
}

function readPlain(text: string, separator: string, place: Place): CsvCell {
  const start = place.at;
  const where = whereIs(place);
  while (place.at < text.length && !isEnd(text[place.at], separator)) place.at += 1;
  return { text: text.slice(start, place.at), ...where };
}

function isEnd(character: string | undefined, separator: string): boolean {
  return character === separator || character === "\r" || character === "\n";
}

function readQuoted(text: string, place: Place): CsvCell | CsvProblem {
  const where = whereIs(place);
  let content = "";
  place.at += 1;
  while (place.at < text.length) {
    const character = text[place.at] ?? "";
    if (character !== '"') {
      const start = place.at;
      if (character === "\r" || character === "\n") endLine(text, place);
      else place.at += 1;
      content += text.slice(start, place.at);
    } else if (text[place.at + 1] === '"') {
      content += '"';
      place.at += 2;
    } else {
      place.at += 1;
      return { text: content, ...where };
    }
  }
  return { ...where, problem: "the quote that opens here is never closed" };
}

function endLine(text: string, place: Place): void {
  place.at += text.startsWith("\r\n", place.at) ? 2 : 1;
  place.line += 1;
  place.lineStart = place.at;
}

function whereIs({ at, line, lineStart }: Place): { line: number; column: number } {
  return { line, column: at - lineStart + 1 };
}
