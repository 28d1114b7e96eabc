/** The proof of a result: what is found of its files and of its database, held against what is stated of them. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, codeOf, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { readTree } from "../common/tree.ts";
import { all, openForReading, openForScanning, scalar, toSafeInteger } from "../storage/duckdb.ts";
import { awaitBoth } from "../storage/parallel.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { DATABASE_FILE, reasonOf } from "./layout.ts";
import { MANIFEST_FILE, type Manifest, type PublishedFile } from "./manifest.ts";

/** Of the database that reads a result which is examined. */
const LIMITS = { memoryLimitMb: 160, threads: 2 };
const PIECE_BYTES = 1024 * 1024;
/** Files whose rows one query counts. */
const FILES_AT_ONCE = 500;

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

const UNFINISHED = /\.(wal|tmp)$|(^|\/)tmp_/;

interface VerifyInput {
  /** Folder that becomes `runs/<run>`, or is one. */
  readonly result: string;
  /** For spilled blocks. */
  readonly temporaryDirectory: string;
  /** Given where the database does not lie in the result, or is not published. */
  readonly database?: string;
  /** What was published, and the rows of each table: in all that was. */
  readonly stated: Pick<Manifest, "loaders" | "rows">;
}

/** What could not be read. */
export interface UnreadablePath {
  /** Below the result; empty: the result itself. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly finding: string;
  /** Whether it is this user who may not read it. */
  readonly denied: boolean;
}

/** What a result is made of, and what is wrong with it. */
export interface Examination {
  /** All files but the manifest, with their sizes, digests and rows, in the order of their paths. */
  readonly files: readonly PublishedFile[];
  /** Files and folders that could not be read: of them, and of what lies in them, nothing else is found. */
  readonly unread: readonly UnreadablePath[];
  /** Each without its full stop; empty, where all could be read: the result stood its proof. */
  readonly findings: readonly string[];
}

/**
 * Proves a finished result before it is published, and returns its files with their sizes, digests and rows. Throws
 * `verify.failed` with the first thing that `examine` finds.
 */
export async function verifyResult(proof: VerifyInput): Promise<readonly PublishedFile[]> {
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
export async function examine(proof: VerifyInput): Promise<Examination> {
  const { result, stated } = proof;
  const published = stated.loaders.includes("duckdb") ? join(result, DATABASE_FILE) : undefined;
  const { database = published } = proof;
  const unread: UnreadablePath[] = [];
  const refused = (path: string, thrown: unknown) => {
    unread.push(unreadablePath(relative(result, path), thrown));
  };
  const tree = await readTree(result, refused);
  const paths = tree.files.map((file) => relative(result, file)).filter((path) => path !== MANIFEST_FILE);
  const [digests, counted] = await awaitBoth(digestsOf(result, paths, refused), countParquet(proof, paths));
  const files = Array.from(digests, ([path, digest]) => {
    const rows = counted.get(path);
    return { path, ...digest, rows: typeof rows === "number" ? rows : null };
  });
  // Not beside the digests: closing a file takes away the lock of whoever has it open in this process.
  const tables =
    database === undefined || isUnreadable(unread, relative(result, database))
      ? []
      : await tableFindings(proof, database);
  const failures = files.map(({ path }) => counted.get(path)).filter((count) => typeof count === "string");
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

/** Whether a path is among what could not be read, or lies in a folder that could not. */
export function isUnreadable(unread: readonly UnreadablePath[], path: string): boolean {
  return unread.some((each) => each.path === "" || path === each.path || path.startsWith(`${each.path}/`));
}

/** What is found of a path that was refused; the result's own is empty. A failing disk is thrown, as `disk.io`. */
export function unreadablePath(path: string, thrown: unknown): UnreadablePath {
  const error = asWarehouseError(thrown);
  const { code, message } = error;
  if (isOfTheDisk(error)) throw thrown;
  const what = path === "" ? "the run" : `the path ${path}`;
  const finding =
    code === "verify.failed"
      ? message.replace(/\.$/, "")
      : `${what} cannot be read (${reasonOf(thrown) ?? message})`;
  return { path, finding, denied: ["EACCES", "EPERM"].includes(codeOf(thrown) ?? "") };
}

type FileDigest = Pick<PublishedFile, "bytes" | "sha256">;

/** By path. Read into one buffer: a stream for each of hundreds of small files would cost as much again. */
async function digestsOf(
  result: string,
  paths: readonly string[],
  refused: (path: string, thrown: unknown) => void,
): Promise<Map<string, FileDigest>> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const digests = new Map<string, FileDigest>();
  for (const path of paths) {
    const file = join(result, path);
    try {
      digests.set(path, await digestFile(file, piece));
    } catch (thrown) {
      refused(file, thrown);
    }
  }
  return digests;
}

/** Size and digest of a file, which is read into `piece`. */
export async function digestFile(file: string, piece = Buffer.allocUnsafe(PIECE_BYTES)): Promise<FileDigest> {
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

/** What is wrong with a file of a run, held against the manifest: a clause; undefined: it is as it was published. */
export async function fileDamage(directory: string, file: PublishedFile): Promise<string | undefined> {
  try {
    const { bytes, sha256 } = await digestFile(join(directory, file.path));
    if (bytes !== file.bytes) return `its file ${file.path} has another size than it was published with`;
    if (sha256 !== file.sha256) return `its file ${file.path} has another content than it was published with`;
    return undefined;
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (isOfTheDisk(error)) throw error;
    return `its file ${file.path} is missing or cannot be read`;
  }
}

/** What a step gives, or why it failed: a sentence without its full stop. A failing disk is thrown. */
async function attempt<T>(what: string, step: () => Promise<T>): Promise<T | string> {
  try {
    return await step();
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (isOfTheDisk(error)) throw error;
    return `${what} (${error.message.replace(/\.$/, "")})`;
  }
}

/** Rows of the Parquet files by path, or why they cannot be read; where some of many cannot, each is asked by itself. */
async function countParquet(
  { result, temporaryDirectory }: VerifyInput,
  paths: readonly string[],
): Promise<Map<string, number | string>> {
  const files = paths.filter((each) => each.endsWith(".parquet"));
  const counted = new Map<string, number | string>();
  if (files.length === 0) return counted;
  const options = { allowedDirectories: [result], temporaryDirectory, ...LIMITS };
  await using database = await openForScanning(options);
  const count = async (what: string, several: readonly string[]) => {
    const rows = await attempt(what, () => countRows(database.connection, result, several));
    if (typeof rows !== "string") for (const [path, number] of rows) counted.set(path, number);
    return rows;
  };
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const several = files.slice(start, start + FILES_AT_ONCE);
    if (typeof (await count("files cannot be read", several)) !== "string") continue;
    for (const path of several) {
      const alone = await count(`the file ${path} cannot be read`, [path]);
      if (typeof alone === "string") counted.set(path, alone);
    }
  }
  return counted;
}

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

async function tableFindings(
  { stated, temporaryDirectory }: VerifyInput,
  file: string,
): Promise<readonly string[]> {
  const options = { file, temporaryDirectory, allowedDirectories: [], ...LIMITS };
  const counted = await attempt("the database cannot be read", async () => {
    await using database = await openForReading(options);
    const { connection } = database;
    const tables = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary";
    const counts = new Map<string, number>();
    for (const name of (await all(connection, tables)).map((row) => String(row.table_name)))
      counts.set(name, await scalar(connection, `SELECT count(*) FROM ${quoteIdentifier(name)}`));
    return counts;
  });
  return typeof counted === "string" ? [counted] : differences("DuckDB", counted, stated.rows);
}

/** Other files than those of tables are none of their business. */
function parquetFindings({ stated }: VerifyInput, files: readonly PublishedFile[]): readonly string[] {
  const counted = new Map<string, number>();
  for (const { path, rows } of files) {
    const [folder, table] = path.split("/");
    if (rows === null || folder !== "parquet" || table === undefined) continue;
    counted.set(table, (counted.get(table) ?? 0) + rows);
  }
  return differences("Parquet", counted, stated.loaders.includes("parquet") ? stated.rows : {});
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
