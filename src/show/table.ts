/** Draws rows as tables with lines, or as records, for a terminal or a file. */
import { joinFirst } from "../common/nearest.ts";
import { displayWidth, paragraph, printableLine, wrapText } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  /** Numbers are on the right, and never cut. */
  readonly align: "left" | "right";
  /** For instants and names that are typed again: never cut, unless no layout has room for them. */
  readonly whole?: boolean;
  /** Colours a text of the column. */
  readonly paint?: ((text: string) => string) | undefined;
}

interface TextTable {
  readonly columns: readonly TextColumn[];
  /** Cells of any text; they are made printable here. */
  readonly rows: readonly (readonly string[])[];
}

/** A layout that fits some rows; further rows can be drawn with it. Each text ends with a line break. */
export interface TableLayout {
  readonly head: string;
  /** Draws a row. Without a screen width, a cell that is too wide moves the rest of its line. */
  row(cells: readonly string[]): string;
  readonly foot: string;
  /** Names the columns that do not fit; empty if all do. */
  readonly leftOut: string;
}

interface MeasuredColumn extends TextColumn {
  /** Width of the longest text. */
  readonly natural: number;
  /** Width of the longest cell, or of the longest word of the head. */
  readonly unbroken: number;
  /** Width of the longest word. */
  readonly word: number;
}

/** Narrowest column of wrapped text, in cells. */
const MIN_WIDTH = 11;
/** Widest text that is left in one line if it can be, and widest word that is not broken then, in cells. */
const SHORT_WIDTH = 16;
const WORD_WIDTH = 24;
interface LayoutLimits {
  /** Width of the screen in cells; `undefined`: nothing is cut. */
  readonly width: number | undefined;
  /** Most lines of a cell (default: 6). With 1, names of rows are cut too. */
  readonly maxLines?: number;
}
const MAX_LINES = 6;
/** Most rows that are drawn as records. */
const MAX_RECORDS = 20;
/** How many of the first columns name a row, so that they are never left out. */
const KEYS = 2;

/** Rows under a heading; an empty heading is left out. */
export type RowGroups = ReadonlyMap<string, TextTable["rows"]>;

/**
 * Draws a table for each group, with the same widths. Up to 20 rows that do not fit without a cut are drawn as records
 * instead. `total`: number of rows if there are more than these.
 */
export function drawTables(
  columns: readonly TextColumn[],
  groups: RowGroups,
  limits: LayoutLimits,
  total = 0,
): string {
  const { width } = limits;
  const rows = [...groups.values()].flat();
  const isShort = Math.max(total, rows.length) <= MAX_RECORDS;
  const isRecords = width !== undefined && isShort && !fits({ columns, rows }, limits);
  const layout = layOutTable({ columns, rows }, limits);
  const drawn = [...groups].map(([head, group]) => {
    const texts = isRecords
      ? recordTexts({ columns, rows: group }, width).join("\n")
      : [layout.head, ...group.map(layout.row), layout.foot].join("");
    return (head === "" ? "" : paragraph("", printableLine(head), width)) + texts;
  });
  return isRecords ? drawn.join("\n") : drawn.join("") + layout.leftOut;
}

/**
 * Lays out a table. With a width, texts take several lines, the longest first; columns that still do not fit are left out
 * from the right, but never the first two, which name a row.
 */
export function layOutTable(table: TextTable, { width, maxLines = MAX_LINES }: LayoutLimits): TableLayout {
  const columns = measureColumns(table);
  const fitting = width === undefined ? columns.length : Math.max(KEYS, numberThatFits(columns, width));
  const shown = columns.slice(0, fitting);
  const widths = width === undefined ? columns.map(({ natural }) => natural) : columnWidths(shown, width);
  const widthAt = (place: number) => widths[place] ?? 1;
  const line = (left: string, middle: string, right: string) =>
    `${left}${shown.map((_, place) => "─".repeat(widthAt(place) + 2)).join(middle)}${right}\n`;
  const draw = (cells: readonly string[], isHead = false) => {
    const lines = shown.map((_, place) => {
      const text = printableLine(cells[place] ?? "");
      return width === undefined
        ? [text]
        : wrapText(text, widthAt(place), place < KEYS && maxLines > 1 ? text.length : maxLines);
    });
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (_, number) => {
      const texts = shown.map(({ align, paint }, place) => {
        const text = lines[place]?.[number] ?? "";
        const space = " ".repeat(Math.max(0, widthAt(place) - displayWidth(text)));
        const painted = isHead || paint === undefined ? text : paint(text);
        return align === "right" ? space + painted : painted + space;
      });
      return `│ ${texts.join(" │ ")} │\n`;
    }).join("");
  };
  const others = columns.slice(fitting).map(({ name }) => name);
  const leftOut = `left out: ${joinFirst(others, 8)}; \`--format csv\` has all columns`;
  const names = columns.map(({ name }) => name);
  return {
    head: [line("┌", "┬", "┐"), draw(names, true), line("├", "┼", "┤")].join(""),
    row: (cells) => draw(cells),
    foot: line("└", "┴", "┘"),
    leftOut: others.length === 0 ? "" : paragraph("", printableLine(leftOut), width),
  };
}

/** Whether all columns fit, with no cell cut. */
function fits(table: TextTable, { width = 0, maxLines = MAX_LINES }: LayoutLimits): boolean {
  const columns = measureColumns(table);
  if (numberThatFits(columns, width) < columns.length) return false;
  const widths = columnWidths(columns, width);
  return table.rows.every((cells) =>
    cells.every((cell, place) => {
      const lines = wrapText(printableLine(cell), widths[place] ?? 1, maxLines + 1);
      return lines.length <= maxLines;
    }),
  );
}

/** How many columns fit, counted from the left. */
function numberThatFits(columns: readonly MeasuredColumn[], width: number): number {
  let used = tableWidth([]);
  const tooWide = columns.findIndex((column) => {
    used += leastWidth(column) + 3;
    return used > width;
  });
  return tooWide === -1 ? columns.length : tooWide;
}

/** A line for each column that is not empty; the first always, since it names the row. */
function recordTexts({ columns, rows }: TextTable, width: number): string[] {
  const names = columns.map(({ name }) => printableLine(name));
  const nameWidth = Math.max(...names.map(displayWidth));
  return rows.map((cells) =>
    columns
      .map(({ paint = String }, place) => {
        const text = printableLine(cells[place] ?? "");
        const name = names[place] ?? "";
        const lead = `  ${name}${" ".repeat(nameWidth - displayWidth(name))}  `;
        if (text === "" && place > 0) return "";
        return `${lead + paint(paragraph(lead, text, width).slice(lead.length, -1))}\n`;
      })
      .join(""),
  );
}

function measureColumns({ columns, rows }: TextTable): MeasuredColumn[] {
  return columns.map((column, index) => {
    const name = printableLine(column.name);
    const width = (cells: readonly string[]) => displayWidth(printableLine(cells[index] ?? ""));
    const cells = rows.reduce((most, row) => Math.max(most, width(row)), 0);
    const wordWidth = (text: string) => Math.max(...text.split(" ").map(displayWidth));
    const ofName = wordWidth(name);
    const word = rows.reduce(
      (most, row) => Math.max(most, wordWidth(printableLine(row[index] ?? ""))),
      ofName,
    );
    return {
      ...column,
      ...{ name, natural: Math.max(cells, displayWidth(name)), unbroken: Math.max(cells, ofName), word },
    };
  });
}

/** Least width of a column: all of a number or a name, else a part of the text. */
function leastWidth({ align, whole, natural, unbroken }: MeasuredColumn): number {
  return align === "right" || whole === true ? unbroken : Math.min(natural, MIN_WIDTH);
}

/**
 * Widths of columns that fit: the room goes to short texts that it lets stay in one line and to words that it lets stay
 * whole, then to the longest texts. If the least widths do not fit, names break too.
 */
function columnWidths(columns: readonly MeasuredColumn[], width: number): readonly number[] {
  const least = columns.map(leastWidth);
  const room = width - tableWidth(least);
  if (room < 0) {
    const equal = Math.max(1, Math.floor((width - tableWidth([])) / columns.length) - 3);
    return least.map((each) => Math.min(each, equal));
  }
  const widths = [...least];
  let left = room;
  for (const [place, { align, natural, word }] of columns.entries()) {
    const wanted = natural <= SHORT_WIDTH ? natural : word;
    const lacks = wanted - (widths[place] ?? 0);
    if (align === "right" || wanted > WORD_WIDTH || lacks <= 0 || lacks > left) continue;
    widths[place] = wanted;
    left -= lacks;
  }
  const lines = (place: number) => (columns[place]?.natural ?? 0) / (widths[place] ?? 1);
  for (; left > 0; left--) {
    const longest = columns.reduce((most, _, place) => (lines(place) > lines(most) ? place : most), 0);
    if (lines(longest) <= 1) break;
    widths[longest] = (widths[longest] ?? 0) + 1;
  }
  return widths;
}

/** Each column has a line and two blanks, and one more line ends the table. */
function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 3, 1);
}
