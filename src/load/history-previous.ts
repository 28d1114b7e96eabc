/** The history that the run before carries: found, proven whole, and read by one name whatever was published. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { duckdbColumns } from "../storage/ddl.ts";
import {
  all,
  execute,
  openForReading,
  openForScanning,
  PREVIOUS_CATALOG,
  toSafeInteger,
} from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { HISTORY_TABLES, HISTORY_VERSION } from "../tables/history.ts";
import type { Manifest, PublishedFile } from "../warehouse/manifest.ts";

export type PreviousHistory =
  /** Nothing was published yet. */
  | { readonly kind: "none" }
  /** There is a run before, but its history cannot be carried on. */
  | { readonly kind: "anew"; readonly run: string; readonly reason: string }
  | CarriedHistory;

export interface CarriedHistory {
  readonly kind: "carried";
  readonly run: string;
  /** What `openForBuilding` needs to reach it: a database, or the run's folder with Parquet files. */
  readonly access: string | { readonly directory: string };
  /** Where the rows of a table are: SQL that may follow FROM, by table. */
  readonly sources: ReadonlyMap<string, string>;
}

/** A published run whose history might be carried on. */
export interface PreviousRun {
  readonly run: string;
  readonly directory: string;
  readonly manifest: Manifest;
}

const DATABASE = "warehouse.duckdb";
const LIMITS = { memoryLimitMb: 128, threads: 1 };

/**
 * The history of a published run, from its Parquet files where it has them, because those can be proven by themselves,
 * else from its database. Each file that will be read is held against the size and SHA-256 of the manifest. What is
 * missing, damaged or of another form cannot be carried on; nothing is guessed.
 * Throws `config.newer_version` for a history that a newer program wrote.
 */
export async function findHistory(
  previous: PreviousRun,
  temporaryDirectory: string,
): Promise<PreviousHistory> {
  const { run, manifest } = previous;
  const anew = (reason: string): PreviousHistory => ({ kind: "anew", run, reason });
  const missing = HISTORY_TABLES.find(({ name }) => manifest.rows[name] === undefined);
  if (missing !== undefined) return anew(`it has no table ${missing.name}`);
  const found = manifest.loaders.includes("parquet") ? parquetOf(previous) : databaseOf(previous);
  for (const file of found.files) {
    const finding = await findingIn(previous.directory, file);
    if (finding !== undefined) return anew(finding);
  }
  try {
    await assertReadable(previous, found.history, temporaryDirectory);
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code === "config.newer_version" || error.code === "disk.io") throw error;
    return anew(error.message.replace(/\.$/, ""));
  }
  return found.history;
}

interface Found {
  readonly history: CarriedHistory;
  /** What has to be whole. */
  readonly files: readonly PublishedFile[];
}

function parquetOf({ run, directory, manifest }: PreviousRun): Found {
  const files: PublishedFile[] = [];
  const sources = new Map<string, string>();
  for (const { name } of HISTORY_TABLES) {
    const own = manifest.files.filter(({ path }) => path.startsWith(`parquet/${name}/`));
    files.push(...own);
    sources.set(name, readParquet(own.map(({ path }) => join(directory, path))));
  }
  return { history: { kind: "carried", run, access: { directory }, sources }, files };
}

function databaseOf({ run, directory, manifest }: PreviousRun): Found {
  const catalog = quoteIdentifier(PREVIOUS_CATALOG);
  const sources = new Map(
    HISTORY_TABLES.map(({ name }) => [name, `${catalog}.main.${quoteIdentifier(name)}`]),
  );
  const files = manifest.files.filter(({ path }) => path === DATABASE);
  return { history: { kind: "carried", run, access: join(directory, DATABASE), sources }, files };
}

async function findingIn(directory: string, file: PublishedFile): Promise<string | undefined> {
  const path = join(directory, file.path);
  try {
    if ((await stat(path)).size !== file.bytes)
      return `its file ${file.path} has another size than it was published with`;
    const digest = createHash("sha256");
    await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), digest);
    if (digest.digest("hex") !== file.sha256)
      return `its file ${file.path} has another content than it was published with`;
    return undefined;
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code === "disk.io") throw error;
    return `its file ${file.path} is missing or cannot be read`;
  }
}

/** Throws where the tables are not what this program carries on. */
async function assertReadable(
  previous: PreviousRun,
  history: CarriedHistory,
  temporaryDirectory: string,
): Promise<void> {
  const options = { temporaryDirectory, allowedDirectories: [previous.directory], ...LIMITS };
  const { access, sources } = history;
  await using database = await (typeof access === "string"
    ? openForReading({ file: access, ...options })
    : openForScanning(options));
  const { connection } = database;
  const source = (name: string) =>
    typeof access === "string" ? quoteIdentifier(name) : (sources.get(name) ?? "");
  const [row] = await all(
    connection,
    `SELECT max(history_version) AS version, max(sequence) AS latest FROM ${source("run_history")}`,
  );
  const version = toSafeInteger(row?.version ?? 0);
  if (version > HISTORY_VERSION) {
    throw new WarehouseError(
      "config.newer_version",
      `The history in ${previous.directory} was written by a newer version of content-warehouse; update this one to carry it on.`,
    );
  }
  if (version < HISTORY_VERSION)
    throw new WarehouseError("verify.failed", `its history has an older form (${version})`);
  for (const table of HISTORY_TABLES) {
    const [counted] = await all(
      connection,
      `SELECT count(*) AS "rows" FROM (SELECT ${duckdbColumns(table)} FROM ${source(table.name)})`,
    );
    if (toSafeInteger(counted?.rows ?? 0) === previous.manifest.rows[table.name]) continue;
    throw new WarehouseError(
      "verify.failed",
      `its table ${table.name} has not the rows that it was published with`,
    );
  }
}

/** Makes `previous_<table>` of each table of the history: temporary views of what is carried on, or of nothing. */
export async function attachPrevious(connection: DuckDBConnection, previous: PreviousHistory): Promise<void> {
  for (const table of HISTORY_TABLES) {
    const view = quoteIdentifier(`previous_${table.name}`);
    const source = previous.kind === "carried" ? previous.sources.get(table.name) : undefined;
    const rows = source ?? `main.${quoteIdentifier(table.name)} WHERE false`;
    await execute(
      connection,
      `CREATE OR REPLACE TEMP VIEW ${view} AS SELECT ${duckdbColumns(table)} FROM ${rows}`,
    );
  }
}
