/** Examines the files and the database of a result, and compares them with what is stated or with the manifest. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import { asWarehouseError, codeOf, isOfTheDisk } from "../common/errors.ts";
import { clauseOf } from "../common/printable.ts";
import { linkInTheWay } from "../common/relative-path.ts";
import { readTree } from "../common/tree.ts";
import { openForReading, openForScanning } from "../storage/database.ts";
import { all } from "../storage/duckdb.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { DATABASE_FILE, nameOf, reasonOf } from "./layout.ts";
import { MANIFEST_FILE, type Manifest, type PublishedFile } from "./manifest.ts";

const LIMITS = { memoryLimitMb: 160, threads: 2 };
const PIECE_BYTES = 1024 * 1024;

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

interface UnreadablePath {
  /** Path below the result; empty for the result itself. */
  readonly path: string;
  /** Sentence without a full stop. */
  readonly finding: string;
  /** Whether this user lacks the permission. */
  readonly denied: boolean;
}

interface Examination {
  /** All files except the manifest, ordered by path. */
  readonly files: readonly PublishedFile[];
  /** Paths that could not be read. Nothing else is known of them, or of what lies in them. */
  readonly unread: readonly UnreadablePath[];
  /** Sentences without a full stop; empty if the result is verified. */
  readonly findings: readonly string[];
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
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const digests: Omit<PublishedFile, "rows">[] = [];
  for (const path of paths) {
    const file = join(result, path);
    try {
      digests.push({ path, ...(await digestFile(file, piece)) });
    } catch (thrown) {
      refused(file, thrown);
    }
  }
  // After the digests: closing a file frees the lock of a handle that this process has on it.
  const tables =
    database === undefined || isUnreadable(unread, relative(result, database))
      ? []
      : await tableFindings(proof, database);
  const counted = await attempt("the Parquet files cannot be read", () => parquetRows(proof, digests));
  const isCounted = typeof counted !== "string";
  const rowsOf = isCounted ? counted : new Map<string, number>();
  const files = digests.map((each) => ({ ...each, rows: rowsOf.get(each.path) ?? null }));
  return {
    files,
    unread,
    findings: [
      ...paths.filter((path) => UNFINISHED.test(path)).map((path) => `the file ${path} was left unfinished`),
      ...tables,
      ...(isCounted ? [] : [counted]),
      ...(isCounted && unread.length === 0 ? parquetFindings(proof, files) : []),
    ],
  };
}

/** Whether a path, or a folder above it, could not be read. */
function isUnreadable(unread: readonly UnreadablePath[], path: string): boolean {
  return unread.some((each) => each.path === "" || path === each.path || path.startsWith(`${each.path}/`));
}

/** `path`: relative to the result. Throws `disk.io` for a failing disk. */
function unreadablePath(path: string, thrown: unknown): UnreadablePath {
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

/** Reads a file in pieces of the size of `piece`. */
export async function digestFile(
  file: string,
  piece = Buffer.allocUnsafe(PIECE_BYTES),
): Promise<Pick<PublishedFile, "bytes" | "sha256">> {
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

/** Damage of the first file that is not as published, as a clause; `undefined` if there is none. */
export async function firstDamage(
  directory: string,
  files: readonly PublishedFile[],
): Promise<string | undefined> {
  for (const file of files) {
    try {
      const link = await linkInTheWay(directory, file.path);
      if (link !== undefined) return `its file ${file.path} is not there, but the symbolic link ${link}`;
      const { bytes, sha256 } = await digestFile(join(directory, file.path));
      if (bytes !== file.bytes) return `its file ${file.path} has another size than it was published with`;
      if (sha256 !== file.sha256)
        return `its file ${file.path} has different content than it was published with`;
    } catch (thrown) {
      if (isOfTheDisk(asWarehouseError(thrown))) throw thrown;
      return `its file ${file.path} is missing or cannot be read`;
    }
  }
  return undefined;
}

/**
 * Returns the result of a step, or why it failed, as a sentence without a full stop. Throws errors of a failing disk.
 */
async function attempt<T>(what: string, step: () => Promise<T>): Promise<T | string> {
  try {
    return await step();
  } catch (thrown) {
    if (isOfTheDisk(asWarehouseError(thrown))) throw thrown;
    return `${what} (${clauseOf(thrown)})`;
  }
}

/** Rows of the Parquet files, by path. */
async function parquetRows(
  { result, temporaryDirectory }: VerifyInput,
  files: readonly Pick<PublishedFile, "path">[],
): Promise<ReadonlyMap<string, number>> {
  const paths = files.map(({ path }) => join(result, path)).filter((path) => path.endsWith(".parquet"));
  if (paths.length === 0) return new Map();
  const list = paths.map((path) => quoteLiteral(exactPattern(path))).join(", ");
  await using database = await openForScanning({
    temporaryDirectory,
    allowedDirectories: [result],
    ...LIMITS,
  });
  const found = await database.connection.runAndReadAll(
    `SELECT file_name, num_rows FROM parquet_file_metadata([${list}])`,
  );
  return new Map(found.getRows().map(([file, rows]) => [relative(result, String(file)), Number(rows)]));
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
    const names = (await all(connection, tables)).map(({ table_name }) => String(table_name));
    if (names.length === 0) return new Map<string, number>();
    const counts = names.map(
      (name) => `SELECT ${quoteLiteral(name)} AS name, count(*) AS rows FROM ${quoteIdentifier(name)}`,
    );
    const counted = await all(connection, counts.join(" UNION ALL "));
    return new Map(counted.map(({ name, rows }) => [String(name), Number(rows)]));
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
  expected: Manifest["rows"],
): readonly string[] {
  const wrong = Object.entries(expected).flatMap(([table, rows]) => {
    const found = counted.get(table);
    if (found === undefined) return [`table ${table} is missing in ${where}`];
    return found === rows ? [] : [`table ${table} has ${found} rows in ${where} where ${rows} are expected`];
  });
  const unexpected = [...counted.keys()].filter((table) => !Object.hasOwn(expected, table));
  return [...wrong, ...unexpected.map((table) => `table ${table} in ${where} is not expected`)];
}

/**
 * Differences between an examined run and its manifest, as phrases without a full stop. `consequence`: what is added to
 * the finding of a file.
 */
export function findingsOf(
  run: string,
  manifest: Manifest,
  { files, unread, findings }: Examination,
  consequence: (file: PublishedFile) => string = () => "",
): string[] {
  const there = new Map(files.map((file) => [file.path, file]));
  const known = new Set(manifest.files.map(({ path }) => path));
  const looked = manifest.files.filter(({ path }) => !isUnreadable(unread, path));
  const more = files.filter(({ path }) => !known.has(path));
  return [
    ...(manifest.run === nameOf(run) ? [] : [`its manifest is that of the run ${manifest.run}`]),
    ...unread.map(({ finding }) => finding),
    ...looked.flatMap((file) => {
      const finding = fileFinding(there.get(file.path), file);
      return finding === undefined ? [] : [finding + consequence(file)];
    }),
    ...more.map(({ path }) => `the file ${path} is not in the manifest`),
    ...findings,
  ];
}

function fileFinding(found: PublishedFile | undefined, stated: PublishedFile): string | undefined {
  const { path, bytes, sha256, rows } = stated;
  if (found === undefined) return `the file ${path} is missing`;
  if (found.bytes !== bytes) return `the file ${path} has ${found.bytes} bytes instead of ${bytes}`;
  if (found.sha256 !== sha256) return `the file ${path} has different content: its SHA-256 differs`;
  if (found.rows !== null && found.rows !== rows)
    return `the file ${path} has ${found.rows} rows instead of ${rows}`;
  return undefined;
}
