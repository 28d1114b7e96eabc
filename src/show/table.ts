/** Draws tables with lines for a terminal or a file. */
import { joinFirst } from "../common/nearest.ts";
import { displayWidth, paragraph, printableLine, wrapText } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  /** Numbers are on the right, and never cut. */
  readonly align: "left" | "right";
  /** For instants and names that are typed again: cut only if no other layout fits. */
  readonly whole?: true;
  /** Whether a wide cell takes several lines; undefined: it is cut. */
  readonly wraps?: true;
  /** A narrow screen leaves out the highest number first, of equal ones the last; undefined: 0. */
  readonly dispensable?: number | undefined;
  /** Whether it is left out last: an instant, or a figure that others add up to. */
  readonly kept?: boolean;
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
  readonly index: number;
  /** Width of the longest text. */
  readonly natural: number;
  /** Width of the longest cell, or of the longest word of the head. */
  readonly unbroken: number;
}

/** Narrowest column of cut text, in cells; below this, columns are left out. */
const MIN_WIDTH = 8;
/** The same in a table that leaves out columns. */
const MIN_WIDTH_WITH_FEWER = 14;
/** Most lines of a cell. */
const MAX_LINES = 6;

/** Lays out a table; with a width, long cells are cut and columns that do not fit are left out. */
export function layOutTable(table: TextTable, width: number | undefined): TableLayout {
  const columns = measureColumns(table);
  const shown = width === undefined ? columns : fittingColumns(columns, width);
  const widths = width === undefined ? columns.map(({ natural }) => natural) : columnWidths(shown, width);
  const widthAt = (place: number) => widths[place] ?? 1;
  const line = (left: string, middle: string, right: string) =>
    `${left}${shown.map((_, place) => "─".repeat(widthAt(place) + 2)).join(middle)}${right}\n`;
  const row = (cells: readonly string[]) => {
    const lines = shown.map(({ align, index, natural, wraps }, place) => {
      const text = printableLine(cells[index] ?? "");
      const isCut = width !== undefined && (align === "left" || widthAt(place) < natural);
      return isCut ? wrapText(text, widthAt(place), wraps === true ? MAX_LINES : 1) : [text];
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
  const others = columns.filter((each) => !shown.includes(each)).map(({ name }) => name);
  const leftOut = `left out: ${joinFirst(others, 8)}; widen the terminal or pipe the output`;
  return {
    head: [line("┌", "┬", "┐"), row(columns.map(({ name }) => name)), line("├", "┼", "┤")].join(""),
    row,
    foot: line("└", "┴", "┘"),
    leftOut: others.length === 0 ? "" : paragraph("", printableLine(leftOut), width),
  };
}

/**
 * Indexes of columns with the same text in all rows, which can move into the title of a table that is too wide. In a
 * table of one row only as many as needed.
 */
export function constantColumns(table: TextTable, width: number): number[] {
  const { rows } = table;
  const columns = measureColumns(table);
  const left = new Set(columns);
  const minWidth = rows.length === 1 ? MIN_WIDTH_WITH_FEWER : Number.POSITIVE_INFINITY;
  for (const column of columns) {
    if (left.size === 1 || fits([...left], minWidth, width)) break;
    if (rows.every((cells) => cells[column.index] === rows[0]?.[column.index])) left.delete(column);
  }
  return columns.filter((column) => !left.has(column)).map(({ index }) => index);
}

function fittingColumns(columns: readonly MeasuredColumn[], width: number): readonly MeasuredColumn[] {
  let shown = columns;
  while (shown.length > 1) {
    const some = shown.filter(({ kept }) => kept !== true);
    const least = (some.length > 0 ? some : shown).reduce((a, b) =>
      (b.dispensable ?? 0) >= (a.dispensable ?? 0) ? b : a,
    );
    if (fits(shown, least.dispensable === undefined ? MIN_WIDTH : MIN_WIDTH_WITH_FEWER, width)) break;
    shown = shown.filter((each) => each !== least);
  }
  return shown;
}

function measureColumns({ columns, rows }: TextTable): MeasuredColumn[] {
  return columns.map((column, index) => {
    const name = printableLine(column.name);
    const width = (cells: readonly string[]) => displayWidth(printableLine(cells[index] ?? ""));
    const cells = rows.reduce((most, row) => Math.max(most, width(row)), 0);
    const words = column.wraps === true ? name.split(" ") : [name];
    const unbroken = Math.max(cells, ...words.map(displayWidth));
    return { ...column, name, index, natural: Math.max(cells, displayWidth(name)), unbroken };
  });
}

/** Least width of a column: all of a number or a name, else `minWidth`. */
function leastWidth({ align, whole, natural, unbroken }: MeasuredColumn, minWidth: number): number {
  return align === "right" || whole === true ? unbroken : Math.min(natural, minWidth);
}

function fits(columns: readonly MeasuredColumn[], minWidth: number, width: number): boolean {
  return tableWidth(columns.map((each) => leastWidth(each, minWidth))) <= width;
}

/** If the columns do not all fit, heads of figures are wrapped, and the widest texts made narrower. */
function columnWidths(columns: readonly MeasuredColumn[], width: number): readonly number[] {
  const natural = columns.map((each) => each.natural);
  if (tableWidth(natural) <= width) return natural;
  for (let cap = Math.max(MIN_WIDTH, ...natural); cap >= 1; cap--) {
    const widths = columns.map((each) => {
      const least = leastWidth(each, MIN_WIDTH);
      return each.align === "right" ? least : Math.max(least, Math.min(each.natural, cap));
    });
    if (tableWidth(widths) <= width) return widths;
  }
  return [Math.max(1, width - tableWidth([0]))];
}

/** Each column has a line and two blanks, and one more line ends the table. */
function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 3, 1);
}
