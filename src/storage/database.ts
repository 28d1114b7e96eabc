/** Opens DuckDB databases, which reach nothing but the folders they are given. */
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { execute } from "./duckdb.ts";
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
  const settings = {
    ...settingsOf({ temporaryDirectory, memoryLimitMb, threads: 1 }),
    allocator_bulk_deallocation_flush_threshold: RETURN_MEMORY_AT,
    preserve_insertion_order: "true",
    // No automatic checkpoints: each would compress incomplete row groups again.
    checkpoint_threshold: "64GB",
  };
  return open(IN_MEMORY, settings, file, async (connection) => {
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
  const { allowedDirectories } = options;
  const settings = {
    ...settingsOf(options),
    allocator_bulk_deallocation_flush_threshold: RETURN_MEMORY_AT,
    enable_external_file_cache: "false",
  };
  return open(IN_MEMORY, settings, undefined, async (connection) => {
    if (published !== undefined) await attach(connection, published, PUBLISHED_CATALOG);
    if (previous !== undefined) await attach(connection, previous, PREVIOUS_CATALOG);
    await harden(connection, allowedDirectories);
  });
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
    // Setting the limit again makes the engine return freed memory to the system.
    const limit = file === IN_MEMORY ? settings.memory_limit : undefined;
    if (limit !== undefined) await execute(database.connection, `SET memory_limit = '${limit}'`);
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
