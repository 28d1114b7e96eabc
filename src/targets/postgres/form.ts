/**
 * The form that a table has in PostgreSQL: its limits of names, of columns and of rows are narrower than DuckDB's. What
 * does not fit is left out and said, by the same rule every night, so that a run is delivered whatever its values are.
 */
import { createHash } from "node:crypto";
import { counted } from "../../common/figures.ts";
import type { LoadTable } from "../../pipeline.ts";
import type { Cell } from "../../storage/table-builder.ts";
import type { Column, Table } from "../../tables/declare.ts";

/** A column by its place among the run's, and by its name in PostgreSQL. */
export interface FormColumn extends Column {
  readonly at: number;
}

export interface TableForm {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly FormColumn[];
  readonly key: readonly string[];
  /** Of an index each. */
  readonly indexed: readonly (readonly string[])[];
  /** What is not as it is in the run, as parts of a sentence. */
  readonly notes: readonly string[];
}

export async function formOf({ table, cells }: Pick<LoadTable, "table" | "cells">): Promise<TableForm> {
  const keyed = new Set(table.key);
  const all = table.columns.map((column, at) => ({ ...column, at }));
  const ordered = [
    ...all.filter(({ name }) => keyed.has(name)),
    ...all.filter(({ name }) => !keyed.has(name)),
  ];
  const candidates = ordered.slice(0, MAX_COLUMNS);
  const fitting =
    candidates.length <= ALWAYS_FIT ? candidates.length : await columnsThatFit(candidates, cells());
  const taken = new Set(candidates.slice(0, fitting).map(({ name }) => name));
  const columns = all.filter(({ name }) => taken.has(name));
  return {
    name: nameIn(table.name),
    comment: table.comment,
    columns: columns.map((column) => ({ ...column, name: nameIn(column.name) })),
    key: table.key.map(nameIn),
    indexed: indexed(table)
      .filter((names) => names.every((name) => taken.has(name)))
      .map((names) => names.map(nameIn)),
    notes: [
      ...leftOut(
        all.filter(({ name }) => !taken.has(name)),
        fitting < candidates.length,
      ),
      ...renamed([table.name, ...columns.map(({ name }) => name)]),
    ],
  };
}

/** Columns that name rows of other tables, once each, without those that the key begins with: its index serves them. */
function indexed({ key, references }: Table): readonly (readonly string[])[] {
  const byNames = new Map(references.map(({ columns }) => [columns.join(), columns]));
  return [...byNames.values()].filter((columns) => columns.some((name, at) => key[at] !== name));
}

const MAX_NAME_BYTES = 63;
const DIGEST_DIGITS = 8;
/** Columns that every table of PostgreSQL has of its own. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]);

/**
 * A name as PostgreSQL can have it. It would cut a long one, and two that begin alike would be one: its end is a digest
 * of the whole name, so that it is the same every night, whatever else there is.
 */
function nameIn(name: string): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= MAX_NAME_BYTES && !SYSTEM_COLUMNS.has(name)) return name;
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, DIGEST_DIGITS);
  const room = MAX_NAME_BYTES - DIGEST_DIGITS - 1;
  // A character that was cut in two is at the end alone.
  const beginning = bytes
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, "");
  return `${beginning}_${digest}`;
}

const MAX_COLUMNS = 1600;
const PAGE_BYTES = 8160;
const HEADER_BYTES = 23;
/** A text that is longer lies elsewhere, and the row has a pointer. */
const MAX_INLINE_BYTES = 24;
const POINTER_BYTES = 18;
/** So many columns fit whatever they have. */
const ALWAYS_FIT = Math.floor((PAGE_BYTES - 2 * HEADER_BYTES - MAX_COLUMNS / 8) / MAX_INLINE_BYTES);

/** Of a value in a row, which also begins at a multiple of it; undefined: of a text, which begins anywhere. */
const BYTES: Readonly<Record<Column["type"], number | undefined>> = {
  text: undefined,
  json: undefined,
  boolean: 1,
  integer: 4,
  date: 4,
  bigint: 8,
  double: 8,
  timestamp: 8,
};

/** How many of the columns, from the first one, fit into a page in every row. */
async function columnsThatFit(
  columns: readonly FormColumn[],
  rows: AsyncIterable<readonly Cell[]>,
): Promise<number> {
  const room = PAGE_BYTES - aligned(HEADER_BYTES + Math.ceil(columns.length / 8), 8);
  let fitting = columns.length;
  for await (const row of rows) {
    let end = 0;
    for (const [place, column] of columns.slice(0, fitting).entries()) {
      end = endOf(column, row[column.at] ?? null, end);
      if (end > room) fitting = place;
      if (end > room) break;
    }
  }
  return fitting;
}

function endOf({ type }: Column, cell: Cell, begin: number): number {
  if (cell === null) return begin;
  const bytes = BYTES[type];
  if (bytes !== undefined) return aligned(begin, bytes) + bytes;
  const text = String(cell);
  const inline = text.length < MAX_INLINE_BYTES ? Buffer.byteLength(text) + 1 : POINTER_BYTES;
  return begin + (inline > MAX_INLINE_BYTES ? POINTER_BYTES : inline);
}

function aligned(begin: number, bytes: number): number {
  return Math.ceil(begin / bytes) * bytes;
}

const NAMED = 5;

function leftOut(columns: readonly Column[], isRowTooLong: boolean): string[] {
  if (columns.length === 0) return [];
  const why = isRowTooLong ? `a row has no room for more` : `a table has ${MAX_COLUMNS} at most`;
  return [
    `${counted(columns.length, "column")} left out, since ${why} (${named(columns.map(({ name }) => name))})`,
  ];
}

function renamed(names: readonly string[]): string[] {
  const changed = names.filter((name) => nameIn(name) !== name);
  if (changed.length === 0) return [];
  const pairs = changed.map((name) => `${name} is ${nameIn(name)}`);
  return [`${counted(changed.length, "name")} changed, since it has none like that (${named(pairs)})`];
}

function named(names: readonly string[]): string {
  return names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ", ..." : "");
}
