import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { type DuckDBConnection, DuckDBInstance, type DuckDBResult, type DuckDBValue } from "@duckdb/node-api";
import { type ErrorCode, WarehouseError } from "../common/errors.ts";
import "./exact-texts.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** Catalog name under which the previous run is attached to the one that is being built. */
export const PREVIOUS_CATALOG = "previous";
/** Catalog name of the database that is being built: that of its file, once it is published. */
const BUILT_CATALOG = "warehouse";

/**
 * Oldest DuckDB that can open what is built: pinned, so that an upgrade of the engine does not lock readers out in
 * silence. 1.3 would give wrong answers to views without a word (twice the rows of `mapping_coverage`, no payloads of an
 * instant); 1.4.0 and 1.4.1 fail at them.
 */
const STORAGE_VERSION = "v1.4.0";

/**
 * Half of the default. What the engine knows of a row group, and rows that fill none, stay in memory or are spilled: with
 * half as many rows the file grows by a fifth, with twice as many the load spills more than it saves.
 */
export const ROWS_PER_GROUP = 61_440;

/**
 * Average length from which texts are compressed with Zstandard, or they need seven times the bytes; their columns are
 * declared. In another column it takes row groups with a text that is too long for the other way.
 */
export const LONG_TEXT_BYTES = 512;

/**
 * What a block may take before what statements have freed goes back to the system; the engine's own 512 MB are never
 * asked for at once. Texts of 500 KB take 40 MB less with it. At 2 MB memory was given back and asked for again all the
 * time: a fifth of the load's CPU.
 */
const GIVE_BACK_AT = "8MB";

const IN_MEMORY = ":memory:";

export interface BuildSettings {
  /** Database file to create; lies in `staging`. */
  readonly file: string;
  /** Folder that the database may read and write, and nothing else; exists. */
  readonly staging: string;
  /** Folder for spilled blocks; lies in `staging`. */
  readonly temporaryDirectory: string;
  /** Of DuckDB's buffers; the process takes up to 400 MB more. */
  readonly memoryLimitMb: number;
  /** Database of the run before, attached read-only as `previous` (never later), or its folder to read files of. */
  readonly previous: string | { readonly directory: string } | undefined;
}

interface ReadSettings {
  readonly file: string;
  /** Database of another run, attached read-only as `previous`. */
  readonly previous?: string | undefined;
  /** Folder for spilled blocks: a published run lies in a folder that cannot be written. */
  readonly temporaryDirectory: string;
  /** Folders that may be read besides the database itself. */
  readonly allowedDirectories: readonly string[];
  /** Files that may be written; none unless given. */
  readonly allowedPaths?: readonly string[] | undefined;
  /** Bytes of spilled blocks at most, such as `10GB`; DuckDB's own default unless given: most of the disk. */
  readonly maxSpilled?: string | undefined;
  /** Undefined: DuckDB's own default, a share of the machine. */
  readonly memoryLimitMb: number | undefined;
  readonly threads: number | undefined;
}

/** Databases that are open in this process. */
const OPEN = new Set<Database>();

/** Ends the statements that are under way in this process: each fails. */
export function interruptStatements(): void {
  for (const database of OPEN) database.interrupt();
}

/** An open database with its connections. Leave it with `close()`; disposal is for ways out that failed. */
export class Database implements AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly #connections: DuckDBConnection[];
  readonly #instance: DuckDBInstance;
  readonly #built: string | undefined;
  #open = true;

  /** `built`: the file that is being built; undefined: nothing is. */
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

  /** A further connection, for work beside that of the first; what is temporary there is not seen here. */
  async connect(): Promise<DuckDBConnection> {
    const other = await this.#instance.connect();
    this.#connections.push(other);
    if (this.#built !== undefined) await execute(other, `USE ${BUILT_CATALOG}`);
    return other;
  }

  /** Writes everything into the file that is built and lets go of it; throws `verify.failed` if a log stays beside it. */
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
 * Refuses, as `config.output`, a folder in which DuckDB cannot work: at a `?` it takes the rest of a path for the
 * query of a web address and puts its log into another folder; see `exactPattern` for the other case.
 */
export function assertUsableFolder(folder: string): void {
  exactPattern(folder);
  if (!folder.includes("?")) return;
  throw new WarehouseError(
    "config.output",
    `The path ${folder} has a question mark in it, which the database engine cannot work with; choose another.`,
  );
}

/** A write-ahead log beside a database would be replayed into it by the next reader: such a file is not finished. */
export function assertNoWal(file: string): void {
  if (!existsSync(`${file}.wal`)) return;
  throw new WarehouseError(
    "verify.failed",
    `A write-ahead log lies beside ${file}, so its content is not settled; do not use this run, publish another.`,
  );
}

/** Writes all rows into the file that is built, also those that fill no row group. What others write meanwhile waits. */
export async function checkpoint(connection: DuckDBConnection): Promise<void> {
  await execute(connection, `CHECKPOINT ${BUILT_CATALOG}`);
}

/**
 * A new database that can reach nothing outside its staging folder: no other file, no network, no extension, no
 * change of settings. Time zone UTC, insertion order kept.
 *
 * A statement has one thread: several that must keep the order of rows take turns where memory is short, while the others
 * spin. What is to be done beside each other has connections of its own.
 *
 * It has no write-ahead log: nobody could go on with it, and a log would hold all rows again and wait for the disk.
 */
export async function openForBuilding(options: BuildSettings): Promise<Database> {
  const { file, staging, previous, temporaryDirectory, memoryLimitMb } = options;
  assertUsableFolder(staging);
  const settings = {
    ...settingsOf({ temporaryDirectory, memoryLimitMb, threads: 1 }),
    allocator_bulk_deallocation_flush_threshold: GIVE_BACK_AT,
    preserve_insertion_order: "true",
    // Never by itself: a checkpoint on the way compresses again what is no full row group yet.
    checkpoint_threshold: "64GB",
    zstd_min_string_length: String(LONG_TEXT_BYTES),
  };
  return open(IN_MEMORY, settings, file, async (connection) => {
    await giveBack(connection, memoryLimitMb);
    const attached = `RECOVERY_MODE no_wal_writes, STORAGE_VERSION ${quoteLiteral(STORAGE_VERSION)}, ROW_GROUP_SIZE ${ROWS_PER_GROUP}`;
    await execute(connection, `ATTACH ${quoteLiteral(file)} AS ${BUILT_CATALOG} (${attached})`);
    await execute(connection, `USE ${BUILT_CATALOG}`);
    if (typeof previous === "string") await execute(connection, attachment(previous, PREVIOUS_CATALOG));
    const readable = typeof previous === "object" ? [previous.directory] : [];
    await harden(connection, [await realpath(staging), staging, ...readable]);
  });
}

/** A finished database, read-only, with the same walls around it. Throws `verify.failed` if there is none. */
export async function openForReading(options: ReadSettings): Promise<Database> {
  const { file, previous, allowedDirectories, allowedPaths, maxSpilled } = options;
  assertThere(file);
  const settings = {
    ...settingsOf(options),
    access_mode: "READ_ONLY",
    ...(maxSpilled === undefined ? {} : { max_temp_directory_size: maxSpilled }),
  };
  return open(file, settings, undefined, async (connection) => {
    if (previous !== undefined) await attach(connection, { file: previous, catalog: PREVIOUS_CATALOG });
    await harden(connection, allowedDirectories, allowedPaths);
  });
}

/** A database that was published must be there, and finished. */
function assertThere(file: string): void {
  if (!existsSync(file)) {
    throw new WarehouseError(
      "verify.failed",
      `The database ${file} is missing; "content-warehouse runs rollback" makes another run current.`,
    );
  }
  assertNoWal(file);
}

/** Catalog name of a published run that is attached. */
export const PUBLISHED_CATALOG = "published";

export interface ScanSettings extends Omit<ReadSettings, "file" | "allowedPaths" | "maxSpilled"> {
  /** Database that is attached read-only as `published`. */
  readonly published?: string | undefined;
}

/**
 * A database in memory that reads files of these folders, each once, and the finished databases beside it, which it cannot
 * write; what a question makes stands in it. Throws `verify.failed` where one is missing or cannot be opened.
 */
export async function openForScanning({ published, previous, ...options }: ScanSettings): Promise<Database> {
  const { memoryLimitMb, allowedDirectories } = options;
  const attached = [
    ...(published === undefined ? [] : [{ file: published, catalog: PUBLISHED_CATALOG }]),
    ...(previous === undefined ? [] : [{ file: previous, catalog: PREVIOUS_CATALOG }]),
  ];
  const settings = {
    ...settingsOf(options),
    allocator_bulk_deallocation_flush_threshold: GIVE_BACK_AT,
    enable_external_file_cache: "false",
  };
  return open(IN_MEMORY, settings, undefined, async (connection) => {
    if (memoryLimitMb !== undefined) await giveBack(connection, memoryLimitMb);
    for (const each of attached) await attach(connection, each);
    await harden(connection, allowedDirectories);
  });
}

/** Set once more, the limit makes the engine give back to the system what the process has freed by now. */
async function giveBack(connection: DuckDBConnection, memoryLimitMb: number): Promise<void> {
  await execute(connection, `SET memory_limit = '${memoryLimitMb}MB'`);
}

/** A finished database. Throws `verify.failed` where it is missing or cannot be opened. */
async function attach(
  connection: DuckDBConnection,
  { file, catalog }: { readonly file: string; readonly catalog: string },
): Promise<void> {
  assertThere(file);
  await connection.run(attachment(file, catalog)).catch((thrown: unknown) => {
    throw unreadable(thrown, file);
  });
}

function attachment(file: string, catalog: string): string {
  return `ATTACH ${quoteLiteral(file)} AS ${quoteIdentifier(catalog)} (READ_ONLY)`;
}

type Limits = Pick<ReadSettings, "temporaryDirectory" | "memoryLimitMb" | "threads">;

/** With the limits, and without extensions. */
function settingsOf({ temporaryDirectory, memoryLimitMb, threads }: Limits): Record<string, string> {
  return {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    temp_directory: temporaryDirectory,
    ...(memoryLimitMb === undefined ? {} : { memory_limit: `${memoryLimitMb}MB` }),
    ...(threads === undefined ? {} : { threads: String(threads) }),
  };
}

/** `built`: the file that is built, which `prepare` attaches. */
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

/** Order matters: what may be reached is said before external access ends, and the lock comes last. */
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

/** The values of a statement's `$1`, `$2`, ... */
export type QueryParams = readonly DuckDBValue[];

/** Undefined where there are none: then a statement goes to the engine in one step instead of four. */
function bound(params: QueryParams): DuckDBValue[] | undefined {
  return params.length === 0 ? undefined : [...params];
}

/** Runs one statement, or several without parameters; what they answer is thrown away. */
export async function execute(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<void> {
  await attempt(async () => connection.run(sql, bound(params)));
}

/** A row by column name, without a prototype: a column named `__proto__` is a column like any other. */
export type QueryRow = Readonly<Record<string, DuckDBValue>>;

/** All rows of a query. Integers above 32 bit and counts are bigint; see `toSafeInteger`. */
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

/** The single figure of a query such as `SELECT count(*) ...`. */
export async function scalar(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<number> {
  const reader = await attempt(async () => connection.runAndReadAll(sql, bound(params)));
  return toSafeInteger(reader.getRows()[0]?.[0] ?? null);
}

/** An integer of any width as a number; throws rather than round. */
export function toSafeInteger(value: DuckDBValue): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new WarehouseError("internal", "A figure from the database is no integer below 2^53.");
}

/** Streamed result of one statement: chunks are fetched as they are read. */
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

const FULL = /No space left|Disk quota|failed to offload/i;
const TOO_LARGE = /File too large/i;
const DISK = /Input\/output error|Could not (write|sync)|fsync failed/i;
/** The second is told by a checkpoint that failed for want of memory, and invalidated the database. */
const MEMORY = /^Out of Memory Error|Original error: (failed to (pin|allocate)|could not allocate)/i;
/** Other reasons are the disk's. */
const INVALIDATED = /database has been invalidated/i;
/** Kinds whose text repeats the cell that failed: shown without it, because a cell may hold personal data. */
const REPEATS_CELLS = /^(Conversion|Constraint|Invalid Input|Out of Range|Serialization) Error/;

/** A file that is not what was written: of a database, or of Parquet. No cell stands in such a line. */
const DAMAGE = /^(?:IO Error: (Corrupt database file)|Invalid Input Error: (Failed to read file .*))/;

const DENIED = /Cannot open file "(.*)": Permission denied/;

/**
 * What DuckDB threw, as a WarehouseError: `disk.full` or `disk.io` where the disk is at fault, `verify.failed` where a file is damaged,
 * `config.output` where this user may not read it, else `internal`, also for want of memory.
 */
export function duckdbError(thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const error = (code: ErrorCode, sentence: string) => new WarehouseError(code, sentence, { cause: thrown });
  const line = firstLine(thrown);
  const denied = DENIED.exec(line)?.[1];
  if (denied !== undefined) {
    const wayOut = "permission is denied; ask as a user who may read all of the warehouse";
    return error("config.output", `${denied} cannot be read: ${wayOut}.`);
  }
  const damage = DAMAGE.exec(line);
  if (damage !== null) {
    return error(
      "verify.failed",
      `A file is damaged (${damage[1] ?? damage[2]}); "content-warehouse verify" says which of a published run, and "content-warehouse runs rollback" makes another run current.`,
    );
  }
  const memory = MEMORY.test(line);
  if (FULL.test(line)) return error("disk.full", "The disk has no room for the database; free space.");
  if (TOO_LARGE.test(line))
    return error("disk.full", "A file of the database may not grow (EFBIG); raise its limit (ulimit -f).");
  if (DISK.test(line) || (INVALIDATED.test(line) && !memory))
    return error("disk.io", "The disk refused a write of the database; check the disk.");
  if (memory) return error("internal", "The database ran out of memory; give the run more memory.");
  return error("internal", `The database refused a step: ${REPEATS_CELLS.exec(line)?.[0] ?? line}.`);
}

function firstLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return (text.split("\n", 1)[0] ?? "").replace(/\.$/, "");
}
