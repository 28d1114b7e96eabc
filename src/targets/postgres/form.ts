/**
 * The form that a table has in PostgreSQL, which allows fewer columns and shorter names than DuckDB. What does not fit is
 * left out and named in a warning, by the same rule every night.
 */
import { createHash } from "node:crypto";
import { counted } from "../../common/figures.ts";
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
  /** What is not as it is in the run, as parts of a sentence. */
  readonly notes: readonly string[];
}

export function formOf(table: Table): TableForm {
  const keyed = new Set(table.key);
  const all = table.columns.map((column, at) => ({ ...column, at }));
  const ordered = [
    ...all.filter(({ name }) => keyed.has(name)),
    ...all.filter(({ name }) => !keyed.has(name)),
  ];
  const taken = new Set(ordered.slice(0, MAX_COLUMNS).map(({ name }) => name));
  const columns = all.filter(({ name }) => taken.has(name));
  return {
    name: nameIn(table.name),
    comment: table.comment,
    columns: columns.map((column) => ({ ...column, name: nameIn(column.name) })),
    key: table.key.map(nameIn),
    notes: [
      ...leftOut(all.filter(({ name }) => !taken.has(name))),
      ...renamed([table.name, ...columns.map(({ name }) => name)]),
    ],
  };
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

const NAMED = 5;

function leftOut(columns: readonly Column[]): string[] {
  if (columns.length === 0) return [];
  const why = `a table has ${MAX_COLUMNS} at most`;
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
