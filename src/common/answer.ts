/**
 * An answer to a question about published runs, without regard to screens. Columns are declared once, with their types;
 * rows, headings, JSON, CSV and pages follow the declaration.
 */

/** Values of a cell by the kind of its column. Counts are integers below 2^53; instants are in UTC. */
export interface AnswerCellTypes {
  readonly text: string | null;
  /** A name or ID that people type again, so it is never cut. */
  readonly name: string | null;
  readonly count: number | null;
  readonly bytes: number | null;
  readonly milliseconds: number | null;
  readonly flag: boolean | null;
  readonly instant: Date | null;
  readonly list: readonly string[] | null;
}
export type CellKind = keyof AnswerCellTypes;
export type AnswerCell = AnswerCellTypes[CellKind];

export interface AnswerColumn<K extends CellKind = CellKind> {
  readonly kind: K;
  /** Heading; `undefined` means the name with spaces. A column with an empty heading is left out of pages. */
  readonly head?: string | undefined;
  /** Repeats other columns in words, so CSV leaves it out. */
  readonly isWords?: boolean | undefined;
  /** Cell that people see instead, made from its row, such as the ID of a thing without a name. */
  readonly shown?: ((row: Readonly<Record<string, AnswerCell>>) => AnswerCell | undefined) | undefined;
  /** Whether it is never null. */
  readonly required?: boolean | undefined;
  /** All texts that it can have; `undefined` means any. */
  readonly of?: readonly string[] | undefined;
}

export type AnswerColumns = Readonly<Record<string, AnswerColumn>>;

type AnswerCellOf<C extends AnswerColumn> =
  | (C extends { readonly of: readonly (infer Text extends string)[] }
      ? Text
      : NonNullable<AnswerCellTypes[C["kind"]]>)
  | (C extends { readonly required: true } ? never : null);

export type AnswerRow<C extends AnswerColumns> = { readonly [N in keyof C]: AnswerCellOf<C[N]> };

type AnswerColumnSettings = Omit<AnswerColumn, "kind">;
interface ColumnMaker<K extends CellKind> {
  (): { readonly kind: K };
  /** A misspelled setting does not compile. */
  <const O extends AnswerColumnSettings>(
    settings: O & { readonly [N in Exclude<keyof O, keyof AnswerColumnSettings>]: never },
  ): { readonly kind: K } & O;
}
const columnOf =
  <K extends CellKind>(kind: K): ColumnMaker<K> =>
  (options: AnswerColumnSettings = {}) => ({ kind, ...options });

/** Makes columns: `col.count({ head: "unused" })`. */
export const col = {
  text: columnOf("text"),
  name: columnOf("name"),
  count: columnOf("count"),
  bytes: columnOf("bytes"),
  milliseconds: columnOf("milliseconds"),
  flag: columnOf("flag"),
  instant: columnOf("instant"),
  list: columnOf("list"),
} as const;

/** A table of an answer, with its title and rows. */
export interface Section<C extends AnswerColumns = AnswerColumns> {
  /** Name in JSON and anchor in a page. */
  readonly key: string;
  readonly title: string;
  /** Sentence before the table. */
  readonly lead?: string | undefined;
  /** Text instead of a table without rows; `undefined` means "none". If empty, people do not see the section. */
  readonly none?: string | undefined;
  readonly columns: C;
  readonly rows: readonly AnswerRow<C>[];
  /** Columns that people see, in order, of which the first two name a row; `undefined`: all. Programs get all columns. */
  readonly shows?: readonly (keyof C & string)[] | undefined;
  /** Whether a screen shows a table for each text of the first column, under it. */
  readonly isGrouped?: boolean | undefined;
  /** Reads all rows in chunks, if `rows` has only the first; `undefined` if it has all. */
  readonly every?: (() => AsyncIterable<readonly AnswerRow<C>[]>) | undefined;
  /** Number of all rows; `undefined` if `rows` has all. */
  readonly total?: number | undefined;
  /** Rows on a screen (default: 20). With 0 the title is left out too, unless there is a lead. */
  readonly limit?: number | undefined;
  /** For a page: options of the command that shows all rows (default: `--format json`). */
  readonly all?: string | undefined;
  /** Shows rows as lines, not as a table: the last visible column is the text, those before say what it is about. */
  readonly isLines?: boolean | undefined;
}

/** Columns of a section of lines, each a name and a text. */
export const FACT_COLUMNS = {
  name: col.text({ required: true }),
  /** A sentence, or lines to copy. */
  text: col.text({ required: true }),
  /** Whether it needs attention. */
  notable: col.flag(),
} as const satisfies AnswerColumns;

/** Makes a section. The compiler checks that rows fit, and that it shows only columns that it has. */
export function section<const C extends AnswerColumns>(given: Section<C>): Section {
  return given as unknown as Section;
}

type AnswerFact =
  | string
  | number
  | boolean
  | null
  | readonly AnswerFact[]
  | { readonly [name: string]: AnswerFact };

export interface Answer {
  /** One sentence with the essence of the answer. */
  readonly lead: string;
  /** Whether all is well, which screens show by colour; `undefined` if the question was another. */
  readonly isWell?: boolean | undefined;
  /** Whether what was asked about does not exist, so that the command ends with 3. */
  readonly isNothing?: boolean | undefined;
  /** Members of the JSON form before `lead`, `next` and the sections, such as run, verdict and totals. */
  readonly facts: Readonly<Record<string, AnswerFact>>;
  readonly sections: readonly Section[];
  /** Sentences that say what to do next. */
  readonly next?: readonly string[] | undefined;
}
