import { joinFirst } from "../common/nearest.ts";
import { displayWidth, paragraph, printableLine, wrapped } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  readonly align: "left" | "right";
  /** Instants, and names that are typed again: not cut while any other layout fits. Numbers, on the right, never are. */
  readonly whole?: true;
  /** A cell that is too wide goes on in further lines, a few; undefined: it is cut. */
  readonly wraps?: true;
  /** A narrow screen goes without it, the highest number first; undefined: 0. Of those that are alike the last goes. */
  readonly dispensable?: number | undefined;
  /** Goes last of all: an instant, or a figure that others add up to. */
  readonly kept?: boolean;
}

export interface TextTable {
  readonly columns: readonly TextColumn[];
  /** Cells as they came; they are made printable here. */
  readonly rows: readonly (readonly string[])[];
}

/** How a table is drawn, once some of its rows are known; its texts are lines, each with its end. */
export interface TableLayout {
  readonly head: string;
  /** Draws a row. What is wider than its column is cut where there is a width, else it moves the rest of its line. */
  row(cells: readonly string[]): string;
  readonly foot: string;
  /** What a screen is told that is too narrow for some columns; empty: all found room. */
  readonly leftOut: string;
}

interface Measured extends TextColumn {
  /** Of its cells. */
  readonly index: number;
  /** Width of its longest text. */
  readonly natural: number;
  /** Width of its longest cell, or of the longest word above it. */
  readonly unbroken: number;
}

/** Widths of a column's frame: a line and two spaces; the table ends with one more line. */
const FRAME = 3;
/** Below this a cut text says nothing: then columns are left out instead. */
const NARROWEST = 8;
/** Where a table goes without some columns, its cells have this much room. */
const ROOMY = 14;
/** Of a cell that wraps. */
const MOST_LINES = 6;
/** Names of columns that a screen is told it goes without. */
const NAMED = 8;

/** Draws a table with lines. With a width, long cells are cut, and columns that still do not fit are left out. */
export function drawTable(table: TextTable, width: number | undefined): string {
  const { head, row, foot, leftOut } = layOut(table, width);
  return [head, ...table.rows.map(row), foot, leftOut].join("");
}

/** The layout that suits these rows; others may follow, and hold to it. */
export function layOut(table: TextTable, width: number | undefined): TableLayout {
  const columns = measured(table);
  const shown = width === undefined ? columns : fitting(columns, width);
  const widths = width === undefined ? columns.map(({ natural }) => natural) : widthsOf(shown, width);
  const widthOf = (place: number) => widths[place] ?? 1;
  const line = (left: string, middle: string, right: string) =>
    `${left}${shown.map((_, place) => "─".repeat(widthOf(place) + 2)).join(middle)}${right}\n`;
  const row = (cells: readonly string[]) => {
    const lines = shown.map(({ align, index, natural, wraps }, place) => {
      const text = printableLine(cells[index] ?? "");
      // A number is told whole, though it pushes the rest of its line aside.
      const isCut = width !== undefined && (align === "left" || widthOf(place) < natural);
      return isCut ? wrapped(text, widthOf(place), wraps === true ? MOST_LINES : 1) : [text];
    });
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (_, number) => {
      const texts = shown.map(({ align }, place) => pad(lines[place]?.[number] ?? "", widthOf(place), align));
      return `│ ${texts.join(" │ ")} │\n`;
    }).join("");
  };
  const others = columns.filter((each) => !shown.includes(each)).map(({ name }) => name);
  const said = `left out: ${joinFirst(others, NAMED)}; widen the terminal or pipe the output`;
  return {
    head: [line("┌", "┬", "┐"), row(columns.map(({ name }) => name)), line("├", "┼", "┤")].join(""),
    row,
    foot: line("└", "┴", "┘"),
    leftOut: others.length === 0 ? "" : paragraph("", printableLine(said), width),
  };
}

/**
 * Places of columns that have one text in all rows, and so can stand above a table that is too wide. Of a single row the
 * first ones, as far as the others need the room.
 */
export function constantColumns(table: TextTable, width: number): number[] {
  const { rows } = table;
  const columns = measured(table);
  const left = new Set(columns);
  for (const column of columns) {
    if (left.size === 1 || fits([...left], rows.length === 1 ? ROOMY : Number.POSITIVE_INFINITY, width))
      break;
    if (rows.every((cells) => cells[column.index] === rows[0]?.[column.index])) left.delete(column);
  }
  return columns.filter((column) => !left.has(column)).map(({ index }) => index);
}

/** The columns that find room. */
function fitting(columns: readonly Measured[], width: number): readonly Measured[] {
  let shown = columns;
  while (shown.length > 1) {
    const some = shown.filter(({ kept }) => kept !== true);
    const least = (some.length > 0 ? some : shown).reduce((a, b) =>
      (b.dispensable ?? 0) >= (a.dispensable ?? 0) ? b : a,
    );
    if (fits(shown, least.dispensable === undefined ? NARROWEST : ROOMY, width)) break;
    shown = shown.filter((each) => each !== least);
  }
  return shown;
}

function measured({ columns, rows }: TextTable): Measured[] {
  return columns.map((column, index) => {
    const name = printableLine(column.name);
    const width = (cells: readonly string[]) => displayWidth(printableLine(cells[index] ?? ""));
    const cells = rows.reduce((most, row) => Math.max(most, width(row)), 0);
    const words = column.wraps === true ? name.split(" ") : [name];
    const unbroken = Math.max(cells, ...words.map(displayWidth));
    return { ...column, name, index, natural: Math.max(cells, displayWidth(name)), unbroken };
  });
}

/** What a column must have: all of it, or what a cut text needs to say anything. */
function leastWidth({ align, whole, natural, unbroken }: Measured, narrowest: number): number {
  return align === "right" || whole === true ? unbroken : Math.min(natural, narrowest);
}

function fits(columns: readonly Measured[], narrowest: number, width: number): boolean {
  return frameWidth(columns.map((each) => leastWidth(each, narrowest))) <= width;
}

/** The widths; where not all find room, heads of figures are broken, and the widest texts made narrower. */
function widthsOf(columns: readonly Measured[], width: number): readonly number[] {
  const natural = columns.map((each) => each.natural);
  if (frameWidth(natural) <= width) return natural;
  for (let cap = Math.max(NARROWEST, ...columns.map(({ natural }) => natural)); cap >= 1; cap--) {
    const widths = columns.map((each) => {
      const least = leastWidth(each, NARROWEST);
      return each.align === "right" ? least : Math.max(least, Math.min(each.natural, cap));
    });
    if (frameWidth(widths) <= width) return widths;
  }
  return [Math.max(1, width - frameWidth([0]))];
}

function frameWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + FRAME, 1);
}

function pad(text: string, width: number, align: TextColumn["align"]): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? space + text : text + space;
}
