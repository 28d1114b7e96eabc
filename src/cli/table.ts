import { displayWidth, printableLine, truncate } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  readonly align: "left" | "right";
}

export interface TextTable {
  readonly columns: readonly TextColumn[];
  /** Cells as they came; they are made printable here. */
  readonly rows: readonly (readonly string[])[];
}

export interface DrawnTable {
  /** Lines, each with its end. */
  readonly text: string;
  /** Columns that found room, from the left. */
  readonly shownColumns: number;
}

/** Widths of a column's frame: a line and two spaces; the table ends with one more line. */
const FRAME = 3;
/** Below this a cut text says nothing: then columns are left out instead. */
const NARROWEST = 8;
const LEFT_OUT: TextColumn = { name: "…", align: "left" };

/** Draws a table with lines. With a width, long cells are cut, and columns that still do not fit are left out. */
export function drawTable(table: TextTable, width: number | undefined): DrawnTable {
  const rows = table.rows.map((row) => row.map(printableLine));
  const columns = table.columns.map((column) => ({ ...column, name: printableLine(column.name) }));
  const natural = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), displayWidth(column.name)),
  );
  if (width === undefined || frameWidth(natural) <= width) {
    return { text: draw(columns, rows, natural), shownColumns: columns.length };
  }
  return fit(columns, rows, natural, width);
}

type Rows = readonly (readonly string[])[];

function fit(
  columns: readonly TextColumn[],
  rows: Rows,
  natural: readonly number[],
  width: number,
): DrawnTable {
  const whole = capped(natural, width);
  if (whole !== undefined) return { text: draw(columns, rows, whole), shownColumns: columns.length };
  for (let shown = columns.length - 1; shown > 1; shown--) {
    const widths = capped([...natural.slice(0, shown), 1], width);
    if (widths === undefined) continue;
    return { text: drawSome(columns, rows, widths, shown), shownColumns: shown };
  }
  const room = Math.max(1, width - frameWidth([0, 1]));
  return { text: drawSome(columns, rows, [Math.min(natural[0] ?? 1, room), 1], 1), shownColumns: 1 };
}

/** Draws the columns from the left, and one in place of the others. */
function drawSome(
  columns: readonly TextColumn[],
  rows: Rows,
  widths: readonly number[],
  shown: number,
): string {
  const some = rows.map((row) => [...row.slice(0, shown), "…"]);
  return draw([...columns.slice(0, shown), LEFT_OUT], some, widths);
}

/** The widths with the widest made narrower until all fit; undefined where that leaves them too narrow to read. */
function capped(natural: readonly number[], width: number): number[] | undefined {
  const smallest = Math.min(NARROWEST, Math.max(...natural));
  for (let cap = Math.min(Math.max(...natural), width); cap >= smallest; cap--) {
    const widths = natural.map((each) => Math.min(each, cap));
    if (frameWidth(widths) <= width) return widths;
  }
  return undefined;
}

function frameWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + FRAME, 1);
}

function draw(columns: readonly TextColumn[], rows: Rows, widths: readonly number[]): string {
  const line = (left: string, middle: string, right: string) =>
    `${left}${widths.map((each) => "─".repeat(each + 2)).join(middle)}${right}\n`;
  const cells = (row: readonly string[]) =>
    `│${columns.map(({ align }, index) => ` ${pad(row[index] ?? "", widths[index] ?? 0, align)} `).join("│")}│\n`;
  const heads = cells(columns.map(({ name }) => name));
  return [line("┌", "┬", "┐"), heads, line("├", "┼", "┤"), ...rows.map(cells), line("└", "┴", "┘")].join("");
}

function pad(text: string, width: number, align: TextColumn["align"]): string {
  const cut = truncate(text, width);
  const space = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return align === "right" ? space + cut : cut + space;
}
