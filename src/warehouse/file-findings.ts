/** What is found of the files of a result, each by itself: its size, its digest and, of a Parquet file, its rows. */
import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError } from "../common/errors.ts";
import type { Refused } from "../common/tree.ts";
import { all, openForScanning, toSafeInteger } from "../storage/duckdb.ts";
import { together } from "../storage/parallel.ts";
import { exactPattern, quoteLiteral } from "../storage/sql-text.ts";
import { isDenied, reasonOf } from "./layout.ts";
import type { PublishedFile } from "./manifest.ts";

const PIECE_BYTES = 1024 * 1024;
/** Of the database that reads a result which is examined. */
export const EXAMINING_LIMITS = { memoryLimitMb: 160, threads: 2 };

/** What is found of a file that could be read. */
export interface FileFinding {
  readonly file: PublishedFile;
  /** Why the rows of a Parquet file could not be counted; without its full stop. */
  readonly failure: string | undefined;
}

export interface FileFindings {
  /** In the order in which they were asked for. */
  readonly files: readonly FileFinding[];
  readonly unread: readonly Unread[];
}

export interface Unread {
  /** Below the result; empty: the result itself. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly finding: string;
  /** Whether it is this user who may not read it. */
  readonly denied: boolean;
}

/** Where files are examined. */
export interface ExaminedResult {
  /** Folder that becomes `runs/<run>`, or is one. */
  readonly result: string;
  /** For spilled blocks. */
  readonly temporaryDirectory: string;
}

/**
 * Reads the files, which are paths below the result; those of which there is a digest are not read whole again, if they
 * are as they were. No database may be open on one of them for writing: closing a handle that read the file would take
 * away the lock of whoever has it open. A failing disk is thrown, as `disk.io`; what else goes wrong is a finding.
 */
export async function findInFiles(
  examined: ExaminedResult,
  paths: readonly string[],
  known: ReadonlyMap<string, Digest> = new Map(),
): Promise<FileFindings> {
  const { result } = examined;
  const unread: Unread[] = [];
  const refused: Refused = (path, thrown) => unread.push(unreadOf(relative(result, path), thrown));
  const [digests, { rows, failures }] = await together(
    digestsOf({ result, paths, refused, known }),
    countParquet(examined, paths),
  );
  const files = Array.from(digests, ([path, { bytes, sha256 }]) => ({
    file: { path, bytes, sha256, rows: rows.get(path) ?? null },
    failure: failures.get(path),
  }));
  return { files, unread };
}

/** Size and digest of a file that was read. */
export interface Digest {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Which file it was, and when it was last changed or replaced, before it was read. */
  readonly identity: string;
}

/** A digest of a file, if the file is as it was then. */
function stillRight(file: string, digest: Digest | undefined): Digest | undefined {
  const stats = digest === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && identityOf(stats) === digest?.identity ? digest : undefined;
}

function identityOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [ino, size, mtimeMs, ctimeMs].join(" ");
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

export interface DigestRequest {
  readonly result: string;
  /** Below the result. */
  readonly paths: readonly string[];
  readonly refused: Refused;
  readonly known?: ReadonlyMap<string, Digest>;
  readonly signal?: AbortSignal;
}

/**
 * By path. Files are read as they are written, in pieces: a stream for each of hundreds of small ones would cost as much
 * again. Throws the signal's reason.
 */
export async function digestsOf({
  result,
  paths,
  refused,
  known,
  signal,
}: DigestRequest): Promise<Map<string, Digest>> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const digests = new Map<string, Digest>();
  for (const path of paths) {
    signal?.throwIfAborted();
    const file = join(result, path);
    try {
      digests.set(path, stillRight(file, known?.get(path)) ?? (await digestOf(file, piece)));
    } catch (thrown) {
      refused(file, thrown);
    }
  }
  return digests;
}

async function digestOf(file: string, piece: Buffer): Promise<Digest> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using handle = await open(file);
  const identity = identityOf(await handle.stat());
  for (;;) {
    const { bytesRead } = await handle.read(piece, 0, piece.length);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex"), identity };
    hash.update(piece.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}

interface CountedFiles {
  /** By path. */
  readonly rows: ReadonlyMap<string, number>;
  /** A finding by path, for each that could not be counted. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Files whose rows one query counts. */
const FILES_AT_ONCE = 500;

async function countParquet(
  { result, temporaryDirectory }: ExaminedResult,
  paths: readonly string[],
): Promise<CountedFiles> {
  const files = paths.filter((each) => each.endsWith(".parquet"));
  const rows = new Map<string, number>();
  const failures = new Map<string, string>();
  if (files.length === 0) return { rows, failures };
  await using database = await openForScanning({
    allowedDirectories: [result],
    temporaryDirectory,
    ...EXAMINING_LIMITS,
  });
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const several = files.slice(start, start + FILES_AT_ONCE);
    const read = await attempt("files cannot be read", () => countRows(database.connection, result, several));
    const counted: CountedFiles =
      "value" in read
        ? { rows: read.value, failures: new Map() }
        : await countSingly(database.connection, result, several);
    for (const [path, count] of counted.rows) rows.set(path, count);
    for (const [path, finding] of counted.failures) failures.set(path, finding);
  }
  return { rows, failures };
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

/** What a step gives, or that it failed and why; a failing disk is thrown. */
export async function attempt<T>(
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
