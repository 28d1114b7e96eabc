/** Where a published run holds something of a person: by table, which cells become NULL or another text. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { TEST_PREFIX } from "../audit/checks/checks.ts";
import { all, scalar } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { DATA_TABLES, TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import { checks } from "../tables/run.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import {
  fromTable,
  openTables,
  type PublishedFiles,
  sourceOf,
  type TablesSource,
} from "../warehouse/published-tables.ts";
import { examplesIn, FACTS } from "./facts.ts";
import type { Identity, Person } from "./person.ts";

/** Rows in SQL. */
export interface Source {
  /** What stands after FROM. */
  readonly from: string;
  /** What says where a row stands. */
  readonly place: string;
}

export interface SourceColumn {
  readonly name: string;
  /** As DuckDB names it. */
  readonly type: string;
}

/** What replaces a cell's text; `null`: nothing. `unknownFields`: of a raw document. */
export interface NewText {
  readonly text: string | null;
  readonly unknownFields: number | null;
}

/** What is to change in one file, or in a table of a database. */
export interface Erasure {
  /** Columns that become NULL in the rows of the person, which `userColumn` names. */
  readonly nulled: { readonly userColumn: string; readonly columns: readonly string[] } | undefined;
  /** Texts by column: the old one to the new. */
  readonly cells: ReadonlyMap<string, ReadonlyMap<string, NewText>>;
  /** Rows that change. */
  readonly rows: number;
}

/** What is to change in a run, as numbers of rows; what is not named stays as it is. */
export interface RunErasure {
  /** By table. */
  readonly tables: ReadonlyMap<string, number>;
  /** By raw file, as a path below the run's folder. */
  readonly raw: ReadonlyMap<string, number>;
}

const limits = (temporaryDirectory: string) => ({
  temporaryDirectory,
  memoryLimitMb: 224,
  threads: 2,
});

export const fileSource = (file: string): Source => ({ from: readParquet([file]), place: "file_row_number" });

export async function columnsOf(connection: DuckDBConnection, from: string): Promise<SourceColumn[]> {
  const rows = await all(connection, `DESCRIBE SELECT * FROM ${from}`);
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

const USERS = "users";

/** Columns that hold users. */
const OF_USERS = DATA_TABLES.flatMap(({ name, key, references }) => {
  const own = name === USERS ? key : [];
  const others = references.filter(({ table }) => table === USERS).flatMap(({ columns }) => columns);
  return [...own, ...others].map((column) => ({ table: name, column }));
});
/** Keys of tables that are not about users. */
const KEYS = DATA_TABLES.flatMap(({ name, key: [column, ...more] }) =>
  name === USERS || column === undefined || more.length > 0 ? [] : [{ table: name, column }],
);

/** Whose an ID is, as the tables of a run have it. */
export async function identify(
  published: PublishedFiles,
  id: string,
  temporaryDirectory: string,
): Promise<Identity> {
  const source = sourceOf(published);
  await using database = await openTables(source, limits(temporaryDirectory));
  const { connection } = database;
  const tableWithId = async (places: typeof OF_USERS) => {
    for (const { table, column } of places.filter((each) =>
      Object.hasOwn(published.manifest.rows, each.table),
    )) {
      const from = fromTable(source, table);
      const columns = await columnsOf(connection, from);
      if (!columns.some(({ name }) => name === column)) continue;
      const query = `SELECT count(*) FROM ${from} WHERE CAST(${quoteIdentifier(column)} AS VARCHAR) = $1`;
      if ((await scalar(connection, query, [id])) > 0) return table;
    }
    return undefined;
  };
  return { user: (await tableWithId(OF_USERS)) !== undefined, otherTable: await tableWithId(KEYS) };
}

type SearchedRun = PublishedFiles & { readonly manifest: Pick<Manifest, "personalData"> };

/**
 * Searches a run, and notes in `person` whatever its descriptions say of them: search all runs twice. Memory holds what
 * one file has of the person.
 */
export async function searchRun(
  published: SearchedRun,
  person: Person,
  temporaryDirectory: string,
): Promise<RunErasure> {
  const { directory, manifest } = published;
  const source = sourceOf(published);
  await using database = await openTables(source, limits(temporaryDirectory));
  const { connection } = database;
  const { policy } = manifest.personalData;
  const tables = new Map<string, number>();
  for (const table of Object.keys(manifest.rows)) {
    let rows = 0;
    for (const part of partsOf(source, table)) {
      rows += (await searchTable(connection, part, { name: table, policy }, person)).rows;
    }
    if (rows > 0) tables.set(table, rows);
  }
  const raw = new Map<string, number>();
  for (const { path } of manifest.files.filter((file) => file.path.startsWith("raw/"))) {
    const rows = await searchRawFile(connection, { directory, path, policy }, person);
    if (rows > 0) raw.set(path, rows);
  }
  return { tables, raw };
}

interface RawFile extends Pick<TableOfRun, "policy"> {
  readonly directory: string;
  readonly path: string;
}

/** How many rows of a file of raw documents have something of the person. */
async function searchRawFile(
  connection: DuckDBConnection,
  { directory, path, policy }: RawFile,
  person: Person,
): Promise<number> {
  if (path === FACTS) return examplesIn(directory, person);
  const [source, table] = [fileSource(join(directory, path)), tableOf(path)];
  const erasure = await (table === undefined
    ? searchRaw(connection, source, person)
    : searchTable(connection, source, { name: table, policy }, person));
  return erasure.rows;
}

/** The table whose rows a file of a run has; undefined: they are raw documents, or no rows. */
export function tableOf(path: string): string | undefined {
  const note = /^raw\/(requests|rejects)-/.exec(path)?.[1];
  return note === undefined ? /^parquet\/([^/]+)\//.exec(path)?.[1] : `run_${note}`;
}

/** Whether a file in `raw/` has documents, and not what the run noted of them. */
export function isOfDocuments(path: string): boolean {
  return path !== FACTS && tableOf(path) === undefined;
}

function partsOf(source: TablesSource, table: string): Source[] {
  return source.database === undefined
    ? source.filesOf(table).map(fileSource)
    : [{ from: fromTable(source, table), place: "rowid" }];
}

/** A table of a run, which treated personal data by the policy. */
export interface TableOfRun {
  readonly name: string;
  readonly policy: Manifest["personalData"]["policy"];
}

/** What is to change in a table, or in one of its files. */
export async function searchTable(
  connection: DuckDBConnection,
  source: Source,
  { name, policy }: TableOfRun,
  person: Person,
): Promise<Erasure> {
  const table = TABLES.find((each) => each.name === name);
  const columns = await columnsOf(connection, source.from);
  const declared = table === undefined ? undefined : userColumnOf(table);
  const userColumn = columns.find((column) => column.name === declared)?.name;
  if (name === checks.name) return searchChecks(connection, source, { columns, person, policy });
  const found = new Found(connection, source);
  if (table !== undefined && userColumn !== undefined)
    await found.lookAtOwn({ table, columns, userColumn }, person);
  for (const { name: column } of columns.filter((each) => mayHoldPeople(table, each))) {
    if (name === "run_drift") {
      // Examples are cut: all are looked at, for the person's mark may be cut off.
      await found.look({ column, beside: "path" }, (example, path) =>
        person.isShownBy(example, path) ? { text: null, unknownFields: null } : undefined,
      );
    } else {
      await found.look({ column, marks: person.marks() }, (text) => {
        const left = person.fromCell(text);
        if (left === undefined) return undefined;
        return { text: left ?? nothing(table, column, text), unknownFields: null };
      });
    }
  }
  return found.erasure();
}

/** In SQL: a check that shows rows of a query of the user's. Those of other checks have IDs alone. */
export const SHOWS_ROWS = `examples IS NOT NULL AND starts_with(check_name, ${quoteLiteral(TEST_PREFIX)})`;

/**
 * A query may have changed how a detail looks, or taken it from the run before, so that nobody can find it: where tables
 * hold personal data, all such rows may be the person's.
 */
async function searchChecks(
  connection: DuckDBConnection,
  { from }: Source,
  { columns, person, policy }: Checked,
): Promise<Erasure> {
  const nothing = { nulled: undefined, cells: new Map() };
  // Earlier versions show none.
  if (!columns.some(({ name }) => name === "examples")) return { ...nothing, rows: 0 };
  // Every text has the empty one.
  const marks = policy === "drop" ? person.marks() : [""];
  const mentions = marks.map((_, index) => `contains(CAST(examples AS VARCHAR), $${index + 1})`);
  const sql = `SELECT count(*) FROM ${from} WHERE ${SHOWS_ROWS} AND (${mentions.join(" OR ")})`;
  return { ...nothing, rows: await scalar(connection, sql, marks) };
}

interface Checked extends Pick<TableOfRun, "policy"> {
  readonly columns: readonly SourceColumn[];
  readonly person: Person;
}

/** What is to change in a raw file. */
export async function searchRaw(
  connection: DuckDBConnection,
  source: Source,
  person: Person,
): Promise<Erasure> {
  const found = new Found(connection, source);
  await found.look({ column: "document", beside: "shape", marks: person.marks() }, (text, shape) =>
    person.fromDocument(text, shape),
  );
  return found.erasure();
}

interface Looked {
  readonly column: string;
  /** Column of what is told with the text. */
  readonly beside?: string;
  /** Of which a text has one; all texts without them. */
  readonly marks?: readonly string[];
}

/** Cells that change, and the rows that they stand in. */
class Found {
  readonly #connection: DuckDBConnection;
  readonly #source: Source;
  #nulled: Erasure["nulled"];
  readonly #cells = new Map<string, Map<string, NewText>>();
  readonly #places = new Set<unknown>();

  constructor(connection: DuckDBConnection, source: Source) {
    this.#connection = connection;
    this.#source = source;
  }

  /** Looks at the rows of a table that are the person's own. */
  async lookAtOwn({ table, columns, userColumn }: Described, person: Person): Promise<void> {
    const personal = new Set(table.columns.filter((column) => column.personal).map((column) => column.name));
    const nulled = columns.map(({ name }) => name).filter((name) => personal.has(name) || name === "extra");
    if (nulled.length === 0) return;
    this.#nulled = { userColumn, columns: nulled };
    const { from, place } = this.#source;
    const list = nulled.map(quoteIdentifier).join(", ");
    const own = `SELECT ${place} AS place, ${list} FROM ${from} WHERE ${quoteIdentifier(userColumn)} = $1`;
    for (const row of await all(this.#connection, own, [person.id])) {
      for (const name of nulled) person.note(name, name === "extra" ? jsonObject(row[name]) : row[name]);
      if (nulled.some((name) => row[name] !== null)) this.#places.add(row.place);
    }
  }

  /** Looks at the texts of a column, whosever the row. `leave`: what is left of one; undefined: all. */
  async look(
    { column, beside = "NULL", marks }: Looked,
    leave: (text: string, beside: string) => NewText | undefined,
  ): Promise<void> {
    const { from, place } = this.#source;
    const cell = `CAST(${quoteIdentifier(column)} AS VARCHAR)`;
    const mentions = marks?.map((_, index) => `contains(${cell}, $${index + 1})`).join(" OR ");
    const query = `SELECT ${place} AS place, ${beside} AS beside, ${cell} AS text FROM ${from} WHERE ${mentions ?? `${cell} IS NOT NULL`}`;
    const cells = this.#cells.get(column) ?? new Map<string, NewText>();
    for (const row of await all(this.#connection, query, marks)) {
      const text = String(row.text);
      const left = leave(text, String(row.beside));
      if (left === undefined) continue;
      cells.set(text, left);
      this.#places.add(row.place);
    }
    if (cells.size > 0) this.#cells.set(column, cells);
  }

  erasure(): Erasure {
    return { nulled: this.#nulled, cells: this.#cells, rows: this.#places.size };
  }
}

/** The column that says whose a row is, of tables that describe people. */
function userColumnOf(table: Table): string | undefined {
  const reference =
    table.name === USERS ? table.key[0] : table.references.find((each) => each.table === USERS)?.columns[0];
  const describes = table.columns.some((column) => column.personal) || table.key[0] === reference;
  return describes ? reference : undefined;
}

/** JSON of ours, and every text of tables and columns that nobody here declared. */
function mayHoldPeople(table: Table | undefined, { name, type }: SourceColumn): boolean {
  if (table?.name === "run_drift") return name === "example";
  const declared = table?.columns.find((column) => column.name === name);
  return declared === undefined ? type === "VARCHAR" || type === "JSON" : declared.type === "json";
}

interface Described {
  readonly table: Table;
  readonly columns: readonly SourceColumn[];
  readonly userColumn: string;
}

function jsonObject(cell: unknown): unknown {
  return typeof cell === "string" ? JSON.parse(cell) : cell;
}

/** What stands for nothing in a cell: of a column that nobody here declared, it may be that NULL is not allowed. */
function nothing(table: Table | undefined, column: string, text: string): string | null {
  if (table?.columns.find((each) => each.name === column)?.nullable === true) return null;
  return text.startsWith('"') ? "null" : "";
}
