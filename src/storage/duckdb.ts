/** Opens DuckDB databases, which reach nothing but the folders they are given, and runs statements. */
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { type DuckDBConnection, DuckDBInstance, type DuckDBResult, type DuckDBValue } from "@duckdb/node-api";
import accessors from "@duckdb/node-api/lib/vectors/dataAccessors.js";
import { WarehouseError } from "../common/errors.ts";
import { duckdbError, firstLine } from "./duckdb-error.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** Catalog name of the attached previous run. */
export const PREVIOUS_CATALOG = "previous";
/** Catalog name of the database that is being built. Views name it, and the published file has the same name. */
const BUILT_CATALOG = "warehouse";

/**
 * Oldest DuckDB that can open a built database. It is pinned, so that an upgrade of the engine does not lock readers out.
 * DuckDB 1.3 would silently give wrong results for some views, and 1.4.0 and 1.4.1 fail at them.
 */
const STORAGE_VERSION = "v1.4.0";

/**
 * Half of the default. With half as many rows the file grows by a fifth; with twice as many, the load spills more than it
 * saves.
 */
export const ROWS_PER_GROUP = 61_440;

/**
 * Freed memory from which the engine returns it to the system; its default of 512 MB is never reached. Texts of 500 KB take
 * 40 MB less with it. At 2 MB, returning memory took a fifth of the load's CPU.
 */
const RETURN_MEMORY_AT = "8MB";

const IN_MEMORY = ":memory:";

// The client's own decoder drops a U+FEFF at the beginning of a text, so that two keys could become one. All texts of its
// vectors, also those in lists, structures, maps and variants, go through this decoder.
Object.assign(accessors, { textDecoder: new TextDecoder("utf-8", { ignoreBOM: true }) });

export interface BuildSettings {
  /** Database file to create, in `staging`. */
  readonly file: string;
  /** Existing folder, the only one that the database may read and write. */
  readonly staging: string;
  /** Folder for spilled blocks, in `staging`. */
  readonly temporaryDirectory: string;
  /** Limit of DuckDB's buffers; the process takes up to 400 MB more. */
  readonly memoryLimitMb: number;
  /** Database of the run before, which is attached read-only as `previous`; or its folder, to read files there. */
  readonly previous: string | { readonly directory: string } | undefined;
}

interface ReadSettings {
  readonly file: string;
  /** Database of another run, which is attached read-only as `previous`. */
  readonly previous?: string | undefined;
  /** Folder for spilled blocks. A published run's own folder cannot be written. */
  readonly temporaryDirectory: string;
  /** Folders that may be read in addition to the database. */
  readonly allowedDirectories: readonly string[];
  /** Files that may be written; none by default. */
  readonly allowedPaths?: readonly string[] | undefined;
  /** Maximum size of spilled blocks, such as `10GB`; by default most of the disk. */
  readonly maxSpilled?: string | undefined;
  /** `undefined`: DuckDB's default, a share of the machine. */
  readonly memoryLimitMb: number | undefined;
  readonly threads: number | undefined;
}

const OPEN = new Set<Database>();

/** Makes all running statements of this process fail. */
export function interruptStatements(): void {
  for (const database of OPEN) database.interrupt();
}

/** An open database with its connections. End it with `close()`; disposal is for failures. */
export class Database implements AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly #connections: DuckDBConnection[];
  readonly #instance: DuckDBInstance;
  readonly #built: string | undefined;
  #open = true;

  /** `built`: the file that is being built, if any. */
  constructor(instance: DuckDBInstance, connection: DuckDBConnection, built: string | undefined) {
    this.#instance = instance;
    this.connection = connection;
    this.#connections = [connection];
    this.#built = built;
    OPEN.add(this);
  }

  interrupt(): void {
    for (const connection of this.#connections) connection.interrupt();
  }

  /** A further connection for parallel work. It does not see temporary tables of the first one. */
  async connect(): Promise<DuckDBConnection> {
    const other = await this.#instance.connect();
    this.#connections.push(other);
    if (this.#built !== undefined) await execute(other, `USE ${BUILT_CATALOG}`);
    return other;
  }

  /** Writes everything into the file that is being built and closes it. Throws `verify.failed` if a log stays beside it. */
  async close(): Promise<void> {
    if (!this.#open) return;
    try {
      if (this.#built !== undefined) await checkpoint(this.connection);
    } finally {
      this.#release();
    }
    if (this.#built !== undefined) assertNoWal(this.#built);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#release();
  }

  #release(): void {
    if (!this.#open) return;
    this.#open = false;
    OPEN.delete(this);
    for (const connection of this.#connections) connection.closeSync();
    this.#instance.closeSync();
  }
}

/**
 * Throws `config.output` for a folder in which DuckDB cannot work. It takes a `?` for the beginning of a URL's query and
 * writes its log elsewhere; see also `exactPattern`.
 */
export function assertUsableFolder(folder: string): void {
  exactPattern(folder);
  if (!folder.includes("?")) return;
  throw new WarehouseError(
    "config.output",
    `The path ${folder} contains a question mark, which the database engine does not support; choose another.`,
  );
}

/** Throws `verify.failed` if the file is unfinished: the next reader would replay a write-ahead log beside it. */
export function assertNoWal(file: string): void {
  if (!existsSync(`${file}.wal`)) return;
  throw new WarehouseError(
    "verify.failed",
    `A write-ahead log lies beside ${file}, so it may be incomplete; do not use this run, publish another.`,
  );
}

/** Writes all rows into the file that is being built, also incomplete row groups. Other writers wait. */
export async function checkpoint(connection: DuckDBConnection): Promise<void> {
  await execute(connection, `CHECKPOINT ${BUILT_CATALOG}`);
}

/**
 * Creates a database that reaches nothing outside its staging folder: no other file, no network, no extension, no change of
 * settings. Its time zone is UTC, and it keeps the insertion order.
 *
 * A statement has one thread, because threads that keep the order of rows block each other when memory is short. Parallel
 * work uses several connections. There is no write-ahead log: an interrupted build is not continued, and a log would write
 * all rows twice.
 */
export async function openForBuilding(options: BuildSettings): Promise<Database> {
  const { file, staging, previous, temporaryDirectory, memoryLimitMb } = options;
  assertUsableFolder(staging);
  const settings = {
    ...settingsOf({ temporaryDirectory, memoryLimitMb, threads: 1 }),
    allocator_bulk_deallocation_flush_threshold: RETURN_MEMORY_AT,
    preserve_insertion_order: "true",
    // No automatic checkpoints: each would compress incomplete row groups again.
    checkpoint_threshold: "64GB",
  };
  return open(IN_MEMORY, settings, file, async (connection) => {
    await returnMemory(connection, memoryLimitMb);
    const attached = `RECOVERY_MODE no_wal_writes, STORAGE_VERSION ${quoteLiteral(STORAGE_VERSION)}, ROW_GROUP_SIZE ${ROWS_PER_GROUP}`;
    await execute(connection, `ATTACH ${quoteLiteral(file)} AS ${BUILT_CATALOG} (${attached})`);
    await execute(connection, `USE ${BUILT_CATALOG}`);
    if (typeof previous === "string") await attach(connection, previous, PREVIOUS_CATALOG);
    const readable = typeof previous === "object" ? [previous.directory] : [];
    await harden(connection, [await realpath(staging), staging, ...readable]);
  });
}

/** Opens a finished database read-only, with the same restrictions. Throws `verify.failed` if it is missing or damaged. */
export async function openForReading(options: ReadSettings): Promise<Database> {
  const { file, previous, allowedDirectories, allowedPaths, maxSpilled } = options;
  assertThere(file);
  const settings = {
    ...settingsOf(options),
    access_mode: "READ_ONLY",
    ...(maxSpilled === undefined ? {} : { max_temp_directory_size: maxSpilled }),
  };
  return open(file, settings, undefined, async (connection) => {
    if (previous !== undefined) await attach(connection, previous, PREVIOUS_CATALOG);
    await harden(connection, allowedDirectories, allowedPaths);
  });
}

function assertThere(file: string): void {
  if (!existsSync(file)) {
    throw new WarehouseError(
      "verify.failed",
      `The database ${file} is missing; "content-warehouse runs rollback" makes another run current.`,
    );
  }
  assertNoWal(file);
}

/** Catalog name of an attached published run. */
export const PUBLISHED_CATALOG = "published";

export interface ScanSettings extends Omit<ReadSettings, "file" | "allowedPaths" | "maxSpilled"> {
  /** Database to attach read-only as `published`. */
  readonly published?: string | undefined;
}

/**
 * Opens a database in memory that reads files of these folders, each once, and the attached databases. Temporary tables of
 * a question go into it. Throws `verify.failed` if an attached database is missing or damaged.
 */
export async function openForScanning({ published, previous, ...options }: ScanSettings): Promise<Database> {
  const { memoryLimitMb, allowedDirectories } = options;
  const settings = {
    ...settingsOf(options),
    allocator_bulk_deallocation_flush_threshold: RETURN_MEMORY_AT,
    enable_external_file_cache: "false",
  };
  return open(IN_MEMORY, settings, undefined, async (connection) => {
    if (memoryLimitMb !== undefined) await returnMemory(connection, memoryLimitMb);
    if (published !== undefined) await attach(connection, published, PUBLISHED_CATALOG);
    if (previous !== undefined) await attach(connection, previous, PREVIOUS_CATALOG);
    await harden(connection, allowedDirectories);
  });
}

/** Makes the engine return freed memory to the system, by setting its limit again. */
async function returnMemory(connection: DuckDBConnection, memoryLimitMb: number): Promise<void> {
  await execute(connection, `SET memory_limit = '${memoryLimitMb}MB'`);
}

async function attach(connection: DuckDBConnection, file: string, catalog: string): Promise<void> {
  assertThere(file);
  const sql = `ATTACH ${quoteLiteral(file)} AS ${quoteIdentifier(catalog)} (READ_ONLY)`;
  await connection.run(sql).catch((thrown: unknown) => {
    throw unreadable(thrown, file);
  });
}

/** Settings with the limits, and without extensions. */
function settingsOf({
  temporaryDirectory,
  memoryLimitMb,
  threads,
}: Pick<ReadSettings, "temporaryDirectory" | "memoryLimitMb" | "threads">): Record<string, string> {
  return {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    temp_directory: temporaryDirectory,
    ...(memoryLimitMb === undefined ? {} : { memory_limit: `${memoryLimitMb}MB` }),
    ...(threads === undefined ? {} : { threads: String(threads) }),
  };
}

/** `built`: the file that is being built, which `prepare` attaches. */
async function open(
  file: string,
  settings: Record<string, string>,
  built: string | undefined,
  prepare: (connection: DuckDBConnection) => Promise<void>,
): Promise<Database> {
  let instance: DuckDBInstance;
  try {
    instance = await DuckDBInstance.create(file, settings);
  } catch (thrown) {
    throw file === IN_MEMORY ? duckdbError(thrown) : unreadable(thrown, file);
  }
  const database = new Database(instance, await instance.connect(), built);
  try {
    await prepare(database.connection);
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
  return database;
}

function unreadable(thrown: unknown, file: string): WarehouseError {
  const error = duckdbError(thrown);
  if (error.code === "config.output") return error;
  return new WarehouseError(
    "verify.failed",
    `The database ${file} cannot be opened (${firstLine(thrown)}); it is damaged or being written by another program.`,
    { cause: thrown },
  );
}

/** Restricts a database. The order matters: allowed paths, then no external access, then the lock. */
async function harden(
  connection: DuckDBConnection,
  directories: readonly string[],
  paths: readonly string[] = [],
): Promise<void> {
  await execute(connection, "SET GLOBAL TimeZone = 'UTC'");
  await execute(connection, `SET allowed_paths = [${paths.map(quoteLiteral).join(", ")}]`);
  const allowed = directories.flatMap((directory) => [directory, exactPattern(directory)]).map(quoteLiteral);
  await execute(connection, `SET allowed_directories = [${allowed.join(", ")}]`);
  await execute(connection, "SET enable_external_access = false");
  await execute(connection, "SET lock_configuration = true");
}

/** Values of a statement's `$1`, `$2`, ... */
export type QueryParams = readonly DuckDBValue[];

/** `undefined` if there are none: then the client takes one step instead of four. */
function bound(params: QueryParams): DuckDBValue[] | undefined {
  return params.length === 0 ? undefined : [...params];
}

/** Runs one statement, or several without parameters, and discards the results. */
export async function execute(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<void> {
  await attempt(async () => connection.run(sql, bound(params)));
}

/** A row by column name. It has no prototype, so a column may be named `__proto__`. */
export type QueryRow = Readonly<Record<string, DuckDBValue>>;

/** All rows of a query. Counts and integers above 32 bits are bigint; see `toSafeInteger`. */
export async function all(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<QueryRow[]> {
  const reader = await attempt(async () => connection.runAndReadAll(sql, bound(params)));
  const names = reader.deduplicatedColumnNames();
  return reader.getRows().map((cells) => {
    const row: Record<string, DuckDBValue> = Object.create(null);
    for (const [index, name] of names.entries()) row[name] = cells[index] ?? null;
    return row;
  });
}

/** The single number of a query such as `SELECT count(*) ...`. */
export async function scalar(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<number> {
  const [row] = await all(connection, sql, params);
  return toSafeInteger(Object.values(row ?? {})[0] ?? null);
}

/** An integer as a number. Throws if that would round it. */
export function toSafeInteger(value: DuckDBValue): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new WarehouseError("internal", "A figure from the database is no integer below 2^53.");
}

/** Result of one statement, whose chunks are fetched as they are read. */
export async function stream(connection: DuckDBConnection, sql: string): Promise<DuckDBResult> {
  return attempt(async () => connection.stream(sql));
}

/** A SELECT with its parameters. */
export interface SqlQuery {
  readonly text: string;
  readonly params: QueryParams;
}

async function attempt<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    throw duckdbError(thrown);
  }
}
