/** The proof of a result: what is found of its files and of its database, held against what is stated of them. */
import { relative } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { type Refused, readTree } from "../common/tree.ts";
import { all, openForReading, scalar } from "../storage/duckdb.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import {
  attempt,
  type Digest,
  EXAMINING_LIMITS,
  type ExaminedResult,
  findInFiles,
  isUnread,
  type Unread,
  unreadOf,
} from "./file-findings.ts";
import { MANIFEST_FILE, type PublishedFile } from "./manifest.ts";

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

const UNFINISHED = /\.(wal|tmp)$|(^|\/)tmp_/;

export interface Proof extends ExaminedResult {
  /** The database, which need not lie in the result; undefined where Parquet files alone were published. */
  readonly database: string | undefined;
  readonly expected: RowCounts;
  /** Whether the result has the tables as Parquet files, all of them. */
  readonly parquet: boolean;
  /** Digests that were made before, by path: they count for files that have not changed since. */
  readonly digests?: ReadonlyMap<string, Digest> | undefined;
}

/** What a result is made of, and what is wrong with it. */
export interface Examination {
  /** All files but the manifest, with their sizes, digests and rows, in the order of their paths. */
  readonly files: readonly PublishedFile[];
  /** Files and folders that could not be read: of them, and of what lies in them, nothing else is found. */
  readonly unread: readonly Unread[];
  /** Each without its full stop; empty, where all could be read: the result stood its proof. */
  readonly findings: readonly string[];
}

/**
 * Proves a finished result before it is published, and returns its files with their sizes, digests and rows. Throws
 * `verify.failed` with the first thing that `examine` finds.
 */
export async function verifyResult(proof: Proof): Promise<readonly PublishedFile[]> {
  const { files, unread, findings } = await examine(proof);
  const [first] = [...unread.map(({ finding }) => finding), ...findings];
  if (first === undefined) return files;
  throw new WarehouseError(
    "verify.failed",
    `Verification failed: ${first}; nothing was published, run again.`,
  );
}

/**
 * Holds a result against what is stated of it: no log or half-written file lies in it, the database can be opened
 * read-only and has exactly the expected tables and rows, and the Parquet files of a table have as many. No database
 * may be open on it for writing: closing a handle that read the file would take away the lock of whoever has it open.
 * A failing disk is thrown, as `disk.io`; what else goes wrong is a finding.
 */
export async function examine(proof: Proof): Promise<Examination> {
  const { result, database, digests } = proof;
  const refusedFolders: Unread[] = [];
  const refused: Refused = (path, thrown) => refusedFolders.push(unreadOf(relative(result, path), thrown));
  const tree = await readTree(result, refused);
  const paths = tree.files.map((file) => relative(result, file)).filter((path) => path !== MANIFEST_FILE);
  const found = await findInFiles(proof, paths, digests);
  const unread = [...refusedFolders, ...found.unread];
  // Not beside the digests: closing a file lets go of the lock of whoever has it open in this process.
  const tables =
    database === undefined || isUnread(unread, relative(result, database))
      ? []
      : await tableFindings(proof, database);
  const files = found.files.map(({ file }) => file);
  const failures = found.files.flatMap(({ failure }) => failure ?? []);
  return {
    files,
    unread,
    findings: [
      ...paths.filter((path) => UNFINISHED.test(path)).map((path) => `the file ${path} was left unfinished`),
      ...tables,
      ...failures,
      ...(unread.length > 0 || failures.length > 0 ? [] : parquetFindings(proof, files)),
    ],
  };
}

async function tableFindings(
  { expected, temporaryDirectory }: Proof,
  file: string,
): Promise<readonly string[]> {
  const options = { file, temporaryDirectory, allowedDirectories: [], ...EXAMINING_LIMITS };
  const counted = await attempt("the database cannot be read", async () => {
    await using database = await openForReading(options);
    return await countTables(database.connection);
  });
  return "finding" in counted ? [counted.finding] : differences("DuckDB", counted.value, expected);
}

async function countTables(connection: DuckDBConnection): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const tables = await all(
    connection,
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary",
  );
  for (const name of tables.map((row) => String(row.table_name))) {
    counts.set(name, await scalar(connection, `SELECT count(*) FROM ${quoteIdentifier(name)}`));
  }
  return counts;
}

function parquetFindings({ expected, parquet }: Proof, files: readonly PublishedFile[]): readonly string[] {
  return differences("Parquet", rowsByTable(files), parquet ? expected : {});
}

/** Rows by table in its Parquet files; other files than those of tables are none of their business. */
function rowsByTable(files: readonly PublishedFile[]): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { path, rows } of files) {
    const [folder, table] = path.split("/");
    if (rows === null || folder !== "parquet" || table === undefined) continue;
    counted.set(table, (counted.get(table) ?? 0) + rows);
  }
  return counted;
}

function differences(
  where: string,
  counted: ReadonlyMap<string, number>,
  expected: RowCounts,
): readonly string[] {
  const wrong = Object.entries(expected).flatMap(([table, rows]) => {
    const found = counted.get(table);
    if (found === undefined) return [`table ${table} is missing in ${where}`];
    return found === rows ? [] : [`table ${table} has ${found} rows in ${where} where ${rows} are expected`];
  });
  const unexpected = [...counted.keys()].filter((table) => !Object.hasOwn(expected, table));
  return [...wrong, ...unexpected.map((table) => `table ${table} in ${where} is not expected`)];
}
