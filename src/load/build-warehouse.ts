/** From staged parts to the finished files: DuckDB tables and sorted Parquet, derived tables, views. */
import { addAbortListener } from "node:events";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import type { DriftEntry, DriftItems } from "../raw/drift.ts";
import { createTable, parquetColumns } from "../storage/ddl.ts";
import { checkpoint, type Database, execute, openForBuilding, type SqlQuery } from "../storage/duckdb.ts";
import { failureText } from "../storage/failure-text.ts";
import type { RangeBounds } from "../storage/id-ranges.ts";
import { type ConnectionPool, mapParallel } from "../storage/parallel.ts";
import { type StagedPart, sumOfRows } from "../storage/parquet-file.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Cell } from "../storage/table-builder.ts";
import { contentCustomFieldValues, customFieldSelectValues, customFields } from "../tables/custom-fields.ts";
import type { Stage, Table } from "../tables/declare.ts";
import { customFieldMappings, customFieldMappingValues } from "../tables/destinations.ts";
import { fillHistory, HISTORY_ROWS_PER_RANGE, type HistoryRequest } from "./history.ts";
import type { BoundsByTable } from "./kept-ranges.ts";
import { type ExportRequest, exportTables, type LoadedTable, loadTable } from "./load-table.ts";
import { createViewsAndMacros } from "./macros.ts";
import { boundsTogether } from "./range-bounds.ts";
import { type RunRows, stageRows } from "./stage-rows.ts";
import type { StagedTable } from "./staged-ranges.ts";
import { customFieldValuesSql, fillDerivedTables, LEDGER_ROWS_PER_RANGE } from "./steps.ts";
import { hasViews } from "./views.ts";
import { fieldTypeDrift } from "./wide-columns.ts";

export interface BuildRequest {
  /** Tables of the pipeline, without the run's own. */
  readonly tables: readonly Table[];
  readonly parts: ReadonlyMap<string, readonly StagedPart[]>;
  /** Bytes of a table's parts, roughly. */
  readonly stagedBytes: ReadonlyMap<string, number>;
  /** Rows of the shared tables. */
  readonly entityRows: ReadonlyMap<string, readonly (readonly Cell[])[]>;
  /** Of the ranges of items that the widest table is loaded by. */
  readonly bounds: RangeBounds;
  /** Of the files of each table of items. */
  readonly fileBounds: BoundsByTable;
  /** Of the files that the run has whose ranges are kept; empty: all are cut anew. */
  readonly boundsBefore: BoundsByTable;
  readonly passthrough: boolean;
  /** Queries that give the rows of tables of the user's own, by their names, in this order. */
  readonly queries: Readonly<Record<string, string>>;
  readonly sequence: number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
  /** Database file to make; below `directory`. */
  readonly database: string;
  /** Folder that gets `parquet/`; below `directory`. */
  readonly finalDirectory: string;
  readonly memoryLimitMb: number;
  /** Ends the work, the statement under way included. */
  readonly signal: AbortSignal;
  /** What the history says of this run, and what it carries on. */
  readonly history: Pick<HistoryRequest, "run" | "previous" | "absences">;
  readonly onTable: (done: number, total: number) => void;
}

/** Bytes of a row from which a table is not loaded beside another such: some 60,000 rows are in memory at a time. */
const WIDE_ROW_BYTES = 500;

/** Stages of tables that are made from other tables. */
const FROM_TABLES: ReadonlySet<Stage> = new Set(["derived", "history", "query"]);

/** Tables that are loaded before all others, whose rows are made with them. */
const DEFINITIONS: ReadonlySet<string> = new Set([
  customFields.name,
  customFieldSelectValues.name,
  customFieldMappings.name,
  customFieldMappingValues.name,
]);

/** Two for each connection: so none of them waits long for the last of the other. */
const RANGES_OF_STEPS = 4;

/** Ranges whose items are looked up together: 80,000 IDs take some 20 MB. */
const RANGES_OF_CHECKS = 8;

interface Opened {
  readonly database: Database;
  readonly connections: ConnectionPool;
}

async function opened(request: BuildRequest): Promise<Opened> {
  const { previous } = request.history;
  const database = await openForBuilding({
    file: request.database,
    staging: request.directory,
    temporaryDirectory: request.temporaryDirectory,
    memoryLimitMb: request.memoryLimitMb,
    previous: previous.kind === "carried" ? previous.access : undefined,
  });
  return { database, connections: [database.connection, await database.connect()] };
}

/** The tables of a run on their way into its files: first those of the data, then the run's own, then the views. */
export class WarehouseBuild implements AsyncDisposable {
  readonly #request: BuildRequest;
  readonly #interrupting: Disposable;
  #open: Opened;

  private constructor(request: BuildRequest, open: Opened) {
    this.#request = request;
    this.#open = open;
    this.#interrupting = addAbortListener(request.signal, () => this.#open.database.interrupt());
  }

  static async open(request: BuildRequest): Promise<WarehouseBuild> {
    await mkdir(request.temporaryDirectory, { recursive: true, mode: 0o700 });
    return new WarehouseBuild(request, await opened(request));
  }

  get connections(): ConnectionPool {
    return this.#open.connections;
  }

  /**
   * Loads the tables of the pipeline: two at a time, but one wide table at a time, from the beginning. Then, with both
   * connections each, what is made from other tables. Errors: `verify.failed` where rows went missing on the way.
   */
  async loadData(): Promise<LoadedTable[]> {
    const { tables, signal, parts, stagedBytes, onTable } = this.#request;
    let count = 0;
    onTable(0, tables.length);
    const done = (table: LoadedTable): LoadedTable => {
      signal.throwIfAborted();
      count += 1;
      onTable(count, tables.length);
      return table;
    };
    const bytes = ({ name }: Table) => stagedBytes.get(name) ?? 0;
    const isWide = (table: Table) => bytes(table) > WIDE_ROW_BYTES * sumOfRows(parts.get(table.name) ?? []);
    const isFirst = ({ name }: Table) => DEFINITIONS.has(name);
    const loaded = [];
    for (const table of tables.filter(isFirst))
      loaded.push([done(await this.#loadStaged(this.connections[0], table))]);
    const staged = tables.filter((table) => !FROM_TABLES.has(table.stage) && !isFirst(table));
    const wide = staged.filter(isWide);
    const beside = staged.filter((table) => !wide.includes(table)).toSorted((a, b) => bytes(b) - bytes(a));
    const oneAfterAnother = [wide, ...beside.map((table) => [table])];
    const others = await mapParallel(this.connections, oneAfterAnother, async (connection, several) => {
      const some: LoadedTable[] = [];
      for (const table of several) some.push(done(await this.#loadStaged(connection, table)));
      return some;
    });
    loaded.push(...others);
    for (const step of [() => this.#derive(), () => this.#carryOn(), () => this.#query()]) {
      loaded.push((await step()).map(done));
    }
    const places = new Map(tables.map(({ name }, place) => [name, place]));
    return loaded.flat().sort((a, b) => (places.get(a.table) ?? 0) - (places.get(b.table) ?? 0));
  }

  /** Bytes of a table's Parquet files, by table. */
  async parquetBytes(loaded: readonly LoadedTable[]): Promise<Map<string, number>> {
    const bytes = new Map<string, number>();
    for (const { table, files } of loaded) {
      let sum = 0;
      for (const { path } of files) sum += (await stat(join(this.#request.finalDirectory, path))).size;
      bytes.set(table, sum);
    }
    return bytes;
  }

  /** What in the loaded tables departs from the definitions of the custom fields. */
  async fieldTypeDrift(): Promise<(DriftEntry & DriftItems)[]> {
    return hasViews(this.#names) ? fieldTypeDrift(this.connections[0]) : [];
  }

  get #names(): ReadonlySet<string> {
    return new Set(this.#request.tables.map((table) => table.name));
  }

  get boundsOfChecks(): RangeBounds {
    return this.#request.bounds.filter((_, place) => place % RANGES_OF_CHECKS === 0);
  }

  /** Makes the views. */
  async createViews(): Promise<void> {
    await createViewsAndMacros(this.connections[0], this.#names);
  }

  /** Lets others open the database as it is: meanwhile it is closed. */
  async whileClosed<Given>(read: () => Promise<Given>): Promise<Given> {
    await this.close();
    const given = await read();
    this.#open = await opened(this.#request);
    return given;
  }

  async close(): Promise<void> {
    await this.#open.database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#interrupting[Symbol.dispose]();
    await this.#open.database[Symbol.asyncDispose]();
  }

  async #loadStaged(connection: DuckDBConnection, table: Table): Promise<LoadedTable> {
    const { name, stage } = table;
    const { parts, entityRows, fileBounds, boundsBefore, finalDirectory, sequence } = this.#request;
    if (stage === "shared") return this.loadRows({ table, rows: entityRows.get(name) ?? [] }, connection);
    const bounds = (stage === "pooled" ? boundsBefore : fileBounds).get(name) ?? [];
    const query = this.#queryOf(table);
    return loadTable(connection, {
      table,
      parts: parts.get(name) ?? [],
      bounds,
      query,
      finalDirectory,
      sequence,
    });
  }

  /** Values of custom fields say which select value each means, where the run has the definitions. */
  #queryOf({ name }: Table): string | undefined {
    if (name !== contentCustomFieldValues.name) return undefined;
    return DEFINITIONS.isSubsetOf(this.#names) ? customFieldValuesSql() : undefined;
  }

  /** Loads rows that were made on this thread, by way of parts like all others. */
  async loadRows(staged: RunRows, connection = this.connections[0]): Promise<LoadedTable> {
    const { name } = staged.table;
    const folder = join(this.#request.directory, "parts", name);
    const parts = stageRows(staged, (part) => join(folder, `${name}-${part}.parquet`));
    return this.loadParts({ table: staged.table, parts }, connection);
  }

  /** Loads rows that a query gives. */
  async loadQuery(table: Table, { text, params }: SqlQuery): Promise<LoadedTable> {
    const { finalDirectory, sequence } = this.#request;
    const made = { text: `SELECT ${parquetColumns(table)} FROM (${text})`, params };
    return loadTable(this.connections[0], { table, parts: [], made, bounds: [], finalDirectory, sequence });
  }

  /** Loads rows that were staged before, where this database may read. */
  async loadParts(staged: StagedTable, connection = this.connections[0]): Promise<LoadedTable> {
    const { finalDirectory, sequence } = this.#request;
    return loadTable(connection, { ...staged, bounds: [], finalDirectory, sequence });
  }

  /** Mapped values and payloads, a range of items at a time. */
  async #derive(): Promise<LoadedTable[]> {
    const tables = await this.#created("derived");
    if (tables.length === 0) return [];
    const bounds = await fillDerivedTables(this.connections, {
      itemBounds: this.#boundsOfSteps,
      passthrough: this.#request.passthrough,
      rowsPerRange: LEDGER_ROWS_PER_RANGE,
    });
    return this.#export(tables, { bounds, kept: this.#kept(LEDGER_ROWS_PER_RANGE) });
  }

  /** The history. While its files are written, a checkpoint writes what waits: at the end it would be alone. */
  async #carryOn(): Promise<LoadedTable[]> {
    const tables = await this.#created("history");
    if (tables.length === 0) return [];
    const bounds = await fillHistory(this.connections, {
      ...this.#request.history,
      passthrough: this.#request.passthrough,
      itemBounds: this.#boundsOfSteps,
      rowsPerRange: HISTORY_ROWS_PER_RANGE,
    });
    return this.#export(tables, { bounds, kept: this.#kept(HISTORY_ROWS_PER_RANGE), beside: checkpoint });
  }

  /** Tables of the user's own that are queries over the others. Errors: `config.invalid` where a query fails. */
  async #query(): Promise<LoadedTable[]> {
    const [connection] = this.connections;
    const { queries, signal } = this.#request;
    const byName = new Map(this.#request.tables.map((table) => [table.name, table]));
    const tables: Table[] = [];
    for (const [name, text] of Object.entries(queries)) {
      const table = byName.get(name);
      if (table === undefined) continue;
      tables.push(table);
      await createTable(connection, table);
      const names = table.columns.map((column) => quoteIdentifier(column.name)).join(", ");
      const insert = `INSERT INTO ${quoteIdentifier(name)} (${names}) SELECT ${names} FROM (${text}\n)`;
      await execute(connection, insert).catch((thrown: unknown) => {
        signal.throwIfAborted();
        throw queryFailed(name, thrown);
      });
    }
    return this.#export(tables, { bounds: [] });
  }

  async #created(stage: Stage): Promise<Table[]> {
    const tables = this.#request.tables.filter((table) => table.stage === stage);
    for (const table of tables) await createTable(this.connections[0], table);
    return tables;
  }

  get #boundsOfSteps(): RangeBounds {
    const { bounds, stagedBytes } = this.#request;
    return boundsTogether(bounds, stagedBytes.get("content_custom_field_values") ?? 0, RANGES_OF_STEPS);
  }

  #kept(rowsPerRange: number): ExportRequest["kept"] {
    return { before: this.#request.boundsBefore, rowsPerRange };
  }

  async #export(
    tables: readonly Table[],
    ranges: Pick<ExportRequest, "bounds" | "kept" | "beside">,
  ): Promise<LoadedTable[]> {
    const { finalDirectory, sequence } = this.#request;
    return exportTables(this.connections, { ...ranges, tables, finalDirectory, sequence });
  }
}

/** Damage and want of disk are nothing that the user's text could have to do with. */
function queryFailed(table: string, thrown: unknown): WarehouseError {
  const error = asWarehouseError(thrown);
  if (error.code !== "internal") return error;
  return new WarehouseError(
    "config.invalid",
    `The table ${table} of the pipeline cannot be made: its query failed: ${failureText(thrown)}.`,
    { cause: thrown },
  );
}
