/** Draws tables with lines for a terminal or a file. */
import { joinFirst } from "../common/nearest.ts";
import { displayWidth, paragraph, printableLine, wrapText } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  /** Numbers are on the right, and never cut. */
  readonly align: "left" | "right";
  /** For instants and names that are typed again: never cut, unless one column alone does not fit. */
  readonly whole?: boolean;
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
}

/** Narrowest column of wrapped text, in cells. */
const MIN_WIDTH = 14;
/** Most lines of a cell. */
const MAX_LINES = 6;

/**
 * Lays out a table. With a width, texts take several lines, the longest first; columns that still do not fit are left out
 * from the right, but never the first `keys`, which name a row.
 */
export function layOutTable(table: TextTable, width: number | undefined, keys = 1): TableLayout {
  const columns = measureColumns(table);
  const fitting = width === undefined ? columns.length : Math.max(keys, numberThatFits(columns, width));
  const shown = columns.slice(0, fitting);
  const widths = width === undefined ? columns.map(({ natural }) => natural) : columnWidths(shown, width);
  const widthAt = (place: number) => widths[place] ?? 1;
  const line = (left: string, middle: string, right: string) =>
    `${left}${shown.map((_, place) => "─".repeat(widthAt(place) + 2)).join(middle)}${right}\n`;
  const row = (cells: readonly string[]) => {
    const lines = shown.map((_, place) => {
      const text = printableLine(cells[place] ?? "");
      return width === undefined ? [text] : wrapText(text, widthAt(place), MAX_LINES);
    });
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (_, number) => {
      const texts = shown.map(({ align }, place) => {
        const text = lines[place]?.[number] ?? "";
        const space = " ".repeat(Math.max(0, widthAt(place) - displayWidth(text)));
        return align === "right" ? space + text : text + space;
      });
      return `│ ${texts.join(" │ ")} │\n`;
    }).join("");
  };
  const others = columns.slice(fitting).map(({ name }) => name);
  const leftOut = `left out: ${joinFirst(others, 8)}; \`--format csv\` has all columns`;
  return {
    head: [line("┌", "┬", "┐"), row(columns.map(({ name }) => name)), line("├", "┼", "┤")].join(""),
    row,
    foot: line("└", "┴", "┘"),
    leftOut: others.length === 0 ? "" : paragraph("", printableLine(leftOut), width),
  };
}

/** Whether all columns fit, if texts take several lines. */
export function fitsTable(table: TextTable, width: number): boolean {
  return numberThatFits(measureColumns(table), width) === table.columns.length;
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

/** Draws rows as records: a line for each column, and a blank line between two rows. */
export function recordTexts({ columns, rows }: TextTable, width: number | undefined): string[] {
  const nameWidth = Math.max(...columns.map(({ name }) => displayWidth(printableLine(name))));
  return rows.map((cells) =>
    columns
      .map(({ name }, place) => {
        const lead = printableLine(name);
        const space = " ".repeat(nameWidth - displayWidth(lead));
        return paragraph(`  ${lead}${space}  `, printableLine(cells[place] ?? ""), width);
      })
      .join(""),
  );
}

function measureColumns({ columns, rows }: TextTable): MeasuredColumn[] {
  return columns.map((column, index) => {
    const name = printableLine(column.name);
    const width = (cells: readonly string[]) => displayWidth(printableLine(cells[index] ?? ""));
    const cells = rows.reduce((most, row) => Math.max(most, width(row)), 0);
    const unbroken = Math.max(cells, ...name.split(" ").map(displayWidth));
    return { ...column, name, natural: Math.max(cells, displayWidth(name)), unbroken };
  });
}

/** Least width of a column: all of a number or a name, else a part of the text. */
function leastWidth({ align, whole, natural, unbroken }: MeasuredColumn): number {
  return align === "right" || whole === true ? unbroken : Math.min(natural, MIN_WIDTH);
}

/** If the columns do not all fit, heads of figures are wrapped, and the widest texts made narrower. */
function columnWidths(columns: readonly MeasuredColumn[], width: number): readonly number[] {
  const natural = columns.map((each) => each.natural);
  if (tableWidth(natural) <= width) return natural;
  for (let cap = Math.max(MIN_WIDTH, ...natural); cap >= 1; cap--) {
    const widths = columns.map((each) => {
      const least = Math.min(leastWidth(each), cap < MIN_WIDTH ? cap : Number.POSITIVE_INFINITY);
      return each.align === "right" ? least : Math.max(least, Math.min(each.natural, cap));
    });
    if (tableWidth(widths) <= width) return widths;
  }
  return columns.map(() => 1);
}

/** Each column has a line and two blanks, and one more line ends the table. */
function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 3, 1);
}
