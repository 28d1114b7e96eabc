/** Makes a run anew without what is to be erased: another database file, other Parquet files of what changes. */
import { copyFile, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { linkTo, readTree } from "../common/tree.ts";
import { rawDocuments } from "../load/run-documents.ts";
import { createViewsOver } from "../load/views.ts";
import { itemFilesIn } from "../raw/read-raw.ts";
import {
  all,
  execute,
  openForBuilding,
  openForScanning,
  PREVIOUS_CATALOG,
  type Query,
} from "../storage/duckdb.ts";
import { PARQUET_OPTIONS, readParquet } from "../storage/parquet-sql.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { isAboutTheRun, TABLES } from "../tables/all.ts";
import { documents } from "../tables/run.ts";
import { DATABASE_FILE, databaseOf, type StagingFolder } from "../warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest } from "../warehouse/manifest.ts";
import type { PublishedFiles } from "../warehouse/published-tables.ts";
import type { NewNames } from "../warehouse/replacement/numbers.ts";
import { renamedCells, renumbered } from "../warehouse/replacement/renamed.ts";
import { FACTS, rewriteFacts } from "./facts.ts";
import type { Person } from "./person.ts";
import {
  columnsOf,
  type Erasure,
  fileSource,
  type RunErasure,
  SHOWS_ROWS,
  type Source,
  type SourceColumn,
  searchRaw,
  searchTable,
  tableOf,
} from "./search.ts";

export interface Rewriting {
  readonly from: PublishedFiles & {
    readonly sequence: number;
    readonly manifest: Pick<Manifest, "emptyColumns" | "personalData">;
  };
  readonly to: StagingFolder;
  readonly erasure: RunErasure;
  readonly person: Person;
  /** Names of all runs that this erase numbers anew, to their new ones: the histories name them, also those long gone. */
  readonly renamed: NewNames;
  readonly threads: number;
}

const MEMORY_LIMIT_MB = 224;

/** Makes the result of `to` from that of `from`; all but the manifest. Nothing erased ever stands in a file of it. */
export async function rewriteRun(rewriting: Rewriting): Promise<void> {
  const { from, to } = rewriting;
  for (const path of [to.result, to.temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
  const files = (await readTree(from.directory)).files.map((file) => relative(from.directory, file));
  await rewriteFiles(rewriting, files);
  if (from.manifest.loaders.includes("duckdb")) await rewriteDatabase(rewriting);
  if (files.includes(REPORT)) await rewriteReport(rewriting);
}

const REPORT = "report.html";

/**
 * The page tells of the tables, so it is made from the new ones. Nothing of other runs goes into it: they may still show
 * the person, and their numbers change.
 */
async function rewriteReport({ from, to }: Rewriting): Promise<void> {
  const { writeReport } = await import("../show/page/report.ts");
  await writeReport({
    result: to.result,
    database: from.manifest.loaders.includes("duckdb") ? to.database : undefined,
    temporaryDirectory: to.temporary,
    rows: from.manifest.rows,
    emptyColumns: from.manifest.emptyColumns,
    earlier: undefined,
  });
}

async function rewriteFiles(rewriting: Rewriting, files: readonly string[]): Promise<void> {
  const { from, to, threads } = rewriting;
  await using database = await openForScanning({
    allowedDirectories: [from.directory, to.root],
    temporaryDirectory: to.temporary,
    memoryLimitMb: MEMORY_LIMIT_MB,
    threads,
  });
  const { connection } = database;
  const others = files.filter((path) => ![MANIFEST_FILE, DATABASE_FILE, REPORT].includes(path));
  const strange = others.find((path) => !path.endsWith(".parquet") && path !== FACTS);
  if (strange !== undefined) {
    throw new WarehouseError(
      "internal",
      `Nobody knows whether ${strange} holds the user; nothing was erased.`,
    );
  }
  for (const path of others.toSorted((a, b) => turnOf(a) - turnOf(b))) {
    const file = join(from.directory, path);
    const target = join(to.result, renumbered(path, from.sequence, to.sequence));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (path === FACTS) {
      await rewriteFacts(from.directory, to.result, rewriting);
      continue;
    }
    const table = tableOf(path);
    const { tables, raw } = rewriting.erasure;
    const changes =
      raw.has(path) || isOfSingles(path) || (table !== undefined && tables.has(table)) || tellsOfRuns(table);
    if (!changes) {
      if (!(await linkTo(file, target))) await copyFile(file, target);
      continue;
    }
    const { text, params } = await newRows(connection, rewriting, fileSource(file), table);
    const options = `${PARQUET_OPTIONS}${await metadataOf(connection, file)}`;
    await execute(connection, `COPY (${text}) TO ${quoteLiteral(target)} (${options})`, params);
  }
}

/**
 * `run` says what the run is called, `run_documents` which runs read what, `run_tables` how large its files are, `run_checks` which run it was held against, the
 * histories in which run something changed.
 */
const tellsOfRuns = (table: string | undefined): boolean =>
  table === "run" ||
  table === "run_tables" ||
  table === "run_checks" ||
  table === "run_documents" ||
  isHistory(table);
/** Raw documents of single items say which run read them. */
const isOfSingles = (path: string): boolean => path.startsWith("raw/item/");
const isHistory = (table: string | undefined): boolean =>
  TABLES.find(({ name }) => name === table)?.stage === "history";
/** `run_documents` tells the digests of raw documents, and `run_tables` the sizes of all other files. */
const turnOf = (path: string): number =>
  path.startsWith("raw/") ? 0 : tableOf(path) === "run_tables" ? 2 : 1;

/** What a file says of itself, for the one that takes its place. */
async function metadataOf(connection: DuckDBConnection, file: string): Promise<string> {
  const rows = await all(
    connection,
    `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${quoteLiteral(exactPattern(file))})
     WHERE decode(key) <> 'ARROW:schema'`,
  );
  if (rows.length === 0) return "";
  const entries = rows.map(
    ({ key, value }) => `${quoteIdentifier(String(key))}: ${quoteLiteral(String(value))}`,
  );
  return `, KV_METADATA {${entries.join(", ")}}`;
}

/** Its tables are read from the new Parquet files, so that both hold the same; else from the old database. */
async function rewriteDatabase(rewriting: Rewriting): Promise<void> {
  const { from, to } = rewriting;
  await using database = await openForBuilding({
    file: databaseOf(to, from.manifest.loaders.includes("duckdb")),
    staging: to.root,
    temporaryDirectory: to.temporary,
    memoryLimitMb: MEMORY_LIMIT_MB,
    previous: join(from.directory, DATABASE_FILE),
  });
  const { connection } = database;
  const previous = quoteIdentifier(PREVIOUS_CATALOG);
  const [catalog] = await all(connection, "SELECT current_database() AS name");
  await execute(
    connection,
    `COPY FROM DATABASE ${previous} TO ${quoteIdentifier(String(catalog?.name))} (SCHEMA)`,
  );
  for (const table of Object.keys(from.manifest.rows)) {
    for (const rows of await rowsForDatabase(connection, rewriting, table)) {
      await execute(connection, `INSERT INTO ${quoteIdentifier(table)} ${rows.text}`, rows.params);
    }
  }
  await createViewsOver(connection, new Set(Object.keys(from.manifest.rows)));
  await database.close();
}

async function rowsForDatabase(
  connection: DuckDBConnection,
  rewriting: Rewriting,
  table: string,
): Promise<readonly Query[]> {
  const { from, to } = rewriting;
  const source = { from: `${quoteIdentifier(PREVIOUS_CATALOG)}.${quoteIdentifier(table)}`, place: "rowid" };
  if (!from.manifest.loaders.includes("parquet"))
    return [await newRows(connection, rewriting, source, table)];
  const columns = await columnsOf(connection, source.from);
  const list = columns.map(({ name, type }) => `CAST(${quoteIdentifier(name)} AS ${type})`).join(", ");
  const folder = join(to.result, "parquet", table);
  const files = (await readdir(folder)).toSorted().map((name) => join(folder, name));
  return files.map((file) => ({ text: `SELECT ${list} FROM ${readParquet([file])}`, params: [] }));
}

const CELLS = "temp.erased_cells";

/** The texts that change, in a table of this connection alone, which lies in no file that stays. */
async function noteCells(connection: DuckDBConnection, erasure: Erasure): Promise<void> {
  if (erasure.cells.size === 0) return;
  await execute(
    connection,
    `CREATE OR REPLACE TEMP TABLE erased_cells (cell VARCHAR, old VARCHAR, new VARCHAR, unknown_fields INTEGER)`,
  );
  for (const [column, texts] of erasure.cells) {
    for (const [old, { text, unknownFields }] of texts) {
      const cell = [column, old, text, unknownFields];
      await execute(connection, `INSERT INTO ${CELLS} VALUES ($1, $2, $3, $4)`, cell);
    }
  }
}

/** Rows as they will be, in the order in which they were. `table`: undefined of a raw file. */
async function newRows(
  connection: DuckDBConnection,
  rewriting: Rewriting,
  source: Source,
  table: string | undefined,
): Promise<Query> {
  const { person, from } = rewriting;
  const { policy } = from.manifest.personalData;
  const erasure = await (table === undefined
    ? searchRaw(connection, source, person)
    : searchTable(connection, source, { name: table, policy }, person));
  await noteCells(connection, erasure);
  const columns = await columnsOf(connection, source.from);
  const changed = [...erasure.cells.keys()];
  const facts = await newFacts(rewriting, table, columns);
  const list = columns.map((column) => {
    const expression = facts.get(column.name) ?? newCell(column.name, changed, erasure);
    return `CAST(${expression} AS ${column.type}) AS ${quoteIdentifier(column.name)}`;
  });
  const joins = changed.map((column, index) => {
    const joined = `e${index}`;
    const text = `CAST(t.${quoteIdentifier(column)} AS VARCHAR)`;
    return `LEFT JOIN ${CELLS} ${joined} ON ${joined}.cell = ${quoteLiteral(column)} AND ${joined}.old = ${text}`;
  });
  const order = changed.length === 0 ? "" : `ORDER BY t.${source.place}`;
  const nulls = (erasure.nulled?.columns.length ?? 0) > 0;
  return {
    text: `SELECT ${list.join(", ")} FROM ${source.from} t ${joins.join(" ")} ${order}`,
    params: nulls ? [person.id] : [],
  };
}

function newCell(column: string, changed: readonly string[], erasure: Erasure): string {
  const cell = `t.${quoteIdentifier(column)}`;
  const own = changed.indexOf(column);
  const left =
    own < 0 ? cell : `CASE WHEN e${own}.old IS NULL THEN CAST(${cell} AS VARCHAR) ELSE e${own}.new END`;
  const nulled = erasure.nulled;
  if (nulled?.columns.includes(column) === true) {
    return `CASE WHEN t.${quoteIdentifier(nulled.userColumn)} = $1 THEN NULL ELSE ${left} END`;
  }
  if (own >= 0) return left;
  // The digest and the account of a document follow the document.
  const document = changed.indexOf("document");
  if (document < 0) return cell;
  const joined = `e${document}`;
  if (column === "sha256")
    return `CASE WHEN ${joined}.old IS NULL THEN ${cell} ELSE sha256(${joined}.new) END`;
  if (column === "answer_sha256")
    return `CASE WHEN ${joined}.old IS NULL OR ${cell} = '' THEN ${cell} ELSE sha256(${joined}.new) END`;
  // What is left of a document is not what the service says: it is asked again.
  if (column === "fingerprint") return `CASE WHEN ${joined}.old IS NULL THEN ${cell} ELSE '' END`;
  if (column === "unknown_fields") return `coalesce(${joined}.unknown_fields, ${cell})`;
  return cell;
}

/** Columns that say something else of a run that is made anew, with what they say. */
async function newFacts(
  rewriting: Rewriting,
  table: string | undefined,
  columns: readonly SourceColumn[],
): Promise<ReadonlyMap<string, string>> {
  if (isHistory(table)) return newNames(rewriting, columns);
  if (table === "run_documents") return new Map([...newNames(rewriting, columns), ...newDigests(rewriting)]);
  if (table !== undefined) return ownFacts(rewriting, table, columns);
  const facts = new Map(newNames(rewriting, columns));
  // Under `keep` it is a digest of personal data too, also of those in listed documents.
  const keeps = rewriting.from.manifest.personalData.policy === "keep";
  if (keeps && columns.some(({ name }) => name === "fingerprint")) facts.set("fingerprint", "''");
  return facts;
}

/** Of the documents as they are now, where the run has them. */
function newDigests({ to }: Rewriting): ReadonlyMap<string, string> {
  const files = itemFilesIn(join(to.result, "raw"));
  if (files.length === 0) return new Map();
  const sameKey = documents.key.map((name) => `r.${name} = t.${name}`).join(" AND ");
  const digest = `SELECT r.sha256 FROM ${rawDocuments(files)} r WHERE ${sameKey}`;
  return new Map([["sha256", `coalesce((${digest}), t.sha256)`]]);
}

/** What a run says of itself: its name and number, the names of others, and the sizes of its files. */
async function ownFacts(
  { from, to, renamed }: Rewriting,
  table: string,
  columns: readonly SourceColumn[],
): Promise<ReadonlyMap<string, string>> {
  if (table === "run") {
    return new Map([
      ["run", quoteLiteral(to.run)],
      ["sequence", String(to.sequence)],
    ]);
  }
  if (table === "run_checks") {
    const named = [...renamed].reduce(
      (cell, [old, now]) => `replace(${cell}, ${quoteLiteral(old)}, ${quoteLiteral(now)})`,
      "t.detail",
    );
    const hasExamples = columns.some(({ name }) => name === "examples");
    const shown = `CASE WHEN ${SHOWS_ROWS} THEN NULL ELSE t.examples END`;
    return new Map([["detail", named], ...(hasExamples ? ([["examples", shown]] as const) : [])]);
  }
  if (table !== "run_tables" || !from.manifest.loaders.includes("parquet")) return new Map();
  const sizes = await Promise.all(
    Object.keys(from.manifest.rows)
      .filter((name) => !isAboutTheRun(name))
      .map(
        async (name) => `WHEN ${quoteLiteral(name)} THEN ${await bytesIn(join(to.result, "parquet", name))}`,
      ),
  );
  return sizes.length === 0
    ? new Map()
    : new Map([["parquet_bytes", `CASE t.table_name ${sizes.join(" ")} ELSE t.parquet_bytes END`]]);
}

/** The histories of a run know it, and those before it that are numbered anew, by their new names and numbers. */
const newNames = ({ renamed }: Rewriting, columns: readonly SourceColumn[]) =>
  renamedCells(
    columns.map(({ name }) => name),
    renamed,
  );

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
