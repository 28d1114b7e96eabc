/** From staged parts to the finished files: DuckDB tables and sorted Parquet, derived tables, views, checks. */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Check, keyChecks, referenceChecks } from "../audit/checks/checks.ts";
import { columnValues, emptyColumns } from "../audit/checks/columns.ts";
import { type Misfits, misfitsIn } from "../audit/checks/contract.ts";
import { valueChecks } from "../audit/checks/values.ts";
import { WarehouseError } from "../common/errors.ts";
import type { Bounds } from "../storage/id-ranges.ts";
import { exportTables, type LoadedTable, loadTable } from "./load-table.ts";
import { createTable } from "../storage/ddl.ts";
import { checkpoint, openForBuilding } from "../storage/duckdb.ts";
import { type Absences, fillHistory, HISTORY_ROWS_PER_RANGE, type HistoryRun } from "./history.ts";
import type { PreviousHistory } from "./history-previous.ts";
import { type Connections, inLanes } from "../storage/parallel.ts";
import { createHistoryMacros } from "./macros.ts";
import { PartWriter } from "../storage/parquet-file.ts";
import { type StagedPart, sumOfRows } from "./parts.ts";
import { fillDerivedTables, LEDGER_ROWS_PER_RANGE } from "./steps.ts";
import { createSuperseded, SUPERSEDED } from "./superseded.ts";
import { createViewsOver } from "./views.ts";
import type { Table } from "../tables/declare.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import type { DriftEntry } from "../raw/drift.ts";
import { boundsTogether } from "./range-bounds.ts";

export interface AssembleRequest {
  /** Tables of the pipeline, without the run's own. */
  readonly tables: readonly Table[];
  readonly parts: ReadonlyMap<string, readonly StagedPart[]>;
  /** Bytes of a table's parts, roughly. */
  readonly stagedBytes: ReadonlyMap<string, number>;
  /** Rows of the shared tables. */
  readonly sharedRows: ReadonlyMap<string, readonly (readonly Cell[])[]>;
  /** Of the ranges of items that the widest table is loaded by. */
  readonly bounds: Bounds;
  readonly superseded: ReadonlyMap<string, number>;
  readonly passthrough: boolean;
  readonly sequence: number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
  /** Database file to make; below `directory`. */
  readonly database: string;
  /** Folder that gets `parquet/`; below `directory`. */
  readonly finalDirectory: string;
  readonly memoryLimitMb: number;
  /** Of all answers. */
  readonly drift: readonly DriftEntry[];
  /** Ends the work, the statement under way included. */
  readonly signal: AbortSignal;
  /** What the history says of this run, and what it carries on. */
  readonly history: {
    readonly run: HistoryRun;
    readonly previous: PreviousHistory;
    readonly absences: Absences;
  };
  readonly onTable: (done: number, total: number) => void;
  /** Rows of the run's own tables, once the others are loaded and checked; in this order. */
  readonly account: (state: Loaded) => readonly RunRows[];
}

/** What is known when the data tables are loaded. */
export interface Loaded {
  readonly tables: readonly LoadedTable[];
  /** Bytes of a table's Parquet files, by table. */
  readonly parquetBytes: ReadonlyMap<string, number>;
  readonly checks: readonly Check[];
  /** Columns that have no value, though their tables have rows. */
  readonly emptyColumns: readonly string[];
  /** Columns of which some values are not of their type. */
  readonly misfits: readonly Misfits[];
}

/** Made when they are written, where there are many. */
export interface RunRows {
  readonly table: Table;
  readonly rows: Iterable<readonly Cell[]>;
}

export interface Assembled {
  readonly tables: readonly LoadedTable[];
  readonly views: readonly string[];
  readonly emptyColumns: readonly string[];
}

export async function assemble(request: AssembleRequest): Promise<Assembled> {
  await mkdir(request.temporaryDirectory, { recursive: true, mode: 0o700 });
  await using database = await openForBuilding({
    file: request.database,
    staging: request.directory,
    temporaryDirectory: request.temporaryDirectory,
    memoryLimitMb: request.memoryLimitMb,
    previous: request.history.previous.kind === "carried" ? request.history.previous.access : undefined,
  });
  const { connection } = database;
  const connections: Connections = [connection, await database.connect()];
  using _interrupting = interruptOn(request.signal, connections);
  const loaded = await loadTables(connections, request);
  const checks = [
    ...keyChecks(loaded),
    ...(await referenceChecks(connections, request.tables, boundsOfChecks(request))),
    ...(await valueChecks(connection, request.tables)),
  ];
  const parquetBytes = await bytesOf(request, loaded);
  const state = { tables: loaded, parquetBytes, checks, ...(await columnsOf(connection, request, loaded)) };
  const own: LoadedTable[] = [];
  for (const rows of request.account(state)) own.push(await loadRows(connection, request, rows));
  const has = new Set(request.tables.map((table) => table.name));
  const views = [
    ...(await createViewsOver(connection, has)),
    ...(has.has("mapped_value_history") ? await createHistoryMacros(connection) : []),
  ];
  await database.close();
  return { tables: [...loaded, ...own], views, emptyColumns: state.emptyColumns };
}

function interruptOn(signal: AbortSignal, connections: readonly DuckDBConnection[]): Disposable {
  const interrupt = () => {
    for (const connection of connections) connection.interrupt();
  };
  signal.addEventListener("abort", interrupt);
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", interrupt) };
}

/**
 * Bytes of a row, roughly, from which a table is never loaded beside another such: the database holds some 60,000 rows
 * before it writes them, which with articles is more than it may have in memory.
 */
const WIDE_ROW_BYTES = 500;

/** A table, or several one after another. */
type Job = (connection: DuckDBConnection) => Promise<readonly LoadedTable[]>;

/**
 * Two tables at a time, which keeps two cores at work, but one wide table at a time, from the beginning. Then what is
 * made from other tables, step by step, each with both connections.
 */
async function loadTables(connections: Connections, request: AssembleRequest): Promise<LoadedTable[]> {
  const { tables, signal } = request;
  const superseded = request.superseded.size === 0 ? undefined : SUPERSEDED;
  if (superseded !== undefined) {
    for (const connection of connections) await createSuperseded(connection, request.superseded);
  }
  let count = 0;
  request.onTable(0, tables.length);
  const done = (table: LoadedTable): LoadedTable => {
    signal.throwIfAborted();
    count += 1;
    request.onTable(count, tables.length);
    return table;
  };
  const load = (table: Table) => async (connection: DuckDBConnection) => [
    done(await loadStaged(connection, request, table, superseded)),
  ];
  const staged = tables.filter(({ stage }) => stage !== "derived" && stage !== "history");
  const wide = staged.filter((table) => isWide(request, table));
  const bytes = ({ name }: Table) => request.stagedBytes.get(name) ?? 0;
  const beside = staged.filter((table) => !wide.includes(table)).toSorted((a, b) => bytes(b) - bytes(a));
  const oneByOne: Job = async (connection) => {
    const loaded: LoadedTable[] = [];
    for (const table of wide) loaded.push(...(await load(table)(connection)));
    return loaded;
  };
  const loaded = [
    ...(await inLanes(connections, [oneByOne, ...beside.map(load)], (lane, job) => job(lane))).flat(),
    ...(await derive(connections, request)).map(done),
    ...(await carryOn(connections, request)).map(done),
  ];
  const places = new Map(tables.map(({ name }, place) => [name, place]));
  return loaded.sort((a, b) => (places.get(a.table) ?? 0) - (places.get(b.table) ?? 0));
}

function isWide({ parts, stagedBytes }: AssembleRequest, { name }: Table): boolean {
  return (stagedBytes.get(name) ?? 0) > WIDE_ROW_BYTES * sumOfRows(parts.get(name) ?? []);
}

async function loadStaged(
  connection: DuckDBConnection,
  request: AssembleRequest,
  table: Table,
  superseded: string | undefined,
): Promise<LoadedTable> {
  const { parts, sharedRows, finalDirectory, sequence } = request;
  if (table.stage === "shared") {
    return loadRows(connection, request, { table, rows: sharedRows.get(table.name) ?? [] });
  }
  const staged = parts.get(table.name) ?? [];
  const bounds = boundsOf(request, table.name);
  return loadTable(connection, { table, parts: staged, bounds, finalDirectory, sequence, superseded });
}

function boundsOf({ bounds, stagedBytes }: AssembleRequest, table: string): Bounds {
  return boundsTogether(bounds, stagedBytes.get(table) ?? 0);
}

/** Two for each connection: so none of them waits long for the last of the other. */
const BUCKETS_OF_STEPS = 4;

/** Of what is made from the values of items, bucket by bucket. */
function boundsOfSteps({ bounds, stagedBytes }: AssembleRequest): Bounds {
  return boundsTogether(bounds, stagedBytes.get("content_custom_field_values") ?? 0, BUCKETS_OF_STEPS);
}

/** Buckets whose items are looked up together: 80,000 IDs take some 20 MB. */
const BUCKETS_OF_CHECKS = 8;

function boundsOfChecks({ bounds }: AssembleRequest): Bounds {
  return bounds.filter((_, place) => place % BUCKETS_OF_CHECKS === 0);
}

/** Rows of this thread that go into a part: it holds no more of them at once. */
const ROWS_PER_PART = 5000;

/** Loads rows that were made on this thread, by way of parts like all others. */
async function loadRows(
  connection: DuckDBConnection,
  request: AssembleRequest,
  { table, rows }: RunRows,
): Promise<LoadedTable> {
  const { directory, finalDirectory, sequence } = request;
  const parts: StagedPart[] = [];
  const builder = new TableBuilder(table);
  const writer = new PartWriter();
  const write = () => {
    const file = join(directory, "parts", table.name, `${table.name}-${parts.length}.parquet`);
    parts.push({ file, rows: builder.rows, firstKey: "", lastKey: "", generation: 0 });
    builder.take((batch) => writer.write(file, batch));
  };
  for (const row of rows) {
    builder.append(row);
    if (builder.rows === ROWS_PER_PART) write();
  }
  if (builder.rows > 0) write();
  return loadTable(connection, { table, parts, bounds: [], finalDirectory, sequence, superseded: undefined });
}

/** Mapped values and payloads, a range of items at a time. */
async function derive(connections: Connections, request: AssembleRequest): Promise<LoadedTable[]> {
  const derived = request.tables.filter((table) => table.stage === "derived");
  if (derived.length === 0) return [];
  for (const table of derived) await createTable(connections[0], table);
  const bounds = await fillDerivedTables(connections, {
    itemBounds: boundsOfSteps(request),
    passthrough: request.passthrough,
    rowsPerRange: LEDGER_ROWS_PER_RANGE,
  });
  const { finalDirectory, sequence } = request;
  return exportTables(connections, { tables: derived, bounds, finalDirectory, sequence });
}

/**
 * The history, from that of the run before and the tables of this one. Beside its files what waits of all tables is
 * written: the end, where nothing else is to be done, has little left.
 */
async function carryOn(connections: Connections, request: AssembleRequest): Promise<LoadedTable[]> {
  const tables = request.tables.filter((table) => table.stage === "history");
  if (tables.length === 0) return [];
  for (const table of tables) await createTable(connections[0], table);
  const bounds = await fillHistory(connections, {
    ...request.history,
    passthrough: request.passthrough,
    itemBounds: boundsOfSteps(request),
    rowsPerRange: HISTORY_ROWS_PER_RANGE,
  });
  const { finalDirectory, sequence } = request;
  return exportTables(connections, { tables, bounds, finalDirectory, sequence, beside: checkpoint });
}

async function columnsOf(
  connection: DuckDBConnection,
  { tables, drift, finalDirectory }: AssembleRequest,
  loaded: readonly LoadedTable[],
): Promise<Pick<Loaded, "emptyColumns" | "misfits">> {
  const values = await columnValues(connection, loaded, finalDirectory);
  return {
    emptyColumns: emptyColumns(tables, values),
    misfits: await misfitsIn(connection, tables, values, drift),
  };
}

async function bytesOf(
  { finalDirectory }: AssembleRequest,
  loaded: readonly LoadedTable[],
): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  for (const { table, files } of loaded) {
    const sizes = await Promise.all(
      files.map(async ({ path }) => (await stat(join(finalDirectory, path))).size),
    );
    bytes.set(
      table,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  }
  return bytes;
}

/** Throws `verify.failed` for the first check that failed. */
export function assertPassed(checks: readonly Check[]): void {
  const failed = checks.find((check) => check.verdict === "failed");
  if (failed === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The check "${failed.name}" failed (${failed.figure}, expected ${failed.expected ?? "none"}: ${failed.detail}); nothing was published.`,
  );
}
