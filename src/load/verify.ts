import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../errors.ts";
import { isDenied, reasonOf } from "../run/directory.ts";
import { MANIFEST_FILE, type PublishedFile } from "../run/manifest.ts";
import { type Refused, readTree } from "../run/tree.ts";
import { all, figure, openForReading, openForScanning, toSafeInteger } from "./duckdb.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

const UNFINISHED = /\.(wal|tmp)$|(^|\/)tmp_/;
const PIECE_BYTES = 1024 * 1024;
const LIMITS = { memoryLimitMb: 160, threads: 2 };

export interface Proof {
  /** Folder that becomes `runs/<run>`, or is one. */
  readonly result: string;
  /** The database, which need not lie in the result; undefined where Parquet files alone were published. */
  readonly database: string | undefined;
  readonly temporaryDirectory: string;
  readonly expected: RowCounts;
  /** Whether the result has the tables as Parquet files, all of them. */
  readonly parquet: boolean;
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

export interface Unread {
  /** Below the result; empty: the result itself. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly finding: string;
  /** Whether it is this user who may not read it. */
  readonly denied: boolean;
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
    `The result did not stand its proof: ${first}; nothing was published, run again.`,
  );
}

/**
 * Holds a result against what is stated of it: no log or half-written file lies in it, the database can be opened
 * read-only and has exactly the expected tables and rows, and the Parquet files of a table have as many. No database
 * may be open on it for writing: closing a handle that read the file would take away the lock of whoever has it open.
 * A failing disk is thrown, as `disk.io`; what else goes wrong is a finding.
 */
export async function examine(proof: Proof): Promise<Examination> {
  const { result, database } = proof;
  const unread: Unread[] = [];
  const refused: Refused = (path, thrown) => unread.push(unreadOf(relative(result, path), thrown));
  const tree = await readTree(result, refused);
  const files = tree.files.filter((file) => relative(result, file) !== MANIFEST_FILE);
  const paths = files.map((file) => relative(result, file));
  const [digests, counted] = await Promise.all([
    digestsOf(result, files, refused),
    countParquet(proof, paths),
  ]);
  const unfinished = paths.filter((path) => UNFINISHED.test(path));
  // Not beside the digests: closing a file lets go of the lock of whoever has it open in this process.
  const tables =
    database === undefined || isUnread(unread, relative(result, database))
      ? []
      : await tableFindings(proof, database);
  const failures = [...counted.failures].filter(([path]) => !isUnread(unread, path));
  return {
    files: digests.map((digest) => ({ ...digest, rows: counted.rows.get(digest.path) ?? null })),
    unread,
    findings: [
      ...unfinished.map((path) => `the file ${path} was left unfinished`),
      ...tables,
      ...failures.map(([, finding]) => finding),
      ...(unread.length > 0 ? [] : counted.differences),
    ],
  };
}

/** Whether a path is among what could not be read, or lies in a folder that could not. */
export function isUnread(unread: readonly Unread[], path: string): boolean {
  return unread.some((each) => each.path === "" || path === each.path || path.startsWith(`${each.path}/`));
}

/** What is found of a path that was refused; the result's own is empty. A failing disk is thrown, as `disk.io`. */
export function unreadOf(path: string, thrown: unknown): Unread {
  const { code, message } = asWarehouseError(thrown);
  if (code === "disk.io") throw thrown;
  const what = path === "" ? "the run" : `the path ${path}`;
  const finding =
    code === "verify.failed"
      ? message.replace(/\.$/, "")
      : `${what} cannot be read (${reasonOf(thrown) ?? message})`;
  return { path, finding, denied: isDenied(thrown) };
}

type Digest = Omit<PublishedFile, "rows">;

/** Read as it is written, in pieces: a stream for each of hundreds of small files would cost as much again. */
async function digestsOf(result: string, files: readonly string[], refused: Refused): Promise<Digest[]> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const digests: Digest[] = [];
  for (const file of files) {
    try {
      digests.push({ path: relative(result, file), ...(await digestOf(file, piece)) });
    } catch (thrown) {
      refused(file, thrown);
    }
  }
  return digests;
}

async function digestOf(file: string, piece: Buffer): Promise<Omit<Digest, "path">> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using handle = await open(file);
  for (;;) {
    const { bytesRead } = await handle.read(piece, 0, piece.length);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    hash.update(piece.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}

async function tableFindings(
  { expected, temporaryDirectory }: Proof,
  file: string,
): Promise<readonly string[]> {
  const options = { file, temporaryDirectory, allowedDirectories: [], ...LIMITS };
  const counted = await attempt("the database cannot be read", async () => {
    await using database = await openForReading(options);
    return await countTables(database.connection);
  });
  return "finding" in counted ? [counted.finding] : differences("DuckDB", counted.value, expected);
}

async function countTables(connection: DuckDBConnection): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const tables = await all(connection, "SELECT table_name FROM duckdb_tables() WHERE NOT temporary");
  for (const name of tables.map((row) => String(row.table_name))) {
    counts.set(name, await figure(connection, `SELECT count(*) FROM ${quoteIdentifier(name)}`));
  }
  return counts;
}

interface CountedFiles {
  /** By path. */
  readonly rows: ReadonlyMap<string, number>;
  /** A finding by path, for each that could not be counted. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Rows of each Parquet file; the tables are compared where every file could be read. */
async function countParquet(
  { result, expected, parquet, temporaryDirectory }: Proof,
  paths: readonly string[],
): Promise<CountedFiles & { readonly differences: readonly string[] }> {
  await using database = await openForScanning({
    allowedDirectories: [result],
    temporaryDirectory,
    ...LIMITS,
  });
  const files = paths.filter((each) => each.endsWith(".parquet"));
  const rows = new Map<string, number>();
  const failures = new Map<string, string>();
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const several = files.slice(start, start + FILES_AT_ONCE);
    const together = await attempt("files cannot be read", () =>
      countRows(database.connection, result, several),
    );
    const counted =
      "value" in together
        ? { rows: together.value, failures: [] }
        : await countSingly(database.connection, result, several);
    for (const [path, count] of counted.rows) rows.set(path, count);
    for (const [path, finding] of counted.failures) failures.set(path, finding);
  }
  if (failures.size > 0) return { rows, failures, differences: [] };
  return { rows, failures, differences: differences("Parquet", rowsByTable(rows), parquet ? expected : {}) };
}

/** Files whose rows one query counts. */
const FILES_AT_ONCE = 500;

/** Rows by path, as the files say of themselves. */
async function countRows(
  connection: DuckDBConnection,
  result: string,
  paths: readonly string[],
): Promise<Map<string, number>> {
  const files = paths.map((path) => quoteLiteral(exactPattern(join(result, path)))).join(", ");
  const counted = await all(connection, `SELECT file_name, num_rows FROM parquet_file_metadata([${files}])`);
  return new Map(
    counted.map((row) => [relative(result, String(row.file_name)), toSafeInteger(row.num_rows ?? null)]),
  );
}

/** Of files among which some cannot be read: which, and why, and the rows of the others. */
async function countSingly(
  connection: DuckDBConnection,
  result: string,
  paths: readonly string[],
): Promise<CountedFiles> {
  const rows = new Map<string, number>();
  const failures = new Map<string, string>();
  for (const path of paths) {
    const counted = await attempt(`the file ${path} cannot be read`, () =>
      countRows(connection, result, [path]),
    );
    if ("value" in counted) for (const [each, count] of counted.value) rows.set(each, count);
    else failures.set(path, counted.finding);
  }
  return { rows, failures };
}

/** Rows by table in its Parquet files; other files than those of tables are none of their business. */
function rowsByTable(rows: ReadonlyMap<string, number>): Map<string, number> {
  const counted = new Map<string, number>();
  for (const [path, count] of rows) {
    const [folder, table] = path.split("/");
    if (folder === "parquet" && table !== undefined) counted.set(table, (counted.get(table) ?? 0) + count);
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

/** What a step gives, or that it failed and why; a failing disk is thrown. */
async function attempt<T>(
  what: string,
  step: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly finding: string }> {
  try {
    return { value: await step() };
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code === "disk.io") throw error;
    return { finding: `${what} (${error.message.replace(/\.$/, "")})` };
  }
}
