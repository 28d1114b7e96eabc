/** Formats the result of a query row by row. */
import { type DuckDBDataChunk, type DuckDBResult, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { pluralize } from "../common/figures.ts";
import { markdownText } from "../common/printable.ts";
import {
  cellText,
  csvTexts,
  joinTexts,
  jsonArray,
  jsonLines,
  markdownRow,
  type RowChunk,
  rowTexts,
  WRITE_LENGTH,
} from "../show/rows.ts";
import { layOutTable, type TableLayout, type TextColumn } from "../show/table.ts";
import { printableText } from "../show/terminal.ts";

/** Formats that are text, so all but Parquet. */
export const TEXT_FORMATS = ["table", "json", "jsonl", "csv", "markdown"] as const;

export interface TextForm {
  readonly format: (typeof TEXT_FORMATS)[number];
  /** Width of the screen in characters; `undefined` for files and pipes. */
  readonly width: number | undefined;
  /** Whether texts of CSV are guarded against being read as formulas. */
  readonly spreadsheet: boolean;
}

/** JSON makes equal column names distinct as DuckDB's client does: `a` and `a:1`. */
export async function* answerTexts(
  result: DuckDBResult,
  { format, width, spreadsheet }: TextForm,
): AsyncIterable<string> {
  const chunks = rowsOf(result);
  const objects = { names: result.deduplicatedColumnNames(), types: result.columnTypes(), chunks };
  switch (format) {
    case "table":
      return yield* tableTexts(result, width);
    case "json":
      yield* jsonArray(objects);
      return yield "\n";
    case "jsonl":
      return yield* jsonLines(objects);
    case "csv":
      return yield* csvTexts(
        { names: result.columnNames(), chunks },
        { spreadsheet, toScreen: width !== undefined },
      );
    case "markdown": {
      const columns = columnsOf(result);
      yield markdownRow(columns.map(({ name }) => markdownText(name)));
      yield markdownRow(columns.map(({ align }) => (align === "right" ? "---:" : "---")));
      yield* rowTexts(chunks, (row) => markdownRow(row.map((value) => markdownText(shownText(value)))));
    }
  }
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
    globalThis.gc?.({ type: "major", execution: "sync" });
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
/** Elsewhere column widths follow from the first rows, up to these limits; later rows are written as they come. */
const LAYOUT_ROWS = 1000;
const LAYOUT_CHARACTERS = 8 * WRITE_LENGTH;

/** A screen gets the first rows and the number of all, files and pipes get all rows with nothing cut. */
async function* tableTexts(result: DuckDBResult, width: number | undefined): AsyncIterable<string> {
  const columns = columnsOf(result);
  const mostFirst = width === undefined ? LAYOUT_ROWS : SCREEN_ROWS;
  const first: string[][] = [];
  let characters = 0;
  let layout: TableLayout | undefined;
  let total = 0;
  const drawn = function* (): Iterable<string> {
    layout = layOutTable({ columns, rows: first }, width);
    yield layout.head;
    yield* first.map(layout.row);
  };
  const texts = function* (chunk: RowChunk): Iterable<string> {
    for (const row of chunk) {
      if (layout !== undefined && width !== undefined) return;
      const cells = row.map(shownText);
      if (layout !== undefined) {
        yield layout.row(cells);
        continue;
      }
      first.push(cells);
      characters += cells.reduce((sum, cell) => sum + cell.length, 0);
      if (first.length >= mostFirst || characters >= LAYOUT_CHARACTERS) yield* drawn();
    }
  };
  for await (const chunk of chunksOf(result)) {
    total += chunk.rowCount;
    yield* joinTexts(texts(rowsIn(chunk)));
  }
  if (layout === undefined) yield* joinTexts(drawn());
  const { foot, leftOut } = layout ?? layOutTable({ columns, rows: [] }, width);
  const size = `${pluralize(total, "row")}, ${pluralize(columns.length, "column")}\n`;
  const isCut = width !== undefined && total > first.length;
  yield `${foot}${leftOut}${isCut ? `${first.length} of ${size}pipe the output or add --out for all rows\n` : size}`;
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

/** A query plan as the engine draws it. */
export function planTexts(result: DuckDBResult): AsyncIterable<string> {
  return rowTexts(rowsOf(result), ([, plan = null]) => printableText(`${cellText(plan)}\n`));
}
