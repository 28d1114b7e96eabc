/** Builds the warehouse of a run from staged parts: DuckDB tables, sorted Parquet files, derived tables and views. */
import { addAbortListener } from "node:events";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import type { DriftEntry, DriftItemCount } from "../raw/drift.ts";
import { createTable, parquetColumns } from "../storage/ddl.ts";
import { checkpoint, type Database, execute, openForBuilding, type SqlQuery } from "../storage/duckdb.ts";
import { failureText } from "../storage/duckdb-error.ts";
import type { RangeBounds } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapParallel } from "../storage/parallel.ts";
import { type StagedPart, sumOfRows } from "../storage/parquet-file.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Cell } from "../storage/table-builder.ts";
import { contentCustomFieldValues, customFieldSelectValues, customFields } from "../tables/custom-fields.ts";
import type { Stage, Table } from "../tables/declare.ts";
import { customFieldMappings, customFieldMappingValues } from "../tables/destinations.ts";
import { fieldTypeDrift } from "./content-wide.ts";
import { fillHistory, HISTORY_ROWS_PER_RANGE, type HistoryRequest } from "./history.ts";
import { type ExportRequest, exportTables, type LoadedTable, loadTable } from "./load-table.ts";
import { customFieldValuesSql, fillDerivedTables, MAPPED_VALUES_PER_RANGE } from "./mapped-values.ts";
import { type BoundsByTable, mergeBounds } from "./range-bounds.ts";
import { type MemoryRows, type StagedTable, stageRows } from "./staged-rows.ts";
import { createViewsAndMacros, hasViews } from "./views.ts";

export interface BuildRequest {
  /** Tables of the pipeline, without those about the run. */
  readonly tables: readonly Table[];
  readonly parts: ReadonlyMap<string, readonly StagedPart[]>;
  /** Staged bytes by table, roughly. */
  readonly stagedBytes: ReadonlyMap<string, number>;
  /** Rows of shared tables, by table. */
  readonly entityRows: ReadonlyMap<string, readonly (readonly Cell[])[]>;
  /** Ranges of items that the widest table is loaded by. */
  readonly bounds: RangeBounds;
  /** Ranges of the files of each table of items. */
  readonly fileBounds: BoundsByTable;
  /** Ranges of the files of the run before, which this run keeps. Empty: new ranges are cut. */
  readonly boundsBefore: BoundsByTable;
  readonly passthrough: boolean;
  /** Queries of custom tables by table name, in the order in which they run. */
  readonly queries: Readonly<Record<string, string>>;
  readonly sequence: number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
  /** Path of the new database file, in `directory`. */
  readonly database: string;
  /** Folder for `parquet/`, in `directory`. */
  readonly finalDirectory: string;
  readonly memoryLimitMb: number;
  /** Ends the work, also the current statement. */
  readonly signal: AbortSignal;
  readonly history: Pick<HistoryRequest, "run" | "previous" | "absences">;
  readonly onTable: (done: number, total: number) => void;
}

/** Minimum average bytes of a row in a wide table. Two wide tables are never loaded at a time: each takes much memory. */
const WIDE_ROW_BYTES = 500;

/** Stages of tables made from other tables. */
const FROM_TABLES: ReadonlySet<Stage> = new Set(["derived", "history", "query"]);

/** Tables that are loaded first, because the rows of other tables are made with them. */
const DEFINITIONS: ReadonlySet<string> = new Set([
  customFields.name,
  customFieldSelectValues.name,
  customFieldMappings.name,
  customFieldMappingValues.name,
]);

/** Minimum number of ranges of a step: two for each connection, so that neither waits long for the other. */
const MIN_STEP_RANGES = 4;

/** Number of ranges whose items are looked up together in checks: 80,000 IDs take some 20 MB. */
const RANGES_PER_CHECK = 8;

interface OpenDatabase {
  readonly database: Database;
  readonly connections: DatabaseConnections;
}

async function openDatabase(request: BuildRequest): Promise<OpenDatabase> {
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

/** Loads the tables of a run: first the data, then the tables about the run, then the views. */
export class WarehouseBuild implements AsyncDisposable {
  readonly #request: BuildRequest;
  readonly #interrupting: Disposable;
  #open: OpenDatabase;

  private constructor(request: BuildRequest, open: OpenDatabase) {
    this.#request = request;
    this.#open = open;
    this.#interrupting = addAbortListener(request.signal, () => this.#open.database.interrupt());
  }

  static async open(request: BuildRequest): Promise<WarehouseBuild> {
    await mkdir(request.temporaryDirectory, { recursive: true, mode: 0o700 });
    return new WarehouseBuild(request, await openDatabase(request));
  }

  get connections(): DatabaseConnections {
    return this.#open.connections;
  }

  /**
   * Loads the tables of the pipeline, in the order of the pipeline. Staged tables are loaded two at a time, but never two
   * wide ones. Tables made from other tables follow, each on both connections. Throws `verify.failed` if rows went missing.
   */
  async loadData(): Promise<LoadedTable[]> {
    const { tables, signal, parts, stagedBytes, onTable } = this.#request;
    const loaded = new Map<string, LoadedTable>();
    onTable(0, tables.length);
    const add = (table: LoadedTable) => {
      signal.throwIfAborted();
      loaded.set(table.table, table);
      onTable(loaded.size, tables.length);
    };
    const isDefinition = ({ name }: Table) => DEFINITIONS.has(name);
    for (const table of tables.filter(isDefinition)) add(await this.#loadStaged(this.connections[0], table));
    const bytes = ({ name }: Table) => stagedBytes.get(name) ?? 0;
    const isWide = (table: Table) => bytes(table) > WIDE_ROW_BYTES * sumOfRows(parts.get(table.name) ?? []);
    const staged = tables.filter((table) => !FROM_TABLES.has(table.stage) && !isDefinition(table));
    const wide = staged.filter(isWide);
    const narrow = staged.filter((table) => !wide.includes(table)).toSorted((a, b) => bytes(b) - bytes(a));
    const jobs = [wide, ...narrow.map((table) => [table])];
    await mapParallel(this.connections, jobs, async (connection, job) => {
      for (const table of job) add(await this.#loadStaged(connection, table));
    });
    for (const step of [() => this.#fillDerived(), () => this.#fillHistory(), () => this.#fillCustom()]) {
      for (const table of await step()) add(table);
    }
    return tables.flatMap(({ name }) => loaded.get(name) ?? []);
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

  /** Values that do not read as the type of their custom field. */
  async fieldTypeDrift(): Promise<(DriftEntry & DriftItemCount)[]> {
    return hasViews(this.#names) ? fieldTypeDrift(this.connections[0]) : [];
  }

  get #names(): ReadonlySet<string> {
    return new Set(this.#request.tables.map((table) => table.name));
  }

  get boundsOfChecks(): RangeBounds {
    return this.#request.bounds.filter((_, index) => index % RANGES_PER_CHECK === 0);
  }

  async createViews(): Promise<void> {
    await createViewsAndMacros(this.connections[0], this.#names);
  }

  /** Closes the database, so that `read` can open it, and opens it again. */
  async whileClosed<Result>(read: () => Promise<Result>): Promise<Result> {
    await this.close();
    const result = await read();
    this.#open = await openDatabase(this.#request);
    return result;
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
    const hasDefinitions = DEFINITIONS.isSubsetOf(this.#names);
    return loadTable(connection, {
      table,
      parts: parts.get(name) ?? [],
      bounds: (stage === "pooled" ? boundsBefore : fileBounds).get(name) ?? [],
      // With the definitions, each custom field value gets the select value that it means.
      query: name === contentCustomFieldValues.name && hasDefinitions ? customFieldValuesSql() : undefined,
      finalDirectory,
      sequence,
    });
  }

  /** Loads rows of this thread. They are staged in parts first, as all others are. */
  async loadRows(staged: MemoryRows, connection = this.connections[0]): Promise<LoadedTable> {
    const { name } = staged.table;
    const folder = join(this.#request.directory, "parts", name);
    const parts = stageRows(staged, (part) => join(folder, `${name}-${part}.parquet`));
    return this.loadParts({ table: staged.table, parts }, connection);
  }

  /** Loads the rows of a query. */
  async loadQuery(table: Table, { text, params }: SqlQuery): Promise<LoadedTable> {
    const { finalDirectory, sequence } = this.#request;
    const made = { text: `SELECT ${parquetColumns(table)} FROM (${text})`, params };
    return loadTable(this.connections[0], { table, parts: [], made, bounds: [], finalDirectory, sequence });
  }

  /** Loads parts in the staging folder. */
  async loadParts(staged: StagedTable, connection = this.connections[0]): Promise<LoadedTable> {
    const { finalDirectory, sequence } = this.#request;
    return loadTable(connection, { ...staged, bounds: [], finalDirectory, sequence });
  }

  async #fillDerived(): Promise<LoadedTable[]> {
    const tables = await this.#createTables("derived");
    if (tables.length === 0) return [];
    const bounds = await fillDerivedTables(this.connections, {
      itemBounds: this.#boundsOfSteps,
      passthrough: this.#request.passthrough,
      rowsPerRange: MAPPED_VALUES_PER_RANGE,
    });
    return this.#export(tables, { bounds, kept: this.#kept(MAPPED_VALUES_PER_RANGE) });
  }

  /** Fills the history. A checkpoint runs beside its export; at the end, one connection would wait for it. */
  async #fillHistory(): Promise<LoadedTable[]> {
    const tables = await this.#createTables("history");
    if (tables.length === 0) return [];
    const bounds = await fillHistory(this.connections, {
      ...this.#request.history,
      passthrough: this.#request.passthrough,
      itemBounds: this.#boundsOfSteps,
      rowsPerRange: HISTORY_ROWS_PER_RANGE,
    });
    return this.#export(tables, { bounds, kept: this.#kept(HISTORY_ROWS_PER_RANGE), beside: checkpoint });
  }

  /** Fills custom tables that are queries over other tables. Throws `config.invalid` if a query fails. */
  async #fillCustom(): Promise<LoadedTable[]> {
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

  async #createTables(stage: Stage): Promise<Table[]> {
    const tables = this.#request.tables.filter((table) => table.stage === stage);
    for (const table of tables) await createTable(this.connections[0], table);
    return tables;
  }

  get #boundsOfSteps(): RangeBounds {
    const { bounds, stagedBytes } = this.#request;
    return mergeBounds(bounds, stagedBytes.get("content_custom_field_values") ?? 0, MIN_STEP_RANGES);
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

/** Damage, a full disk and other errors with a code of their own are not errors of the query. */
function queryFailed(table: string, thrown: unknown): WarehouseError {
  const error = asWarehouseError(thrown);
  if (error.code !== "internal") return error;
  return new WarehouseError(
    "config.invalid",
    `The table ${table} of the pipeline cannot be made: its query failed: ${failureText(thrown)}.`,
    { cause: thrown },
  );
}
