/** Rows of an answer as JSON, CSV or Markdown, written as they come. */
import { DuckDBDecimalValue, type DuckDBValue } from "@duckdb/node-api";
import { csvRow, safeText } from "../../common/csv.ts";
import type { Row } from "../../storage/duckdb.ts";
import { cellText, jsonObject } from "./cells.ts";
import { printableLine, printableText } from "./terminal.ts";

export type Rows = Iterable<readonly DuckDBValue[]>;

export interface RowStream {
  readonly names: readonly string[];
  /** Some rows at a time. */
  readonly chunks: AsyncIterable<Rows>;
}

/** Characters that are written at once, roughly. */
export const PIECE = 1024 * 1024;

/** Texts put together, so that there are few writes, and none is longer than a text may be. */
export function* pieces(texts: Iterable<string>): Iterable<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

type RowText = (row: readonly DuckDBValue[]) => string;

export async function* rowTexts(chunks: AsyncIterable<Rows>, text: RowText): AsyncIterable<string> {
  const texts = function* (rows: Rows): Iterable<string> {
    for (const row of rows) yield text(row);
  };
  for await (const rows of chunks) yield* pieces(texts(rows));
}

const objectOf =
  (names: readonly string[]): RowText =>
  (row) =>
    jsonObject(names.map((name, index) => [name, row[index] ?? null]));

/** An array of objects, one per line. */
export async function* jsonArray({ names, chunks }: RowStream): AsyncIterable<string> {
  const object = objectOf(names);
  let before = "[\n";
  yield* rowTexts(chunks, (row) => {
    const text = before + object(row);
    before = ",\n";
    return text;
  });
  yield before === "[\n" ? "[]" : "\n]";
}

export function jsonLines({ names, chunks }: RowStream): AsyncIterable<string> {
  const object = objectOf(names);
  return rowTexts(chunks, (row) => `${object(row)}\n`);
}

/** An array of objects, of rows that are all there; `names`: the columns to take, all unless given. */
export function jsonRows(rows: readonly Row[], names?: readonly string[]): string {
  if (rows.length === 0) return "[]";
  const entries = (row: Row) =>
    names?.map((name) => [name, row[name] ?? null] as const) ?? Object.entries(row);
  return `[\n${rows.map((row) => jsonObject(entries(row))).join(",\n")}\n]`;
}

export interface CsvOptions {
  /** Texts that a spreadsheet would take for formulas get an apostrophe in front. */
  readonly spreadsheet: boolean;
  readonly toScreen: boolean;
}

export async function* csvTexts({ names, chunks }: RowStream, options: CsvOptions): AsyncIterable<string> {
  yield csvLine(names, options);
  yield* rowTexts(chunks, (row) => csvLine(row, options));
}

/** A line with its end. On a screen, control characters are left out. */
export function csvLine(row: readonly DuckDBValue[], { spreadsheet, toScreen }: CsvOptions): string {
  const line = csvRow(row.map((value) => (value === null ? null : csvText(value, spreadsheet))));
  return toScreen ? printableText(line) : line;
}

/** Numbers are never formulas. */
function csvText(value: DuckDBValue, spreadsheet: boolean): string {
  const text = cellText(value);
  return spreadsheet && !isNumber(value) ? safeText(text) : text;
}

function isNumber(value: DuckDBValue): boolean {
  return typeof value === "number" || typeof value === "bigint" || value instanceof DuckDBDecimalValue;
}

/** Text of foreign origin with its markup escaped. */
export function markdownText(text: string): string {
  return printableLine(text)
    .replace(/[\\`*_{}[\]|~#!]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** A line of a table, with its end; the cells are Markdown. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}
