/** Formats the result of a query row by row. */
import {
  DuckDBArrayValue,
  type DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  type DuckDBResult,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import { pluralize } from "../common/figures.ts";
import { jsonAsItIs, jsonText, markdownText, printableText } from "../common/printable.ts";
import { csvTexts, jsonArray, markdownRow, rowTexts } from "../show/rows.ts";
import { drawTables, layOutTable, type TableLayout, type TextColumn } from "../show/table.ts";

type QueryRow = readonly DuckDBValue[];

/** JSON makes equal column names distinct as DuckDB's client does: `a` and `a:1`. */
export async function* resultTexts(
  result: DuckDBResult,
  {
    format,
    width,
    spreadsheet,
  }: {
    readonly format: "table" | "json" | "jsonl" | "csv" | "markdown";
    /** Width of the screen in characters; `undefined` for files and pipes. */
    readonly width: number | undefined;
    /** Whether texts of CSV are guarded against being read as formulas. */
    readonly spreadsheet: boolean;
  },
): AsyncIterable<string> {
  const rows = rowsOf(result);
  const [names, types] = [result.deduplicatedColumnNames(), result.columnTypes()];
  const object = (row: QueryRow) =>
    jsonObject(names.map((name, index) => [name, row[index] ?? null, types[index]]));
  switch (format) {
    case "table":
      return yield* tableTexts(result, width);
    case "json":
      yield* jsonArray(rows, object);
      return yield "\n";
    case "jsonl":
      return yield* rowTexts(rows, (row) => `${object(row)}\n`);
    case "csv": {
      const cells = (row: QueryRow) => row.map((value) => (value === null ? null : cellText(value)));
      const form = { spreadsheet, toScreen: width !== undefined };
      return yield* csvTexts(rows, result.columnNames(), cells, form);
    }
    case "markdown": {
      const columns = columnsOf(result);
      yield markdownRow(columns.map(({ name }) => markdownText(name)));
      yield markdownRow(columns.map(({ align }) => (align === "right" ? "---:" : "---")));
      yield* rowTexts(rows, (row) => markdownRow(row.map((value) => markdownText(shownText(value)))));
    }
  }
}

/** Cells read between two garbage collections: about ten megabytes. */
const CELLS_PER_COLLECTION = 250_000;

/**
 * Rows in chunks of some thousand. The engine allocates them outside the heap, where V8 does not see hundreds of megabytes
 * of wide rows; so garbage is collected here.
 */
/** A query plan as the engine draws it. */
export function planTexts(result: DuckDBResult): AsyncIterable<string> {
  return rowTexts(rowsOf(result), ([, plan = null]) => printableText(`${cellText(plan)}\n`));
}

async function* rowsOf(result: DuckDBResult): AsyncIterable<Iterable<QueryRow>> {
  let cells = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
    yield rowsIn(chunk);
    cells += chunk.rowCount * result.columnCount;
    chunk = await result.fetchChunk();
    if (cells < CELLS_PER_COLLECTION) continue;
    globalThis.gc?.({ type: "major", execution: "sync" });
    cells = 0;
  }
}

function* rowsIn(chunk: DuckDBDataChunk): Iterable<QueryRow> {
  for (let row = 0; row < chunk.rowCount; row++) yield chunk.getRowValues(row);
}

/** Number of rows shown on a screen. */
const SCREEN_ROWS = 100;
/** Elsewhere column widths follow from the first rows, up to these limits; later rows are written as they come. */
const LAYOUT_ROWS = 1000;
const LAYOUT_CHARACTERS = 8 * 1024 * 1024;

/** A screen gets the first rows and the number of all, files and pipes get all rows with nothing cut. */
async function* tableTexts(result: DuckDBResult, width: number | undefined): AsyncIterable<string> {
  const declared = columnsOf(result);
  const mostFirst = width === undefined ? LAYOUT_ROWS : SCREEN_ROWS;
  const first: string[][] = [];
  let characters = 0;
  let total = 0;
  let layout = undefined as TableLayout | undefined;
  const firstText = () => {
    layout = layOutTable({ columns: withWhole(declared, first), rows: first }, { width, maxLines: 1 });
    return layout.head + first.map(layout.row).join("");
  };
  yield* rowTexts(rowsOf(result), (row) => {
    total += 1;
    if (layout !== undefined) return width === undefined ? layout.row(row.map(shownText)) : "";
    const cells = row.map(shownText);
    first.push(cells);
    characters += cells.join("").length;
    return first.length < mostFirst && characters < LAYOUT_CHARACTERS ? "" : firstText();
  });
  yield layout === undefined
    ? drawTables(withWhole(declared, first), new Map([["", first]]), { width, maxLines: 1 })
    : `${layout.foot}${layout.leftOut}`;
  const size = `${pluralize(total, "row")}, ${pluralize(declared.length, "column")}\n`;
  const isCut = width !== undefined && total > first.length;
  yield isCut ? `${first.length} of ${size}pipe the output or add --out for all rows\n` : size;
}

/** Longest word that is never broken, such as an ID or an instant, in characters. */
const WHOLE_LENGTH = 36;

/** Columns of words keep their width; texts with blanks become narrower. */
function withWhole(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): TextColumn[] {
  return columns.map((column, place) => {
    const isWord = (text = "") => text.length <= WHOLE_LENGTH && !text.includes(" ");
    return { ...column, whole: rows.every((cells) => isWord(cells[place])) };
  });
}

function shownText(value: DuckDBValue): string {
  return value === null ? "NULL" : cellText(value);
}

const NUMBERS = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$|^(?:FLOAT|DOUBLE|DECIMAL|BIGNUM)$/;

function columnsOf(result: DuckDBResult): TextColumn[] {
  return result.columnNames().map((name, index) => {
    const isNumber = NUMBERS.test(DuckDBTypeId[result.columnTypeId(index)] ?? "");
    return { name, align: isNumber ? "right" : "left" };
  });
}

/** A value as text: numbers exact, instants in ISO 8601, lists and structures as JSON, null empty. */
function cellText(value: DuckDBValue): string {
  if (value === null) return "";
  if (value instanceof DuckDBTimestampTZValue)
    return String(new DuckDBTimestampValue(value.micros)).replace(ISO_INSTANT, "$1T$2Z");
  if (value instanceof DuckDBTimestampValue) return String(value).replace(ISO_INSTANT, "$1T$2");
  if (value instanceof DuckDBDateValue && !value.isFinite) return value.days > 0 ? "infinity" : "-infinity";
  return nestedJson(value) ?? String(value);
}

/** Instants in years of four digits; others, and infinity, stay as the engine writes them. */
const ISO_INSTANT = /^(\d{4}-\d\d-\d\d) (\d\S*)$/;

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
