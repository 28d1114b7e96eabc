/** Writes rows as JSON, CSV or Markdown, as they come. */

import {
  DuckDBArrayValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import { csvCell, jsonAsItIs, jsonText, printableText, spreadsheetText } from "../common/printable.ts";

/** Rows of DuckDB values, some at a time. */
export type RowChunk = Iterable<readonly DuckDBValue[]>;

export interface RowStream {
  readonly names: readonly string[];
  /** Types of the columns; undefined if none is JSON. */
  readonly types?: readonly DuckDBType[] | undefined;
  readonly chunks: AsyncIterable<RowChunk>;
}

/** Length of the texts that are written at once, in characters. */
export const WRITE_LENGTH = 1024 * 1024;

/** Joins texts to about a megabyte each, so that there are few writes. */
export function* joinTexts(texts: Iterable<string>): Iterable<string> {
  let joined = "";
  for (const text of texts) {
    joined += text;
    if (joined.length < WRITE_LENGTH) continue;
    yield joined;
    joined = "";
  }
  if (joined !== "") yield joined;
}

export async function* rowTexts(
  chunks: AsyncIterable<RowChunk>,
  text: (row: readonly DuckDBValue[]) => string,
): AsyncIterable<string> {
  const texts = function* (rows: RowChunk): Iterable<string> {
    for (const row of rows) yield text(row);
  };
  for await (const rows of chunks) yield* joinTexts(texts(rows));
}

/** Writes each row as a JSON object; `write` completes its text. */
function objectTexts({ names, types, chunks }: RowStream, write: (object: string) => string) {
  return rowTexts(chunks, (row) =>
    write(jsonObject(names.map((name, index) => [name, row[index] ?? null, types?.[index]]))),
  );
}

/** A JSON array with one object a line. */
export async function* jsonArray(rows: RowStream): AsyncIterable<string> {
  let before = "[\n";
  yield* objectTexts(rows, (object) => {
    const text = before + object;
    before = ",\n";
    return text;
  });
  yield before === "[\n" ? "[]" : "\n]";
}

export function jsonLines(rows: RowStream): AsyncIterable<string> {
  return objectTexts(rows, (object) => `${object}\n`);
}

/**
 * `spreadsheet`: texts that a spreadsheet takes for formulas get an apostrophe in front, and the file begins with
 * U+FEFF, without which Excel assumes an old code page. `toScreen`: control characters are left out.
 */
export async function* csvTexts(
  { names, chunks }: RowStream,
  { spreadsheet, toScreen }: { readonly spreadsheet: boolean; readonly toScreen: boolean },
): AsyncIterable<string> {
  const cell = (value: DuckDBValue) => {
    if (value === null) return null;
    return spreadsheet && !isNumber(value) ? spreadsheetText(cellText(value)) : cellText(value);
  };
  const line = (row: readonly DuckDBValue[]) => {
    const text = csvRow(row.map(cell));
    return toScreen ? printableText(text) : text;
  };
  if (spreadsheet && !toScreen) yield "\uFEFF";
  yield line(names);
  yield* rowTexts(chunks, line);
}

/**
 * A row that ends with LF. NULL is an empty cell, the empty text is `""`. A row of one NULL is `""` too, because many
 * readers skip blank lines.
 */
function csvRow(cells: readonly (string | null)[]): string {
  if (cells.length === 1 && cells[0] === null) return '""\n';
  return `${cells.map((cell) => (cell === null ? "" : cell === "" ? '""' : csvCell(cell))).join(",")}\n`;
}

function isNumber(value: DuckDBValue): boolean {
  return typeof value === "number" || typeof value === "bigint" || value instanceof DuckDBDecimalValue;
}

/** A row of a Markdown table; the cells are Markdown. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

/** A value as text: numbers exact, instants in ISO 8601, lists and structures as JSON, null empty. */
export function cellText(value: DuckDBValue): string {
  if (value === null) return "";
  if (value instanceof DuckDBTimestampTZValue) return instant(value.micros, "Z") ?? String(value);
  if (value instanceof DuckDBTimestampValue) return instant(value.micros, "") ?? String(value);
  if (value instanceof DuckDBDateValue) return value.isFinite ? String(value) : infinite(value.days);
  return nestedJson(value) ?? String(value);
}

/**
 * A value as JSON. Numbers are exact, NaN and infinity are strings, values of the type JSON stay as they are, and
 * characters that steer a terminal are escaped. `type` may be undefined if it is not JSON.
 */
function cellJson(value: DuckDBValue, type?: DuckDBType): string {
  if (typeof value === "string" && type?.alias === "JSON") return jsonAsItIs(value) ?? jsonText(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? JSON.stringify(value) : jsonText(String(value));
  if (typeof value === "bigint" || value instanceof DuckDBDecimalValue) return String(value);
  return nestedJson(value, type) ?? jsonText(cellText(value));
}

/** JSON of a value that contains values; undefined for others. */
function nestedJson(value: DuckDBValue, type?: DuckDBType): string | undefined {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const of = type instanceof DuckDBListType ? type.valueType : undefined;
    return `[${value.items.map((item) => cellJson(item, of)).join(",")}]`;
  }
  if (value instanceof DuckDBStructValue) {
    const of = type instanceof DuckDBStructType ? type.entryTypes : [];
    return jsonObject(Object.entries(value.entries).map(([name, cell], index) => [name, cell, of[index]]));
  }
  if (value instanceof DuckDBMapValue) {
    const of = type instanceof DuckDBMapType ? type.valueType : undefined;
    const entries = value.entries.map(({ key, value: cell }) =>
      jsonObject([
        ["key", key],
        ["value", cell, of],
      ]),
    );
    return `[${entries.join(",")}]`;
  }
  if (value instanceof DuckDBUnionValue) return jsonObject([[value.tag, value.value]]);
  return value instanceof DuckDBVariantValue ? cellJson(value.value) : undefined;
}

function jsonObject(
  entries: readonly (readonly [name: string, value: DuckDBValue, type?: DuckDBType | undefined])[],
): string {
  return `{${entries.map(([name, value, type]) => `${jsonText(name)}:${cellJson(value, type)}`).join(",")}}`;
}

const MICROS = 1_000_000n;
const LAST_MICROS = 8_640_000_000_000_000_000n;

/** `2026-03-01T09:30:12.123456Z`; undefined for years outside ISO 8601. */
function instant(micros: bigint, zone: string): string | undefined {
  if (micros > LAST_MICROS || micros < -LAST_MICROS) {
    const isInfinite =
      micros === DuckDBTimestampValue.PosInf.micros || micros === DuckDBTimestampValue.NegInf.micros;
    return isInfinite ? infinite(micros) : undefined;
  }
  const fraction = ((micros % MICROS) + MICROS) % MICROS;
  const seconds = (micros - fraction) / MICROS;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -".000Z".length);
  const digits = String(fraction).padStart(6, "0").replace(/0+$/, "");
  return `${whole}${digits === "" ? "" : `.${digits}`}${zone}`;
}

function infinite(sign: bigint | number): string {
  return sign > 0 ? "infinity" : "-infinity";
}
