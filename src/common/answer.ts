/**
 * An answer to a question: what a function finds in published runs, for whoever draws it. It knows nothing of screens.
 * Columns are declared once, with their types: rows, headings, JSON, CSV and pages all come from the declaration.
 */

/** What a cell holds. Counts are whole and exact as a number; an instant is in UTC. */
export interface CellTypes {
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
export type AnswerCell = CellTypes[CellKind];

export interface AnswerColumn<K extends CellKind = CellKind> {
  readonly kind: K;
  /** What people read above it; undefined: its name, with blanks; empty: a mark, which a page goes without. */
  readonly head?: string | undefined;
  /** In JSON and CSV alone. */
  readonly hidden?: boolean | undefined;
  /** What other columns say too, in words: CSV goes without it. */
  readonly isWords?: boolean | undefined;
  /** Column of the same section that stands in where this one is empty: the ID of a thing without a name. */
  readonly standIn?: string | undefined;
  /** Column of the same section whose text people see in brackets where it differs: what the value is shown as elsewhere. */
  readonly beside?: string | undefined;
  /**
   * A narrow screen goes without it, the highest number first: an ID, or what other columns say too. The others are made
   * narrower then, and only where nothing else helps they go, the last one first, instants and figures last.
   */
  readonly dispensable?: number | undefined;
  /** Whether it is never empty; of a flag: what is not known is false. */
  readonly required?: boolean | undefined;
  /** Whether a page marks what needs attention among its words: `unmapped`, `failed`. */
  readonly judged?: boolean | undefined;
  /** All that a text may be; undefined: anything. */
  readonly of?: readonly string[] | undefined;
}

export type AnswerColumns = Readonly<Record<string, AnswerColumn>>;

type Known<C extends AnswerColumn> = C extends { readonly of: readonly (infer Text extends string)[] }
  ? Text | null
  : CellTypes[C["kind"]];
type AnswerCellOf<C extends AnswerColumn> = C extends { readonly required: true }
  ? NonNullable<Known<C>>
  : Known<C>;

export type AnswerRow<C extends AnswerColumns> = { readonly [N in keyof C]: AnswerCellOf<C[N]> };

type ColumnSettings = Omit<AnswerColumn, "kind">;
/** Without it a misspelled option would be taken, and do nothing. */
type NoOthers<O extends ColumnSettings> = { readonly [N in Exclude<keyof O, keyof ColumnSettings>]: never };
interface MakeColumn<K extends CellKind> {
  (): { readonly kind: K };
  <const O extends ColumnSettings>(options: O & NoOthers<O>): { readonly kind: K } & O;
}
const columnOf =
  <K extends CellKind>(kind: K): MakeColumn<K> =>
  (options: ColumnSettings = {}) => ({ kind, ...options });

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
export interface Section<C extends AnswerColumns = AnswerColumns> {
  /** Its name in JSON, and its address in a page. */
  readonly key: string;
  readonly title: string;
  /** One sentence that says what there is, before the table. */
  readonly lead?: string | undefined;
  /** Said in place of a table without rows; undefined: "none"; empty: people do not see the section then. */
  readonly none?: string | undefined;
  /** In their order, for people too, who do not see the hidden ones. */
  readonly columns: C;
  readonly rows: readonly AnswerRow<C>[];
  /**
   * Heading of a second table for people, of the rows whose `reception` is not `receiving`: destinations that receive no
   * values. Undefined: all rows are one table.
   */
  readonly apart?: string | undefined;
  /** All rows, some at a time, where `rows` has the first ones alone; undefined: it has all. */
  readonly every?: (() => AsyncIterable<readonly AnswerRow<C>[]>) | undefined;
  /** How many rows there are; undefined: those in `rows`. */
  readonly total?: number | undefined;
  /** Rows that a screen gets; undefined: 20; 0: none, and no title unless there is a leading sentence. */
  readonly limit?: number | undefined;
  /** For a page: options of the command that give all rows; undefined: `--format json`. */
  readonly all?: string | undefined;
  /** Rows are told line by line and not as a table: the last column that people see is a text, those before say what of. */
  readonly isLines?: boolean | undefined;
}

/** Columns of a section that tells its rows line by line, each a name and a text. */
export const FACT_COLUMNS = {
  name: col.text({ required: true }),
  /** A sentence, or lines to copy. */
  text: col.text({ required: true }),
  /** Whether it is worth a look. */
  notable: col.flag({ hidden: true }),
} as const satisfies AnswerColumns;

/** Columns that others name are of the same section. */
type Naming<C extends AnswerColumns> = {
  readonly [N in keyof C]: AnswerColumn & {
    readonly [O in "standIn" | "beside"]?: (keyof C & string) | undefined;
  };
};

/** A section whose columns and rows fit each other, which the compiler looks at here. */
export function section<const C extends AnswerColumns>(
  given: Section<C> & { readonly columns: Naming<C> },
): Section {
  return given as unknown as Section;
}

export type AnswerFact =
  | string
  | number
  | boolean
  | null
  | readonly AnswerFact[]
  | { readonly [name: string]: AnswerFact };

export interface Answer {
  /** One sentence that says it all, for who reads no further. */
  readonly lead: string;
  /** Whether all is well, which a screen says in colour; undefined: that is not what was asked. */
  readonly isWell?: boolean | undefined;
  /** Members of the JSON form before `lead`, `next` and the sections: the run, its verdict, totals. */
  readonly facts: Readonly<Record<string, AnswerFact>>;
  readonly sections: readonly Section[];
  /** What to do next, a sentence each. */
  readonly next?: readonly string[] | undefined;
}
