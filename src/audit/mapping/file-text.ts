/** The text of a CSV file as people's programs write it, with the place of each cell. */
import { isUtf8 } from "node:buffer";
import { WarehouseError } from "../../common/errors.ts";

/** Line and column from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function invalidAt({ file, line, column }: Place, problem: string): WarehouseError {
  return new WarehouseError("config.invalid", `${file}, line ${line}, column ${column}: ${problem}`);
}

/** `offset`: of its first character in the text. */
interface TextCell {
  readonly value: string;
  readonly offset: number;
}

/** All that throws is `config.invalid`, with file, line and column. */
export class FileText {
  readonly #file: string;
  readonly #text: string;

  /** Throws for bytes that are not UTF-8. */
  constructor(bytes: Uint8Array, file: string) {
    this.#file = file;
    this.#text = new TextDecoder().decode(bytes);
    if (isUtf8(bytes)) return;
    const problem = 'this is not UTF-8; save the file as "CSV UTF-8".';
    throw this.invalid(this.#text.indexOf("\uFFFD"), problem);
  }

  get isEmpty(): boolean {
    return this.#text.trim() === "";
  }

  place(offset: number): Place {
    const lines = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { file: this.#file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  }

  invalid(offset: number, problem: string): WarehouseError {
    return invalidAt(this.place(offset), problem);
  }

  /**
   * Rows of cells, empty lines left out. Lines end with LF, CRLF or CR; cells may be quoted, and quotes in them doubled.
   * The separator is the first of comma, semicolon and tab that the first line has outside of quotes.
   */
  csv(): TextCell[][] {
    const text = this.#text;
    const [first = ""] = text.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
    const separator = [",", ";", "\t"].find((each) => first.includes(each)) ?? ",";
    const quoted = '"(?<quoted>[^"]*(?:""[^"]*)*)(?<closing>"?)';
    const plain = `(?<plain>[^${separator}\\r\\n]*)`;
    const cell = new RegExp(`(?:${quoted}|${plain})(?<end>${separator}|\\r\\n|\\r|\\n|)`, "y");
    const rows: TextCell[][] = [];
    let row: TextCell[] = [];
    let end: string | undefined;
    do {
      const offset = cell.lastIndex;
      const found = cell.exec(text)?.groups ?? {};
      end = found.end;
      if (found.closing === "") throw this.invalid(offset, "the quote that opens here is never closed.");
      if (end === "" && cell.lastIndex < text.length) {
        const problem = "there is text after a closing quote; a quote inside a cell is written twice.";
        throw this.invalid(cell.lastIndex, problem);
      }
      row.push({ value: found.quoted?.replaceAll('""', '"') ?? found.plain ?? "", offset });
      if (end === separator) continue;
      rows.push(row);
      row = [];
    } while (end === separator || cell.lastIndex < text.length);
    return rows.filter((cells) => cells.length > 1 || cells[0]?.value !== "");
  }
}
