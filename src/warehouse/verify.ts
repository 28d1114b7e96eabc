/** Examines the files and the database of a result, and compares them with what is stated. */
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

const LIMITS = { memoryLimitMb: 160, threads: 2 };
const PIECE_BYTES = 1024 * 1024;
/** Number of files whose rows one query counts. */
const FILES_AT_ONCE = 500;

export type RowCounts = Readonly<Record<string, number>>;

const UNFINISHED = /\.(wal|tmp)$|(^|\/)tmp_/;

interface VerifyInput {
  /** Folder of a published run, or the folder that becomes one. */
  readonly result: string;
  /** Folder where DuckDB spills blocks. */
  readonly temporaryDirectory: string;
  /** Path of the database, if it is not in the result or not published. */
  readonly database?: string;
  readonly stated: Pick<Manifest, "loaders" | "rows">;
}

export interface UnreadablePath {
  /** Path below the result; empty for the result itself. */
  readonly path: string;
  /** Sentence without a full stop. */
  readonly finding: string;
  /** Whether this user lacks the permission. */
  readonly denied: boolean;
}

export interface Examination {
  /** All files except the manifest, ordered by path. */
  readonly files: readonly PublishedFile[];
  /** Paths that could not be read. Nothing else is known of them, or of what lies in them. */
  readonly unread: readonly UnreadablePath[];
  /** Sentences without a full stop; empty if the result is verified. */
  readonly findings: readonly string[];
}

/**
 * Verifies a finished result before publication, and returns its files. Throws `verify.failed` with the first
 * finding.
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
 * Checks that no log or half-written file lies in the result, that the database has exactly the expected tables and
 * rows, and that the Parquet files have as many rows. The database must not be open for writing, because closing a
 * handle would free its lock. Throws `disk.io` for a failing disk; other failures are findings.
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
  // After the digests: closing a file frees the lock of a handle that this process has on it.
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

/** Whether a path, or a folder above it, could not be read. */
export function isUnreadable(unread: readonly UnreadablePath[], path: string): boolean {
  return unread.some((each) => each.path === "" || path === each.path || path.startsWith(`${each.path}/`));
}

/** `path`: relative to the result. Throws `disk.io` for a failing disk. */
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

/** Digests by path. One buffer for all files costs half as much as a stream for each. */
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

/** Reads a file in pieces of the size of `piece`. */
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

/** How a file differs from the manifest, as a clause; `undefined` if it does not. */
export async function fileDamage(directory: string, file: PublishedFile): Promise<string | undefined> {
  try {
    const { bytes, sha256 } = await digestFile(join(directory, file.path));
    if (bytes !== file.bytes) return `its file ${file.path} has another size than it was published with`;
    if (sha256 !== file.sha256)
      return `its file ${file.path} has different content than it was published with`;
    return undefined;
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (isOfTheDisk(error)) throw error;
    return `its file ${file.path} is missing or cannot be read`;
  }
}

/**
 * Returns the result of a step, or why it failed, as a sentence without a full stop. Throws errors of a failing disk.
 */
async function attempt<T>(what: string, step: () => Promise<T>): Promise<T | string> {
  try {
    return await step();
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (isOfTheDisk(error)) throw error;
    return `${what} (${error.message.replace(/\.$/, "")})`;
  }
}

/**
 * Rows of Parquet files by path, or why a file cannot be read. If a query over several files fails, each file is read
 * alone.
 */
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
  return typeof counted === "string" ? [counted] : rowDifferences("DuckDB", counted, stated.rows);
}

/** Compares rows of tables. Ignores other Parquet files. */
function parquetFindings({ stated }: VerifyInput, files: readonly PublishedFile[]): readonly string[] {
  const counted = new Map<string, number>();
  for (const { path, rows } of files) {
    const [folder, table] = path.split("/");
    if (rows === null || folder !== "parquet" || table === undefined) continue;
    counted.set(table, (counted.get(table) ?? 0) + rows);
  }
  return rowDifferences("Parquet", counted, stated.loaders.includes("parquet") ? stated.rows : {});
}

function rowDifferences(
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
