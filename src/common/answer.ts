/**
 * An answer to a question: what a function finds in published runs, for whoever draws it. It knows nothing of screens.
 * Columns are declared once, with their types: rows, headings, JSON, CSV and pages all come from the declaration.
 */

/** What a cell holds. Counts are whole and exact as a number; an instant is in UTC. */
interface CellTypes {
  readonly text: string | null;
  /** A name or ID that people type again: shown whole. */
  readonly name: string | null;
  readonly count: number | null;
  readonly bytes: number | null;
  readonly milliseconds: number | null;
  /** From 0 to 1. */
  readonly share: number | null;
  readonly flag: boolean | null;
  readonly instant: Date | null;
  readonly list: readonly string[] | null;
}
export type CellKind = keyof CellTypes;
export type Cell = CellTypes[CellKind];

export interface Column<K extends CellKind = CellKind> {
  readonly kind: K;
  /** What people read above it; undefined: its name, with blanks. */
  readonly head?: string | undefined;
  /** In JSON and CSV alone. */
  readonly hidden?: boolean | undefined;
  /** Column of the same section that stands in where this one is empty: the ID of a thing without a name. */
  readonly standIn?: string | undefined;
  /** A narrow screen goes without it, the highest number first; undefined: it always stays. */
  readonly dispensable?: number | undefined;
}

export type Columns = Readonly<Record<string, Column>>;

export type RowOf<C extends Columns> = { readonly [N in keyof C]: CellTypes[C[N]["kind"]] };

type Options = Omit<Column, "kind">;
const columnOf =
  <K extends CellKind>(kind: K) =>
  (options: Options = {}): Column<K> => ({ kind, ...options });

/** Makers of columns: `col.count({ head: "unused" })`. */
export const col = {
  text: columnOf("text"),
  name: columnOf("name"),
  count: columnOf("count"),
  bytes: columnOf("bytes"),
  milliseconds: columnOf("milliseconds"),
  share: columnOf("share"),
  flag: columnOf("flag"),
  instant: columnOf("instant"),
  list: columnOf("list"),
} as const;

/** A table of an answer. */
export interface Section<C extends Columns = Columns> {
  /** Its name in JSON, and its address in a page. */
  readonly key: string;
  readonly title: string;
  /** One sentence that says what there is, before the table. */
  readonly lead?: string | undefined;
  /** Said in place of a table without rows; undefined: "none". */
  readonly none?: string | undefined;
  /** In their order, for JSON and CSV. */
  readonly columns: C;
  /** Columns for people, in their order; undefined: all that are not hidden. */
  readonly shown?: readonly (keyof C & string)[] | undefined;
  readonly rows: readonly RowOf<C>[];
  /** Leading columns that say what a row is; undefined: 1. */
  readonly keys?: number | undefined;
  /** Rows that a screen gets; undefined: 20. */
  readonly limit?: number | undefined;
  /** Options of the command that give all rows; undefined: `--format json`. */
  readonly all?: string | undefined;
}

/** A section whose columns and rows fit each other, which the compiler looks at here. */
export function section<const C extends Columns>(given: Section<C>): Section {
  return given as unknown as Section;
}

export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact };

export interface Answer {
  /** One sentence that says it all, for who reads no further. */
  readonly lead: string;
  /** Members of the JSON form before the sections: the run, its verdict, totals. */
  readonly facts: Readonly<Record<string, Fact>>;
  readonly sections: readonly Section[];
  /** What to do next, a sentence each. */
  readonly next?: readonly string[] | undefined;
}
