import { counted } from "../common/figures.ts";
import { displayWidth, printableLine, wrapped } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  readonly align: "left" | "right";
  /** Names that are typed again, such as a run's: not cut while any other layout fits. Numbers, on the right, never are. */
  readonly whole?: true;
  /** A cell that is too wide goes on in further lines, a few; undefined: it is cut. */
  readonly wraps?: true;
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
  /** Columns that found room, from the left. */
  readonly shownColumns: number;
}

export interface DrawnTable extends Pick<TableLayout, "shownColumns"> {
  /** Lines, each with its end. */
  readonly text: string;
}

interface Measured extends TextColumn {
  /** Of its cells; -1: the column in place of those that found no room. */
  readonly index: number;
  /** Of its longest text. */
  readonly natural: number;
}

/** Widths of a column's frame: a line and two spaces; the table ends with one more line. */
const FRAME = 3;
/** Below this a cut text says nothing: then columns are left out instead. */
const NARROWEST = 8;
/** Where a table takes several parts anyway, or goes without some columns, its cells have this much room. */
const ROOMY = 14;
/** Of a cell that wraps. */
const MOST_LINES = 6;
const LEFT_OUT: Measured = { name: "…", align: "left", index: -1, natural: 1 };

/** Draws a table with lines. With a width, long cells are cut, and columns that still do not fit are left out. */
export function drawTable(table: TextTable, width: number | undefined): DrawnTable {
  const { head, row, foot, shownColumns } = layOut(table, width);
  return { text: [head, ...table.rows.map(row), foot].join(""), shownColumns };
}

/** The layout that suits these rows; others may follow, and hold to it. */
export function layOut(table: TextTable, width: number | undefined): TableLayout {
  const columns = measured(table);
  const widths = width === undefined ? columns.map(({ natural }) => natural) : fit(columns, width);
  const shown = columns.slice(0, widths.length);
  const drawn = shown.length < columns.length ? [...shown, LEFT_OUT] : shown;
  const widthOf = (place: number) => widths[place] ?? LEFT_OUT.natural;
  const line = (left: string, middle: string, right: string) =>
    `${left}${drawn.map((_, place) => "─".repeat(widthOf(place) + 2)).join(middle)}${right}\n`;
  const row = (cells: readonly string[]) => {
    const lines = drawn.map(({ align, index, natural, wraps }, place) => {
      const text = printableLine(index < 0 ? LEFT_OUT.name : (cells[index] ?? ""));
      // A number is told whole, though it pushes the rest of its line aside.
      const isCut = width !== undefined && (align === "left" || widthOf(place) < natural);
      return isCut ? wrapped(text, widthOf(place), wraps === true ? MOST_LINES : 1) : [text];
    });
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (_, number) => {
      const texts = drawn.map(({ align }, place) => pad(lines[place]?.[number] ?? "", widthOf(place), align));
      return `│ ${texts.join(" │ ")} │\n`;
    }).join("");
  };
  return {
    head: [line("┌", "┬", "┐"), row(columns.map(({ name }) => name)), line("├", "┼", "┤")].join(""),
    row,
    foot: line("└", "┴", "┘"),
    shownColumns: shown.length,
  };
}

/**
 * Draws all columns of a table: those that do not fit beside the others follow in further parts below, each beginning
 * with the first columns, so many as `keys`, which say what a row is.
 */
export function drawInParts(table: TextTable, keys: number, width: number | undefined): string {
  const columns = measured(table);
  const leading = columns.slice(0, keys);
  let rest = columns.slice(keys);
  const parts: string[] = [];
  do {
    const shown = [...leading, ...rest.slice(0, partOf(leading, rest, width))];
    const part = only(table, shown);
    parts.push(drawTable(fits(shown, NARROWEST, width) ? part : cuttable(part), width).text);
    rest = rest.slice(shown.length - leading.length);
  } while (rest.length > 0);
  return parts.join("");
}

/** How many further columns the next part has. */
function partOf(leading: readonly Measured[], rest: readonly Measured[], width: number | undefined): number {
  const most = (narrowest: number) =>
    rest.findLastIndex((_, last) => fits([...leading, ...rest.slice(0, last + 1)], narrowest, width)) + 1;
  if (most(NARROWEST) === rest.length) return rest.length;
  return most(ROOMY) || most(NARROWEST) || 1;
}

/** Of a part that has a single column beside the keys and is still too wide: better cut than left out. */
function cuttable({ columns, rows }: TextTable): TextTable {
  return { columns: columns.map(({ name, align }) => ({ name, align })), rows };
}

/**
 * Draws a table as one, without those `optional` columns that find no room: the first of them goes first. The others are
 * cut where even they are too wide. `leftOut`: names of the columns that found no room.
 */
export function drawFitting(
  table: TextTable,
  optional: readonly number[],
  width: number | undefined,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const columns = measured(table);
  let shown = columns;
  for (const index of optional) {
    if (!fits(shown, ROOMY, width)) shown = shown.filter((each) => each.index !== index);
  }
  const leftOut = columns.filter((each) => !shown.includes(each)).map(({ name }) => name);
  return { text: drawTable(only(table, shown), width).text, leftOut };
}

function only({ columns, rows }: TextTable, some: readonly Measured[]): TextTable {
  const pick = <T>(all: readonly T[]) => some.flatMap(({ index }) => all.slice(index, index + 1));
  return { columns: pick(columns), rows: rows.map(pick) };
}

/** What a screen that is too narrow for some columns is told. */
export function leftOutText(
  { columns }: Pick<TextTable, "columns">,
  { shownColumns }: Pick<DrawnTable, "shownColumns">,
): string {
  const hidden = columns.length - shownColumns;
  if (hidden <= 0) return "";
  return `${counted(hidden, "column")} left out: widen the terminal or pipe the output\n`;
}

function measured({ columns, rows }: TextTable): Measured[] {
  return columns.map((column, index) => {
    const name = printableLine(column.name);
    const width = (cells: readonly string[]) => displayWidth(printableLine(cells[index] ?? ""));
    const natural = rows.reduce((most, row) => Math.max(most, width(row)), displayWidth(name));
    return { ...column, name, index, natural };
  });
}

/** What a column must have: all of it, or what a cut text needs to say anything. */
function leastWidth({ align, whole, natural }: Measured, narrowest: number): number {
  return align === "right" || whole === true ? natural : Math.min(natural, narrowest);
}

function fits(columns: readonly Measured[], narrowest: number, width: number | undefined): boolean {
  return width === undefined || frameWidth(columns.map((each) => leastWidth(each, narrowest))) <= width;
}

/** Widths of the columns that find room, from the left: all of them, or fewer beside the one in place of the others. */
function fit(columns: readonly Measured[], width: number): readonly number[] {
  const natural = columns.map((each) => each.natural);
  if (frameWidth(natural) <= width) return natural;
  const whole = capped(columns, width);
  if (whole !== undefined) return whole;
  for (let shown = columns.length - 1; shown > 1; shown--) {
    const widths = capped([...columns.slice(0, shown), LEFT_OUT], width);
    if (widths !== undefined) return widths.slice(0, shown);
  }
  const room = Math.max(1, width - frameWidth([0, 1]));
  return [Math.min(natural[0] ?? 1, room)];
}

/** The widths with the widest made narrower until all fit; undefined where that leaves one less than it must have. */
function capped(columns: readonly Measured[], width: number): number[] | undefined {
  if (!fits(columns, NARROWEST, width)) return undefined;
  for (let cap = Math.min(Math.max(...columns.map(({ natural }) => natural)), width); cap >= 0; cap--) {
    const widths = columns.map((each) => Math.max(leastWidth(each, NARROWEST), Math.min(each.natural, cap)));
    if (frameWidth(widths) <= width) return widths;
  }
  return undefined;
}

function frameWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + FRAME, 1);
}

function pad(text: string, width: number, align: TextColumn["align"]): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? space + text : text + space;
}
