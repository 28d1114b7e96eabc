/** Rows of an answer as JSON, CSV or Markdown, written as they come. */
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
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import { csvRow } from "../common/csv.ts";
import { jsonAsItIs, jsonText, printableText, spreadsheetText } from "../common/printable.ts";

export type Rows = Iterable<readonly DuckDBValue[]>;

export interface RowStream {
  readonly names: readonly string[];
  /** Of the columns; undefined: none of them is JSON. */
  readonly types?: readonly DuckDBType[] | undefined;
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

/** Writes a row as an object of its cells by the names of the columns. */
export const objectOf =
  ({ names, types }: Pick<RowStream, "names" | "types">): RowText =>
  (row) =>
    jsonObject(names.map((name, index) => [name, row[index] ?? null, types?.[index]]));

/** An array of objects, one per line. */
export async function* jsonArray(rows: RowStream): AsyncIterable<string> {
  const object = objectOf(rows);
  let before = "[\n";
  yield* rowTexts(rows.chunks, (row) => {
    const text = before + object(row);
    before = ",\n";
    return text;
  });
  yield before === "[\n" ? "[]" : "\n]";
}

export function jsonLines(rows: RowStream): AsyncIterable<string> {
  const object = objectOf(rows);
  return rowTexts(rows.chunks, (row) => `${object(row)}\n`);
}

export interface CsvOptions {
  /** Texts that a spreadsheet would take for formulas get an apostrophe in front; the file begins with U+FEFF. */
  readonly spreadsheet: boolean;
  readonly toScreen: boolean;
}

export async function* csvTexts({ names, chunks }: RowStream, options: CsvOptions): AsyncIterable<string> {
  // Excel takes a file without it for one of an old code page.
  if (options.spreadsheet && !options.toScreen) yield "\uFEFF";
  yield csvLine(names, options);
  yield* rowTexts(chunks, (row) => csvLine(row, options));
}

/** A line with its end. On a screen, control characters are left out. */
function csvLine(row: readonly DuckDBValue[], { spreadsheet, toScreen }: CsvOptions): string {
  const line = csvRow(row.map((value) => (value === null ? null : csvText(value, spreadsheet))));
  return toScreen ? printableText(line) : line;
}

/** Numbers are never formulas. */
function csvText(value: DuckDBValue, spreadsheet: boolean): string {
  const text = cellText(value);
  return spreadsheet && !isNumber(value) ? spreadsheetText(text) : text;
}

function isNumber(value: DuckDBValue): boolean {
  return typeof value === "number" || typeof value === "bigint" || value instanceof DuckDBDecimalValue;
}

/** A line of a table, with its end; the cells are Markdown. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

/** A value as text: numbers exact, instants in ISO 8601, lists and structures as JSON. Null is the empty text. */
export function cellText(value: DuckDBValue): string {
  if (value === null) return "";
  if (value instanceof DuckDBTimestampTZValue) return instant(value.micros, "Z") ?? String(value);
  if (value instanceof DuckDBTimestampValue) return instant(value.micros, "") ?? String(value);
  if (value instanceof DuckDBDateValue) return value.isFinite ? String(value) : infinite(value.days);
  if (value instanceof DuckDBTimestampSecondsValue) return plainInstant(value, value.seconds);
  if (value instanceof DuckDBTimestampMillisecondsValue) return plainInstant(value, value.millis);
  if (value instanceof DuckDBTimestampNanosecondsValue) return plainInstant(value, value.nanos);
  return nestedJson(value) ?? String(value);
}

/**
 * A value as JSON text; JSON is written as it is. Numbers of any size are written digit by digit, what JSON has no number
 * for (NaN, infinity) as text. Characters that could steer a terminal are escaped. `type`: undefined where it is not JSON.
 */
function cellJson(value: DuckDBValue, type?: DuckDBType): string {
  if (typeof value === "string" && type?.alias === "JSON") return jsonAsItIs(value) ?? jsonText(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? JSON.stringify(value) : jsonText(String(value));
  if (typeof value === "bigint" || value instanceof DuckDBDecimalValue) return String(value);
  return nestedJson(value, type) ?? jsonText(cellText(value));
}

/** JSON of a value that has values within; undefined of any other. */
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

/** An object of values by name, in their order. */
function jsonObject(
  entries: readonly (readonly [name: string, value: DuckDBValue, type?: DuckDBType | undefined])[],
): string {
  return `{${entries.map(([name, value, type]) => `${jsonText(name)}:${cellJson(value, type)}`).join(",")}}`;
}

function plainInstant(value: { readonly isFinite: boolean }, sign: bigint): string {
  return value.isFinite ? String(value).replace(" ", "T") : infinite(sign);
}

const MICROS = 1_000_000n;
const LAST_MICROS = 8_640_000_000_000_000_000n;

/** `2026-03-01T09:30:12.123456Z`; undefined for years that ISO 8601 has no form for. */
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
