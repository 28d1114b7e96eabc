/** Where a published run holds something of a person: by table, which cells become NULL or another text. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { DATABASE_FILE } from "../run/directory.ts";
import type { Manifest } from "../run/manifest.ts";
import { TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import { all, type Database, figure, openForReading, openForScanning } from "./duckdb.ts";
import { readParquet } from "./parquet.ts";
import type { Person } from "./purge-person.ts";
import { quoteIdentifier } from "./sql-text.ts";

/** What replaces a cell's text; `null`: nothing. `unknownFields`: of a raw document. */
export interface NewText {
  readonly text: string | null;
  readonly unknownFields: number | null;
}

/** What is to change in a table, or in the raw files of a folder. */
export interface Erasure {
  readonly table: string;
  /** Columns that become NULL in the rows of the person, which `userColumn` names. */
  readonly nulled: { readonly userColumn: string; readonly columns: readonly string[] } | undefined;
  /** Texts by column: the old one to the new. */
  readonly cells: ReadonlyMap<string, ReadonlyMap<string, NewText>>;
  /** Rows that change. */
  readonly rows: number;
}

/** What is to change in a run. Tables and raw files that are not named stay as they are. */
export interface RunErasure {
  readonly tables: ReadonlyMap<string, Erasure>;
  /** Raw files by their path below the run's folder. */
  readonly raw: ReadonlyMap<string, Erasure>;
  /** Whether the run knows the user's ID at all. */
  readonly named: boolean;
}

export interface PublishedFiles {
  readonly directory: string;
  readonly manifest: Pick<Manifest, "loaders" | "rows">;
}

const LIMITS = { memoryLimitMb: 224, threads: 2 };
const USERS = "users";

/** Searches a run, and notes in `person` whatever its descriptions say of them: search all runs twice. */
export async function searchRun(
  published: PublishedFiles,
  person: Person,
  temporaryDirectory: string,
): Promise<RunErasure> {
  await using reader = await openRun(published, temporaryDirectory);
  const tables = new Map<string, Erasure>();
  for (const name of Object.keys(published.manifest.rows)) {
    const erasure = await searchTable(reader, name, person);
    if (erasure.rows > 0) tables.set(name, erasure);
  }
  const named = await isNamed(reader, published, person);
  await using scanner = await openForScanning({
    allowedDirectories: [published.directory],
    temporaryDirectory,
    ...LIMITS,
  });
  const raw = new Map<string, Erasure>();
  for (const path of await rawFiles(published.directory)) {
    const source = readParquet([join(published.directory, path)]);
    const cells = await documents(scanner.connection, source, person);
    const rows = await matching(scanner.connection, source, cells);
    if (rows > 0) raw.set(path, { table: path, nulled: undefined, cells, rows });
  }
  return { tables, raw, named };
}

interface RunReader extends AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly source: (table: string) => Promise<string>;
}

/** The tables of a run: of its database or, where there is none, of its Parquet files. */
async function openRun(published: PublishedFiles, temporaryDirectory: string): Promise<RunReader> {
  const { directory, manifest } = published;
  const limits = { temporaryDirectory, ...LIMITS };
  const database: Database = manifest.loaders.includes("duckdb")
    ? await openForReading({ file: join(directory, DATABASE_FILE), allowedDirectories: [], ...limits })
    : await openForScanning({ allowedDirectories: [directory], ...limits });
  return {
    connection: database.connection,
    source: async (table) =>
      manifest.loaders.includes("duckdb")
        ? quoteIdentifier(table)
        : readParquet(await tableFiles(directory, table)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** Parquet files of a table, as absolute paths, in order. */
export async function tableFiles(directory: string, table: string): Promise<string[]> {
  const folder = join(directory, "parquet", table);
  return (await readdir(folder)).toSorted().map((name) => join(folder, name));
}

/** Raw files of a run, below its folder. */
async function rawFiles(directory: string): Promise<string[]> {
  const folder = join(directory, "raw");
  if (!existsSync(folder)) return [];
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => name.endsWith(".parquet"))
    .toSorted()
    .map((name) => join("raw", name));
}

export interface SourceColumn {
  readonly name: string;
  /** As DuckDB names it. */
  readonly type: string;
  readonly nullable: boolean;
}

export async function columnsOf(connection: DuckDBConnection, source: string): Promise<SourceColumn[]> {
  const rows = await all(connection, `DESCRIBE SELECT * FROM ${source}`);
  return rows.map((row) => ({
    name: String(row.column_name),
    type: String(row.column_type),
    nullable: row.null !== "NO",
  }));
}

async function searchTable(reader: RunReader, name: string, person: Person): Promise<Erasure> {
  const { connection } = reader;
  const source = await reader.source(name);
  const table = TABLES.find((each) => each.name === name);
  const columns = await columnsOf(connection, source);
  const declared = table === undefined ? undefined : userColumnOf(table);
  const userColumn = columns.find((column) => column.name === declared)?.name;
  if (table !== undefined && userColumn !== undefined) {
    return searchPeople(connection, { table, source, columns, userColumn }, person);
  }
  const cells = new Map<string, Map<string, NewText>>();
  for (const column of columns.filter((each) => mayHoldPeople(table, each))) {
    const found =
      name === "_drift"
        ? await shownExamples(connection, source, person)
        : await cellsOf(connection, source, column, person);
    if (found.size > 0) cells.set(column.name, found);
  }
  return { table: name, nulled: undefined, cells, rows: await matching(connection, source, cells) };
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
  if (table?.name === "_drift") return name === "example";
  const declared = table?.columns.find((column) => column.name === name);
  return declared === undefined ? type === "VARCHAR" || type === "JSON" : declared.type === "json";
}

interface People {
  readonly table: Table;
  readonly source: string;
  readonly columns: readonly SourceColumn[];
  readonly userColumn: string;
}

async function searchPeople(
  connection: DuckDBConnection,
  { table, source, columns, userColumn }: People,
  person: Person,
): Promise<Erasure> {
  const personal = new Set(table.columns.filter((column) => column.personal).map((column) => column.name));
  const nulled = columns.map(({ name }) => name).filter((name) => personal.has(name) || name === "extra");
  const list = nulled.map(quoteIdentifier);
  const own = `FROM ${source} WHERE ${quoteIdentifier(userColumn)} = $1`;
  for (const row of nulled.length === 0
    ? []
    : await all(connection, `SELECT ${list.join(", ")} ${own}`, [person.id])) {
    for (const name of nulled) person.note(name, name === "extra" ? jsonObject(row[name]) : row[name]);
  }
  const filled = list.map((name) => `${name} IS NOT NULL`).join(" OR ");
  const rows =
    nulled.length === 0 ? 0 : await figure(connection, `SELECT count(*) ${own} AND (${filled})`, [person.id]);
  return { table: table.name, nulled: { userColumn, columns: nulled }, cells: new Map(), rows };
}

function jsonObject(cell: unknown): unknown {
  return typeof cell === "string" ? JSON.parse(cell) : cell;
}

/** `contains(x, $1) OR contains(x, $2)`: whether a text may have something of the person. */
function mentions(column: string, marks: readonly string[]): string {
  return marks.map((_, index) => `contains(${column}, $${index + 1})`).join(" OR ");
}

async function distinctTexts(
  connection: DuckDBConnection,
  source: string,
  column: string,
  person: Person,
): Promise<string[]> {
  const text = `CAST(${quoteIdentifier(column)} AS VARCHAR)`;
  const marks = person.marks();
  const rows = await all(
    connection,
    `SELECT DISTINCT ${text} AS found FROM ${source} WHERE ${mentions(text, marks)}`,
    marks,
  );
  return rows.map(({ found }) => String(found));
}

async function cellsOf(
  connection: DuckDBConnection,
  source: string,
  column: SourceColumn,
  person: Person,
): Promise<Map<string, NewText>> {
  const cells = new Map<string, NewText>();
  for (const text of await distinctTexts(connection, source, column.name, person)) {
    const left = person.fromCell(text);
    if (left !== undefined) cells.set(text, { text: left ?? nothing(column), unknownFields: null });
  }
  return cells;
}

/** What stands for nothing in a column. */
function nothing({ nullable, type }: SourceColumn): string | null {
  if (nullable) return null;
  return type === "JSON" ? "null" : "";
}

/** Examples are cut: all are looked at, for the person's mark may be cut off. */
async function shownExamples(
  connection: DuckDBConnection,
  source: string,
  person: Person,
): Promise<Map<string, NewText>> {
  const rows = await all(connection, `SELECT path, example FROM ${source} WHERE example IS NOT NULL`);
  const shown = rows.filter((row) => person.isShownBy(String(row.example), String(row.path)));
  return new Map(shown.map((row) => [String(row.example), { text: null, unknownFields: null }]));
}

async function documents(
  connection: DuckDBConnection,
  source: string,
  person: Person,
): Promise<Map<string, Map<string, NewText>>> {
  const marks = person.marks();
  const rows = await all(
    connection,
    `SELECT DISTINCT shape, CAST(document AS VARCHAR) AS document FROM ${source} WHERE ${mentions("document", marks)}`,
    marks,
  );
  const cells = new Map<string, NewText>();
  for (const { shape, document } of rows) {
    const left = person.fromDocument(String(document), shape === "full" ? "full" : "dynamic");
    if (left !== undefined) cells.set(String(document), left);
  }
  return cells.size === 0 ? new Map() : new Map([["document", cells]]);
}

/** Rows in which one of the cells stands. */
async function matching(
  connection: DuckDBConnection,
  source: string,
  cells: ReadonlyMap<string, ReadonlyMap<string, NewText>>,
): Promise<number> {
  if (cells.size === 0) return 0;
  const params: string[] = [];
  const conditions = [...cells].map(([column, texts]) => {
    const places = [...texts.keys()].map((text) => `$${params.push(text)}`);
    return `CAST(${quoteIdentifier(column)} AS VARCHAR) IN (${places.join(", ")})`;
  });
  return figure(connection, `SELECT count(*) FROM ${source} WHERE ${conditions.join(" OR ")}`, params);
}

/** Whether any table has the ID where it has users. */
async function isNamed(reader: RunReader, { manifest }: PublishedFiles, person: Person): Promise<boolean> {
  for (const name of Object.keys(manifest.rows)) {
    const table = TABLES.find((each) => each.name === name);
    const references = (table?.references ?? []).filter((each) => each.table === USERS);
    const wanted = name === USERS ? (table?.key ?? []) : references.flatMap((each) => each.columns);
    if (wanted.length === 0) continue;
    const source = await reader.source(name);
    const there = new Set((await columnsOf(reader.connection, source)).map((column) => column.name));
    for (const column of wanted.filter((each) => there.has(each))) {
      const query = `SELECT count(*) FROM ${source} WHERE ${quoteIdentifier(column)} = $1`;
      if ((await figure(reader.connection, query, [person.id])) > 0) return true;
    }
  }
  return false;
}
