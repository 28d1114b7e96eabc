import { counted } from "../../common/figures.ts";
import { displayWidth, printableLine, truncate } from "./terminal.ts";

export interface TextColumn {
  readonly name: string;
  readonly align: "left" | "right";
  /** Names that are typed again, such as a run's: not cut while any other layout fits. Numbers, on the right, never are. */
  readonly whole?: true;
}

export const left = (name: string): TextColumn => ({ name, align: "left" });
export const right = (name: string): TextColumn => ({ name, align: "right" });
export const whole = (name: string): TextColumn => ({ name, align: "left", whole: true });

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

/** Widths of a column's frame: a line and two spaces; the table ends with one more line. */
const FRAME = 3;
/** Below this a cut text says nothing: then columns are left out instead. */
const NARROWEST = 8;
/** Where a table takes several parts anyway, or goes without some columns, its cells have this much room. */
const ROOMY = 14;
const LEFT_OUT: TextColumn = { name: "…", align: "left" };

/** Draws a table with lines. With a width, long cells are cut, and columns that still do not fit are left out. */
export function drawTable(table: TextTable, width: number | undefined): DrawnTable {
  const { head, row, foot, shownColumns } = layOut(table, width);
  return { text: [head, ...table.rows.map(row), foot].join(""), shownColumns };
}

/** The layout that suits these rows; others may follow, and hold to it. */
export function layOut(table: TextTable, width: number | undefined): TableLayout {
  const { columns, natural } = measured(table);
  if (width === undefined) return withWidths(columns, natural, () => false);
  const widths = fit(columns, natural, width);
  // A number is told whole, though it pushes the rest of its line aside.
  const cuts = ({ align }: TextColumn, index: number) =>
    align === "left" || (widths[index] ?? 0) < (natural[index] ?? 0);
  return withWidths(columns, widths, cuts);
}

/** The columns from the left, as many as have widths, and one in place of the others. */
function withWidths(
  columns: readonly TextColumn[],
  widths: readonly number[],
  cuts: (column: TextColumn, index: number) => boolean,
): TableLayout {
  const all = widths.length === columns.length;
  const shown = all ? columns : [...columns.slice(0, widths.length), LEFT_OUT];
  const drawn = all ? widths : [...widths, 1];
  const line = (left: string, middle: string, right: string) =>
    `${left}${drawn.map((each) => "─".repeat(each + 2)).join(middle)}${right}\n`;
  const cell = (text: string, column: TextColumn, index: number) => {
    const width = drawn[index] ?? 0;
    return ` ${pad(cuts(column, index) ? truncate(text, width) : text, width, column.align)} `;
  };
  const row = (cells: readonly string[]) => {
    const texts = all ? cells : [...cells.slice(0, widths.length), LEFT_OUT.name];
    return `│${shown.map((column, index) => cell(printableLine(texts[index] ?? ""), column, index)).join("│")}│\n`;
  };
  return {
    head: [line("┌", "┬", "┐"), row(columns.map(({ name }) => name)), line("├", "┼", "┤")].join(""),
    row,
    foot: line("└", "┴", "┘"),
    shownColumns: widths.length,
  };
}

/**
 * Draws all columns of a table: those that do not fit beside the others follow in further parts below, each beginning
 * with the first columns, so many as `keys`, which say what a row is.
 */
export function drawInParts(table: TextTable, keys: number, width: number | undefined): string {
  if (width === undefined) return drawTable(table, width).text;
  const { columns, natural } = measured(table);
  const fits = (some: readonly number[], narrowest: number) =>
    frameWidth(leastWidths(columns, natural, some, narrowest)) <= width;
  const leading = [...columns.keys()].slice(0, keys);
  let rest = [...columns.keys()].slice(keys);
  const parts: string[] = [];
  do {
    const some = rest.slice(0, partOf(leading, rest, fits));
    const shown = [...leading, ...some];
    const part = only(table, shown);
    parts.push(drawTable(fits(shown, NARROWEST) ? part : cuttable(part), width).text);
    rest = rest.slice(some.length);
  } while (rest.length > 0);
  return parts.join("");
}

/** Of a part that has a single column beside the keys and is still too wide: better cut than left out. */
function cuttable({ columns, rows }: TextTable): TextTable {
  return { columns: columns.map(({ name, align }) => ({ name, align })), rows };
}

export interface FittedTable {
  readonly text: string;
  /** Names of the columns that found no room. */
  readonly leftOut: readonly string[];
}

/**
 * Draws a table as one, without those `optional` columns that find no room: the first of them goes first. The others are
 * cut where even they are too wide.
 */
export function drawFitting(
  table: TextTable,
  optional: readonly number[],
  width: number | undefined,
): FittedTable {
  if (width === undefined) return { text: drawTable(table, width).text, leftOut: [] };
  const { columns, natural } = measured(table);
  let shown = [...columns.keys()];
  for (const index of optional) {
    if (frameWidth(leastWidths(columns, natural, shown, ROOMY)) <= width) break;
    shown = shown.filter((each) => each !== index);
  }
  const leftOut = columns.filter((_, index) => !shown.includes(index)).map(({ name }) => name);
  return { text: drawTable(only(table, shown), width).text, leftOut };
}

type Fits = (columns: readonly number[], narrowest: number) => boolean;

/** How many further columns the next part has. */
function partOf(leading: readonly number[], rest: readonly number[], fits: Fits): number {
  if (fits([...leading, ...rest], NARROWEST)) return rest.length;
  for (const narrowest of [ROOMY, NARROWEST]) {
    for (let number = rest.length; number > 0; number--) {
      if (fits([...leading, ...rest.slice(0, number)], narrowest)) return number;
    }
  }
  return 1;
}

function only({ columns, rows }: TextTable, some: readonly number[]): TextTable {
  const pick = <T>(all: readonly T[]) => some.flatMap((index) => all.slice(index, index + 1));
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

/** The columns with printable names, and the width of the longest text in each. */
function measured({ columns, rows }: TextTable): { columns: TextColumn[]; natural: number[] } {
  const named = columns.map((column) => ({ ...column, name: printableLine(column.name) }));
  const width = (text: string) => displayWidth(printableLine(text));
  const natural = named.map(({ name }, index) =>
    rows.reduce((most, row) => Math.max(most, width(row[index] ?? "")), displayWidth(name)),
  );
  return { columns: named, natural };
}

/** What each column must have: all of it, or what a cut text needs to say anything. */
function leastWidths(
  columns: readonly TextColumn[],
  natural: readonly number[],
  some: readonly number[],
  narrowest: number,
): number[] {
  return some.map((index) => {
    const { align, whole } = columns[index] ?? LEFT_OUT;
    const all = natural[index] ?? 0;
    return align === "right" || whole === true ? all : Math.min(all, narrowest);
  });
}

/** Widths of the columns that find room, from the left: all of them, or fewer beside the one in place of the others. */
function fit(columns: readonly TextColumn[], natural: readonly number[], width: number): readonly number[] {
  if (frameWidth(natural) <= width) return natural;
  const least = leastWidths(columns, natural, [...columns.keys()], NARROWEST);
  const whole = capped(natural, width, least);
  if (whole !== undefined) return whole;
  for (let shown = columns.length - 1; shown > 1; shown--) {
    const widths = capped([...natural.slice(0, shown), 1], width, [...least.slice(0, shown), 1]);
    if (widths !== undefined) return widths.slice(0, shown);
  }
  const room = Math.max(1, width - frameWidth([0, 1]));
  return [Math.min(natural[0] ?? 1, room)];
}

/** The widths with the widest made narrower until all fit; undefined where that leaves one less than it must have. */
function capped(natural: readonly number[], width: number, least: readonly number[]): number[] | undefined {
  if (frameWidth(least) > width) return undefined;
  for (let cap = Math.min(Math.max(...natural), width); cap >= 0; cap--) {
    const widths = natural.map((each, index) => Math.max(least[index] ?? 0, Math.min(each, cap)));
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
