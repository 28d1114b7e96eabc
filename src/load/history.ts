/** Fills the history: compares mapped values and definitions of this run with the history of the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { ROWS_PER_GROUP } from "../storage/database.ts";
import { execute, type QueryParams, scalar } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapLimited, mapParallel } from "../storage/parallel.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { HISTORY_VERSION } from "../tables/history.ts";
import { fillDefinitions, findEffects, type HistoryRun, instant } from "./history-definitions.ts";
import { attachPrevious, type PreviousHistory } from "./history-previous.ts";
import { loadSql } from "./load-sql.ts";
import { rangeParams, rangeStarts } from "./mapped-values.ts";

export interface HistoryRequest {
  readonly run: HistoryRun;
  readonly passthrough: boolean;
  readonly previous: PreviousHistory;
  readonly absences: {
    /** Items for which the service answered that they are removed. */
    readonly confirmed: ReadonlySet<string>;
    /** Items that exist, but could not be read. */
    readonly unread: ReadonlySet<string>;
    /** Whether an item that is not listed is removed: the passes agree, and each listed document had an ID. */
    readonly listIsWhole: boolean;
  };
  /** Ranges of items; no range of the history crosses one. */
  readonly itemBounds: RangeBounds;
  /** Decides about memory; {@link HISTORY_ROWS_PER_RANGE} is the usual value. */
  readonly rowsPerRange: number;
}

/** Rows of a range of items: those of the history, and those of content_mapped_values that are compared. */
export const HISTORY_ROWS_PER_RANGE = 80_000;

/** Comparing a row takes this many times the memory of copying it. */
const COMPARISON_MEMORY_FACTOR = 2;

/**
 * Fills the tables of the history, which exist and are empty. They are made from the tables of content and mappings, from
 * the temporary tables of `prepareMappings` on these connections, and from the history of the run before. Returns the
 * bounds of its ranges.
 */
export async function fillHistory(
  connections: DatabaseConnections,
  request: HistoryRequest,
): Promise<RangeBounds> {
  for (const connection of connections) await attachPrevious(connection, request.previous);
  await fillRuns(connections[0], request);
  await fillDefinitions(connections[0], request.run);
  const lanes = connections.map((connection) => new ValueHistory(connection, request));
  await mapLimited(lanes, async (history) => history.begin(), lanes.length);
  const itemRanges = rangesOf(request.itemBounds);
  const firsts = await mapParallel(lanes, itemRanges, async (history, items) => history.fill(items));
  await mapLimited(lanes, async (history) => history.insertCollected(1), lanes.length);
  return firsts.flat();
}

async function fillRuns(connection: DuckDBConnection, request: HistoryRequest): Promise<void> {
  const { run, previous, passthrough } = request;
  await execute(connection, "INSERT INTO run_history BY NAME FROM previous_run_history");
  const row = {
    run: run.run,
    sequence: run.sequence,
    started_at: instant(run.startedAt.getTime()),
    extracted_at: instant(run.extractedMs),
    pipeline: run.pipeline,
    verdict: run.verdict,
    previous_run: previous.kind === "carried" ? previous.run : null,
    passthrough,
    package_version: run.packageVersion,
    history_version: HISTORY_VERSION,
  };
  const columns = Object.keys(row);
  const marks = columns.map((_, at) => `$${at + 1}`);
  const insert = `INSERT INTO run_history (${columns.join(", ")}) VALUES (${marks.join(", ")})`;
  await execute(connection, insert, Object.values(row));
}

/** Creates or replaces the temporary table of a step, which has the step's name. */
async function createStepTable(
  connection: DuckDBConnection,
  name: string,
  params: QueryParams,
): Promise<void> {
  const sql = `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${loadSql(name)}`;
  await execute(connection, sql, params);
}

/** Tables with rows from comparisons. Rows are collected until they fill a row group; fewer would wait uncompressed. */
const COMPARED = ["mapped_value_history", "mapped_value_order_history"] as const;

const collectedName = (table: (typeof COMPARED)[number]) => `made_${table}`;

/** The history of items and of their mapped values, on one connection. */
class ValueHistory {
  readonly #connection: DuckDBConnection;
  readonly #request: HistoryRequest;
  /** Epochs whose tables this connection has. */
  readonly #prepared = new Set<number>();

  constructor(connection: DuckDBConnection, request: HistoryRequest) {
    this.#connection = connection;
    this.#request = request;
  }

  async begin(): Promise<void> {
    const { run, absences } = this.#request;
    await createStepTable(this.#connection, "history_epochs", [run.verdict === "complete"]);
    for (const [name, ids] of Object.entries({ removed: absences.confirmed, unread: absences.unread })) {
      const read = "SELECT unnest(CAST(CAST($1 AS JSON) AS VARCHAR[])) AS content_id";
      const create = `CREATE OR REPLACE TEMP TABLE history_${name} AS ${read}`;
      await execute(this.#connection, create, [JSON.stringify([...ids])]);
    }
    const made = COMPARED.map((table) => [collectedName(table), `AS FROM ${table} LIMIT 0`]);
    made.push(["history_mapped_before", "(epoch INTEGER, custom_field_id VARCHAR)"]);
    for (const [name, as] of made)
      await execute(this.#connection, `CREATE OR REPLACE TEMP TABLE ${name} ${as}`);
  }

  /** Fills the history of a range of items. Returns the first item of each range that it was cut into. */
  async fill(items: IdRange): Promise<string[]> {
    const { absences, rowsPerRange } = this.#request;
    const params = rangeParams(items);
    await createStepTable(this.#connection, "history_items", [...params, absences.listIsWhole]);
    await createStepTable(this.#connection, "history_several", params);
    await createStepTable(this.#connection, "history_texts", params);
    const weights = { text: "FROM history_items", params: [] };
    const firsts = await rangeStarts(this.#connection, weights, rowsPerRange);
    const findFields = loadSql("history_fields");
    const fields = `CREATE OR REPLACE TEMP TABLE history_fields AS FROM (${findFields}) LIMIT 0`;
    await execute(this.#connection, fields, params);
    for (const range of cut(items, firsts))
      await execute(this.#connection, `INSERT INTO history_fields ${findFields}`, rangeParams(range));
    // Rows that are only copied stream: all items at once take little memory.
    const copy = `INSERT INTO mapped_value_history BY NAME ${loadSql("history_going_on")}`;
    await execute(this.#connection, copy, params);
    await this.#insert("mapped_value_history", "history_first_values", items);
    await execute(this.#connection, "CREATE OR REPLACE TEMP TABLE history_kept (content_id VARCHAR)");
    const rows = Math.ceil(rowsPerRange / COMPARISON_MEMORY_FACTOR);
    const compared = { text: loadSql("history_compared_weights"), params };
    for (const range of cut(items, await rangeStarts(this.#connection, compared, rows))) {
      await this.#compare(range);
      await this.insertCollected(Math.min(ROWS_PER_GROUP, rowsPerRange));
    }
    await this.#insert("content_history", "history_content", items);
    return firsts;
  }

  /** Compares the values in the fields of `history_fields` with those of the run before. */
  async #compare(range: IdRange): Promise<void> {
    await this.#pair(range);
    await createStepTable(this.#connection, "history_numbers", []);
    await createStepTable(this.#connection, "history_questions", []);
    await findEffects(this.#connection, this.#prepared);
    await createStepTable(this.#connection, "history_causes", rangeParams(range));
    await createStepTable(this.#connection, "history_orders", rangeParams(range));
    await execute(
      this.#connection,
      "INSERT INTO history_kept SELECT DISTINCT content_id FROM history_pairs WHERE event = 'kept'",
    );
    await this.#insert(collectedName("mapped_value_history"), "history_values", range);
    await this.#insert(collectedName("mapped_value_order_history"), "history_order_rows", range);
  }

  /** Inserts as many collected rows as fill whole groups of this number of rows. */
  async insertCollected(rowsPerGroup: number): Promise<void> {
    for (const table of COMPARED) {
      const collected = collectedName(table);
      const rows = await scalar(this.#connection, `SELECT count(*) FROM ${collected}`);
      const whole = rows - (rows % rowsPerGroup);
      if (whole === 0) continue;
      await execute(
        this.#connection,
        `INSERT INTO ${table} FROM ${collected} LIMIT ${whole};
         CREATE OR REPLACE TEMP TABLE ${collected} AS FROM ${collected} OFFSET ${whole}`,
      );
    }
  }

  /** Pairs values in several statements: the memory of a join is free only when its statement ends. */
  async #pair(range: IdRange): Promise<void> {
    await execute(this.#connection, "DROP TABLE IF EXISTS history_pairs");
    await createStepTable(this.#connection, "history_now", rangeParams(range));
    await createStepTable(this.#connection, "history_before", rangeParams(range));
    await createStepTable(this.#connection, "history_pairs", [this.#request.run.verdict === "complete"]);
    await execute(this.#connection, "DROP TABLE history_now; DROP TABLE history_before");
  }

  async #insert(table: string, step: string, range: IdRange): Promise<void> {
    const { run } = this.#request;
    const sql = `INSERT INTO ${quoteIdentifier(table)} BY NAME ${loadSql(step)}`;
    await execute(this.#connection, sql, [...rangeParams(range), run.run, instant(run.startedAt.getTime())]);
  }
}

/** Cuts a range at these items, except the first. */
function cut(range: IdRange, firsts: readonly string[]): IdRange[] {
  const cuts = firsts.slice(1);
  return [range.lower, ...cuts].map((lower, at) => ({ lower, upper: cuts[at] ?? range.upper }));
}
