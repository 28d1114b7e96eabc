/** Builds the warehouse of a run from staged parts: DuckDB tables, sorted Parquet files, derived tables and views. */
import { addAbortListener } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, invalidConfig } from "../common/errors.ts";
import type { DriftEntry, DriftItemCount } from "../raw/drift.ts";
import { type BuildSettings, checkpoint, type Database, openForBuilding } from "../storage/database.ts";
import { createTable, parquetColumns } from "../storage/ddl.ts";
import { execute, type SqlQuery } from "../storage/duckdb.ts";
import { failureText } from "../storage/duckdb-error.ts";
import type { RangeBounds } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapParallel } from "../storage/parallel.ts";
import { type StagedPart, sumOfRows } from "../storage/parquet-file.ts";
import { fillMarks, quoteIdentifier } from "../storage/sql-text.ts";
import type { Cell } from "../storage/table-builder.ts";
import { contentCustomFieldValues, customFieldSelectValues, customFields } from "../tables/custom-fields.ts";
import type { Table } from "../tables/declare.ts";
import { customFieldMappings, customFieldMappingValues } from "../tables/destinations.ts";
import { runHistory } from "../tables/history.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { fillHistory, HISTORY_ROWS_PER_RANGE, type HistoryRequest } from "./history.ts";
import { loadSql } from "./load-sql.ts";
import { exportTables, fillTable, type TableFiles } from "./load-table.ts";
import { fillDerivedTables, MAPPED_VALUES_PER_RANGE } from "./mapped-values.ts";
import { type BoundsByTable, mergeBounds } from "./range-bounds.ts";
import { type MemoryRows, type StagedTable, stageRows } from "./staged-rows.ts";
import { createViewsAndMacros, fieldTypeDrift } from "./views.ts";

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
  /** The new database, in the run's staging folder. */
  readonly database: Omit<BuildSettings, "previous">;
  /** Folder for `parquet/`, in the staging folder. */
  readonly finalDirectory: string;
  /** Ends the work, also the current statement. */
  readonly signal: AbortSignal;
  readonly history: Pick<HistoryRequest, "run" | "previous" | "absences">;
  readonly onTable: (done: number, total: number) => void;
}

/** What a table is loaded from. */
export type TableSource = MemoryRows | StagedTable | { readonly table: Table; readonly query: SqlQuery };

/** Minimum average bytes of a row in a wide table. Two wide tables are never loaded at a time: each takes much memory. */
const WIDE_ROW_BYTES = 500;

/** Tables that are loaded first, because the rows of other tables are made with them. */
const DEFINITIONS: ReadonlySet<string> = new Set([
  customFields.name,
  customFieldSelectValues.name,
  customFieldMappings.name,
  customFieldMappingValues.name,
]);

/** Steps that make tables from other tables. A checkpoint runs beside the export of the last: later, one connection would wait. */
const STEPS = [
  { stage: "derived", fill: fillDerivedTables, rowsPerRange: MAPPED_VALUES_PER_RANGE, beside: undefined },
  { stage: "history", fill: fillHistory, rowsPerRange: HISTORY_ROWS_PER_RANGE, beside: checkpoint },
] as const;

/** Minimum number of ranges of a step: two for each connection, so that neither waits long for the other. */
const MIN_STEP_RANGES = 4;

/** Number of ranges whose items are looked up together in checks: 80,000 IDs take some 20 MB. */
const RANGES_PER_CHECK = 8;

async function openDatabase(
  request: BuildRequest,
): Promise<{ readonly database: Database; readonly connections: DatabaseConnections }> {
  const { previous: history } = request.history;
  const previous = history.kind === "carried" ? history.access : undefined;
  const database = await openForBuilding({ ...request.database, previous });
  return { database, connections: [database.connection, await database.connect()] };
}

/** Loads the tables of a run: first the data, then the tables about the run, then the views. */
export class WarehouseBuild implements AsyncDisposable {
  readonly #request: BuildRequest;
  readonly #interrupting: Disposable;
  #open: Awaited<ReturnType<typeof openDatabase>>;

  private constructor(request: BuildRequest, open: Awaited<ReturnType<typeof openDatabase>>) {
    this.#request = request;
    this.#open = open;
    this.#interrupting = addAbortListener(request.signal, () => this.#open.database.interrupt());
  }

  static async open(request: BuildRequest): Promise<WarehouseBuild> {
    await mkdir(request.database.temporaryDirectory, { recursive: true, mode: 0o700 });
    return new WarehouseBuild(request, await openDatabase(request));
  }

  get connections(): DatabaseConnections {
    return this.#open.connections;
  }

  /**
   * Loads the tables of the pipeline, in the order of the pipeline. Staged tables are loaded two at a time, but never two
   * wide ones. Tables made from other tables follow, each on both connections. `compare`: compares them with those of the
   * run before; custom tables may read what it finds. Throws `verify.failed` if rows went missing.
   */
  async loadData<Compared extends Pick<Manifest, "mappedChanges">>(compare: () => Promise<Compared>) {
    const { tables, signal, parts, stagedBytes, onTable } = this.#request;
    const loaded = new Map<string, TableFiles>();
    onTable(0, tables.length);
    const add = (table: TableFiles) => {
      signal.throwIfAborted();
      loaded.set(table.table, table);
      onTable(loaded.size, tables.length);
    };
    const staged = tables.filter(({ stage }) => stage === "shared" || stage === "pooled" || stage === "item");
    const isDefinition = ({ name }: Table) => DEFINITIONS.has(name);
    for (const table of staged.filter(isDefinition)) add(await this.#loadStaged(this.connections[0], table));
    const bytes = ({ name }: Table) => stagedBytes.get(name) ?? 0;
    const isWide = (table: Table) => bytes(table) > WIDE_ROW_BYTES * sumOfRows(parts.get(table.name) ?? []);
    const others = Map.groupBy(
      staged.filter((table) => !isDefinition(table)),
      isWide,
    );
    const narrow = (others.get(false) ?? []).toSorted((a, b) => bytes(b) - bytes(a));
    const jobs = [others.get(true) ?? [], ...narrow.map((table) => [table])];
    await mapParallel(this.connections, jobs, async (connection, job) => {
      for (const table of job) add(await this.#loadStaged(connection, table));
    });
    for (const step of STEPS) for (const table of await this.#fill(step)) add(table);
    const compared = await compare();
    for (const table of await this.#finishRunHistory(compared)) add(table);
    for (const table of await this.#fillCustom()) add(table);
    return { data: tables.flatMap(({ name }) => loaded.get(name) ?? []), compared };
  }

  /** Writes what the run lost and gained into its history. */
  async #finishRunHistory({ mappedChanges }: Pick<Manifest, "mappedChanges">): Promise<TableFiles[]> {
    const { tables, history } = this.#request;
    const finished = tables.filter(({ name }) => name === runHistory.name);
    if (finished.length > 0 && mappedChanges !== null) {
      const update = `UPDATE ${runHistory.name} SET lost = $1, gained = $2 WHERE run = $3`;
      await execute(this.connections[0], update, [mappedChanges.lost, mappedChanges.gained, history.run.run]);
    }
    return exportTables(this.connections, { tables: finished, bounds: [], ...this.#files });
  }

  /** Values that do not read as the type of their custom field. */
  async fieldTypeDrift(): Promise<(DriftEntry & DriftItemCount)[]> {
    return fieldTypeDrift(this.connections[0], this.#names);
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

  async #loadStaged(connection: DuckDBConnection, table: Table): Promise<TableFiles> {
    const { name, stage } = table;
    const { parts, entityRows, fileBounds, boundsBefore } = this.#request;
    if (stage === "shared") return this.load({ table, rows: entityRows.get(name) ?? [] }, connection);
    const hasDefinitions = DEFINITIONS.isSubsetOf(this.#names);
    return fillTable(connection, {
      table,
      from: parts.get(name) ?? [],
      bounds: (stage === "pooled" ? boundsBefore : fileBounds).get(name) ?? [],
      // With the definitions, each custom field value gets the select value that it means.
      query:
        name === contentCustomFieldValues.name && hasDefinitions
          ? fillMarks(loadSql("custom_field_values"), { mapping_inputs: loadSql("mapping_inputs") })
          : undefined,
      ...this.#files,
    });
  }

  /** Loads a table from parts in the staging folder, a query, or rows of this thread, which are staged in parts first. */
  async load(source: TableSource, connection = this.connections[0]): Promise<TableFiles> {
    const { table } = source;
    if ("query" in source) {
      const { text, params } = source.query;
      const from = { text: `SELECT ${parquetColumns(table)} FROM (${text})`, params };
      return fillTable(connection, { table, from, ...this.#files });
    }
    const folder = join(this.#request.database.staging, "parts", table.name);
    const fileOf = (part: number) => join(folder, `${table.name}-${part}.parquet`);
    const from = "parts" in source ? source.parts : stageRows(source, fileOf);
    return fillTable(connection, { table, from, ...this.#files });
  }

  get #files() {
    const { finalDirectory, sequence } = this.#request;
    return { finalDirectory, sequence };
  }

  /** Fills tables that are made from other tables. */
  async #fill({ stage, fill, rowsPerRange, beside }: (typeof STEPS)[number]): Promise<TableFiles[]> {
    const { bounds: ranges, stagedBytes, history, passthrough, boundsBefore } = this.#request;
    const tables = this.#request.tables.filter((table) => table.stage === stage);
    if (tables.length === 0) return [];
    for (const table of tables) await createTable(this.connections[0], table);
    const bytes = stagedBytes.get(contentCustomFieldValues.name) ?? 0;
    const itemBounds = mergeBounds(ranges, bytes, MIN_STEP_RANGES);
    const bounds = await fill(this.connections, { ...history, passthrough, itemBounds, rowsPerRange });
    const kept = { before: boundsBefore, rowsPerRange };
    const finished = tables.filter(({ name }) => name !== runHistory.name);
    return exportTables(this.connections, { tables: finished, bounds, kept, beside, ...this.#files });
  }

  /**
   * Fills custom tables that are queries over other tables. Throws `config.invalid` if a query fails. Damage, a full disk and
   * other errors with a code of their own are not errors of the query.
   */
  async #fillCustom(): Promise<TableFiles[]> {
    const [connection] = this.connections;
    const { queries, signal } = this.#request;
    const names = Object.keys(queries);
    const tables = names.flatMap((name) => this.#request.tables.find((table) => table.name === name) ?? []);
    for (const table of tables) {
      await createTable(connection, table);
      const columns = table.columns.map((column) => quoteIdentifier(column.name)).join(", ");
      const rows = `SELECT ${columns} FROM (${queries[table.name]}\n)`;
      const insert = `INSERT INTO ${quoteIdentifier(table.name)} BY NAME ${rows}`;
      await execute(connection, insert).catch((thrown: unknown) => {
        signal.throwIfAborted();
        const error = asWarehouseError(thrown);
        if (error.code !== "internal") throw error;
        throw invalidConfig(
          `The table ${table.name} of the pipeline cannot be made: its query failed: ${failureText(thrown)}.`,
          thrown,
        );
      });
    }
    return exportTables(this.connections, { tables, bounds: [], ...this.#files });
  }
}
