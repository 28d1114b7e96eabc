import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../errors.ts";
import type { PublishedFile } from "../run/manifest.ts";
import { readTree } from "../run/tree.ts";
import { all, figure, openForReading } from "./duckdb.ts";
import { readParquet } from "./parquet.ts";
import { quoteIdentifier } from "./sql-text.ts";

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

const UNFINISHED = /\.(wal|tmp)$|(^|\/)tmp_/;

export interface Proof {
  /** Folder that becomes `runs/<run>`. */
  readonly result: string;
  /** The database; it need not lie in the result. */
  readonly database: string;
  readonly temporaryDirectory: string;
  readonly expected: RowCounts;
  /** Whether the result has the tables as Parquet files, all of them. */
  readonly parquet: boolean;
}

/**
 * Proves a finished result before it is published, and returns its files with their sizes, digests and rows: no log
 * or half-written file lies in it, the database can be opened read-only and has exactly the expected tables and rows,
 * and the Parquet files of a table have as many. No database may be open on it: closing a handle that read the file
 * would take away the lock of whoever has it open.
 */
export async function verifyResult(proof: Proof): Promise<PublishedFile[]> {
  const { result } = proof;
  const { files } = await readTree(result);
  const unfinished = files.find((file) => UNFINISHED.test(relative(result, file)));
  if (unfinished !== undefined) throw failed(`${unfinished} was left unfinished`);
  const digests = new Map<string, { bytes: number; sha256: string }>();
  for (const file of files) digests.set(file, { bytes: (await stat(file)).size, sha256: await sha256(file) });
  const rows = await recount(proof, files).catch((thrown) => {
    throw asFailedProof(thrown);
  });
  return [...digests].map(([file, digest]) => ({
    path: relative(result, file),
    ...digest,
    rows: rows.get(file) ?? null,
  }));
}

async function sha256(file: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), digest);
  return digest.digest("hex");
}

/** Rows of each Parquet file, after comparing all counts with the expected ones. */
async function recount(
  { result, database: file, temporaryDirectory, expected, parquet }: Proof,
  files: readonly string[],
): Promise<Map<string, number>> {
  await using database = await openForReading({
    file,
    temporaryDirectory,
    allowedDirectories: [result],
    memoryLimitMb: 256,
    threads: 2,
  });
  compare("DuckDB", await countTables(database.connection), expected);
  const rows = new Map<string, number>();
  for (const file of files.filter((each) => each.endsWith(".parquet"))) {
    rows.set(file, await figure(database.connection, `SELECT count(*) FROM ${readParquet([file])}`));
  }
  compare("Parquet", parquetRows(result, rows), parquet ? expected : {});
  return rows;
}

async function countTables(connection: DuckDBConnection): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const tables = await all(connection, "SELECT table_name FROM duckdb_tables() WHERE NOT temporary");
  for (const name of tables.map((row) => String(row.table_name))) {
    counts.set(name, await figure(connection, `SELECT count(*) FROM ${quoteIdentifier(name)}`));
  }
  return counts;
}

function compare(where: string, counted: ReadonlyMap<string, number>, expected: RowCounts): void {
  for (const [table, rows] of Object.entries(expected)) {
    const found = counted.get(table);
    if (found === undefined) throw failed(`table ${table} is missing in ${where}`);
    if (found !== rows)
      throw failed(`table ${table} has ${found} rows in ${where} where ${rows} are expected`);
  }
  for (const table of counted.keys()) {
    if (!Object.hasOwn(expected, table)) throw failed(`table ${table} in ${where} is not expected`);
  }
}

/** Rows by table in its Parquet files. */
function parquetRows(result: string, rows: ReadonlyMap<string, number>): Map<string, number> {
  const counted = new Map<string, number>();
  for (const [file, count] of rows) {
    const [folder, table] = relative(result, file).split("/");
    if (folder === "parquet" && table !== undefined) counted.set(table, (counted.get(table) ?? 0) + count);
  }
  return counted;
}

/** What cannot be read did not stand the proof; a failing disk stays one. */
function asFailedProof(thrown: unknown): WarehouseError {
  const error = asWarehouseError(thrown);
  if (error.code === "verify.failed" || error.code === "disk.io") return error;
  return failed(error.message.replace(/\.$/, ""), error);
}

function failed(what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The result did not stand its proof: ${what}; nothing was published, run again.`,
    { cause },
  );
}
