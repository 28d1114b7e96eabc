/** Formats the result of a query row by row. */
import { type DuckDBDataChunk, type DuckDBResult, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { pluralize } from "../../common/figures.ts";
import { collectKeepingCode } from "../../common/free-memory.ts";
import { markdownText } from "../../common/printable.ts";
import {
  cellText,
  csvTexts,
  joinTexts,
  jsonArray,
  jsonLines,
  markdownRow,
  type RowChunk,
  type RowStream,
  rowTexts,
  WRITE_LENGTH,
} from "../../show/rows.ts";
import { drawTable, layOutTable, type TableLayout, type TextColumn } from "../../show/table.ts";
import { printableText } from "../../show/terminal.ts";

/** Formats that are text, so all but Parquet. */
export const TEXT_FORMATS = ["table", "json", "jsonl", "csv", "markdown"] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

export interface TextForm {
  readonly format: TextFormat;
  /** Width of the screen in characters; `undefined` for files and pipes. */
  readonly width: number | undefined;
  /** Whether texts of CSV are guarded against being read as formulas. */
  readonly spreadsheet: boolean;
}

/** JSON makes equal column names distinct as DuckDB's client does: `a` and `a:1`. */
const FORMS: Readonly<
  Record<TextFormat, (result: DuckDBResult, options: Omit<TextForm, "format">) => AsyncIterable<string>>
> = {
  table: (result, { width }) => (width === undefined ? tableTexts(result) : screenTexts(result, width)),
  json: jsonTexts,
  jsonl: (result) => jsonLines(streamOf(result)),
  csv: (result, { width, spreadsheet }) =>
    csvTexts(
      { names: result.columnNames(), chunks: rowsOf(result) },
      { spreadsheet, toScreen: width !== undefined },
    ),
  markdown: markdownTexts,
};

export function answerTexts(result: DuckDBResult, form: TextForm): AsyncIterable<string> {
  return FORMS[form.format](result, form);
}

function streamOf(result: DuckDBResult): RowStream {
  return {
    names: result.deduplicatedColumnNames(),
    types: result.columnTypes(),
    chunks: rowsOf(result),
  };
}

/** Cells read between two garbage collections: about ten megabytes. */
const CELLS_PER_COLLECTION = 250_000;

/**
 * Chunks of some thousand rows. The engine allocates them outside the heap, where V8 does not see hundreds of megabytes
 * of wide rows; so garbage is collected here.
 */
async function* chunksOf(result: DuckDBResult): AsyncIterable<DuckDBDataChunk> {
  let cells = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
    yield chunk;
    cells += chunk.rowCount * result.columnCount;
    chunk = await result.fetchChunk();
    if (cells < CELLS_PER_COLLECTION) continue;
    collectKeepingCode();
    cells = 0;
  }
}

async function* rowsOf(result: DuckDBResult): AsyncIterable<RowChunk> {
  for await (const chunk of chunksOf(result)) yield rowsIn(chunk);
}

function* rowsIn(chunk: DuckDBDataChunk): RowChunk {
  for (let row = 0; row < chunk.rowCount; row++) yield chunk.getRowValues(row);
}

/** Number of rows shown on a screen. */
const SCREEN_ROWS = 100;

/** The first rows as soon as they are read, then the number of all rows. */
async function* screenTexts(result: DuckDBResult, width: number): AsyncIterable<string> {
  const columns = columnsOf(result);
  const rows: string[][] = [];
  let total = 0;
  let isDrawn = false;
  for await (const chunk of chunksOf(result)) {
    total += chunk.rowCount;
    if (isDrawn) continue;
    for (const row of rowsIn(chunk)) {
      if (rows.length < SCREEN_ROWS) rows.push(row.map(shownText));
    }
    if (total <= SCREEN_ROWS) continue;
    yield drawTable({ columns, rows }, width);
    isDrawn = true;
  }
  if (!isDrawn) yield drawTable({ columns, rows }, width);
  const size = `${pluralize(total, "row")}, ${pluralize(columns.length, "column")}\n`;
  yield total > rows.length ? `${rows.length} of ${size}pipe the output or add --out for all rows\n` : size;
}

/** Column widths follow from the first rows, up to these limits; later rows are written as they come. */
const LAYOUT_ROWS = 1000;
const LAYOUT_CHARACTERS = 8 * WRITE_LENGTH;

/** All rows and columns, with nothing cut. */
async function* tableTexts(result: DuckDBResult): AsyncIterable<string> {
  const columns = columnsOf(result);
  let first: string[][] = [];
  let characters = 0;
  let layout: TableLayout | undefined;
  let total = 0;
  const laidOut = () => {
    layout = layOutTable({ columns, rows: first }, undefined);
    const drawn = [layout.head, ...first.map(layout.row)];
    first = [];
    return drawn;
  };
  const texts = function* (chunk: RowChunk): Iterable<string> {
    for (const row of chunk) {
      const cells = row.map(shownText);
      total += 1;
      if (layout !== undefined) {
        yield layout.row(cells);
        continue;
      }
      first.push(cells);
      characters += cells.reduce((sum, cell) => sum + cell.length, 0);
      if (first.length >= LAYOUT_ROWS || characters >= LAYOUT_CHARACTERS) yield* laidOut();
    }
  };
  for await (const chunk of rowsOf(result)) yield* joinTexts(texts(chunk));
  if (layout === undefined) yield* joinTexts(laidOut());
  const { foot } = layout ?? layOutTable({ columns, rows: [] }, undefined);
  yield `${foot}${pluralize(total, "row")}, ${pluralize(columns.length, "column")}\n`;
}

function shownText(value: DuckDBValue): string {
  return value === null ? "NULL" : cellText(value);
}

function columnsOf(result: DuckDBResult): TextColumn[] {
  return result.columnNames().map((name, index) => ({
    name,
    align: NUMBERS.has(DuckDBTypeId[result.columnTypeId(index)]) ? "right" : "left",
  }));
}

const NUMBERS: ReadonlySet<string | undefined> = new Set([
  "TINYINT",
  "SMALLINT",
  "INTEGER",
  "BIGINT",
  "HUGEINT",
  "UTINYINT",
  "USMALLINT",
  "UINTEGER",
  "UBIGINT",
  "UHUGEINT",
  "FLOAT",
  "DOUBLE",
  "DECIMAL",
  "BIGNUM",
]);

/** A query plan as the engine draws it. */
export function planTexts(result: DuckDBResult): AsyncIterable<string> {
  return rowTexts(rowsOf(result), ([, plan = null]) => printableText(`${cellText(plan)}\n`));
}

async function* jsonTexts(result: DuckDBResult): AsyncIterable<string> {
  yield* jsonArray(streamOf(result));
  yield "\n";
}

async function* markdownTexts(result: DuckDBResult): AsyncIterable<string> {
  const columns = columnsOf(result);
  yield markdownRow(columns.map(({ name }) => markdownText(name)));
  yield markdownRow(columns.map(({ align }) => (align === "right" ? "---:" : "---")));
  yield* rowTexts(rowsOf(result), (row) => markdownRow(row.map((value) => markdownText(shownText(value)))));
}
