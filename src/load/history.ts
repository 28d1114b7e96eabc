/**
 * The history of mapped values and of their definitions: what the run before says, held against the tables of this one.
 * Set-based, a range of items at a time, so that memory stays bounded; items whose digest is the same are copied.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, type QueryParams, ROWS_PER_GROUP, scalar } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type ConnectionPool, mapParallel, runOnEach } from "../storage/parallel.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { HISTORY_VERSION } from "../tables/history.ts";
import { fillDefinitions, instant, type ObservingRun } from "./history-definitions.ts";
import { Epochs } from "./history-epochs.ts";
import { attachPrevious, type PreviousHistory } from "./history-previous.ts";
import { loadSql } from "./load-sql.ts";
import { ends } from "./steps.ts";

export interface HistoryRun extends ObservingRun {
  readonly sequence: number;
  /** When the last answer was there, in milliseconds since 1970. */
  readonly extractedMs: number;
  readonly pipeline: string;
  readonly packageVersion: string;
}

export interface HistoryRequest {
  readonly run: HistoryRun;
  readonly passthrough: boolean;
  readonly previous: PreviousHistory;
  readonly absences: {
    /** Items that the service, asked singly, said are gone. */
    readonly confirmed: ReadonlySet<string>;
    /** Items that are there, but could not be read. */
    readonly unread: ReadonlySet<string>;
    /** Whether not to be listed is evidence: the passes agree, and each listed document had an ID. */
    readonly listIsWhole: boolean;
  };
  /** Ranges of items; none of its own crosses one. */
  readonly itemBounds: RangeBounds;
  /** What decides about memory: {@link HISTORY_ROWS_PER_RANGE}. */
  readonly rowsPerRange: number;
}

/** Rows of the history, and of the ledger where they have to be looked at, in a range of items. */
export const HISTORY_ROWS_PER_RANGE = 80_000;

/** To compare a row takes as many times the memory that it takes to copy one. */
const TIMES_MEMORY_TO_COMPARE = 2;

/**
 * Fills the tables of the history, which exist and are empty, from those of the content and of the mappings and what
 * `prepareMappings` made on these connections. Answers the bounds of the ranges it went by.
 */
export async function fillHistory(
  connections: ConnectionPool,
  request: HistoryRequest,
): Promise<RangeBounds> {
  const { run, previous } = request;
  for (const connection of connections) {
    await attachPrevious(connection, previous);
    await keepTemporary(connection, "history_runs", [run.run, run.sequence]);
  }
  await fillRuns(connections[0], request);
  await fillDefinitions(connections[0], run);
  const lanes = connections.map((connection) => new Steps(connection, request));
  await runOnEach(lanes, async (steps) => steps.begin());
  const itemRanges = rangesOf(request.itemBounds);
  const firsts = await mapParallel(lanes, itemRanges, async (steps, items) => steps.fill(items));
  await runOnEach(lanes, async (steps) => steps.insertMade(1));
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

/** The temporary table of a step's name, made anew by its text. */
async function keepTemporary(connection: DuckDBConnection, name: string, params: QueryParams): Promise<void> {
  const sql = `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${loadSql(name)}`;
  await execute(connection, sql, params);
}

async function keepIds(connection: DuckDBConnection, name: string, ids: ReadonlySet<string>): Promise<void> {
  const read = `SELECT unnest(CAST(CAST($1 AS JSON) AS VARCHAR[])) AS content_id`;
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${name} AS ${read}`, [JSON.stringify([...ids])]);
}

/** Tables of rows from comparisons, which are collected until they fill a row group: lesser ones wait uncompressed. */
const COMPARED = ["mapped_value_history", "mapped_value_order_history"] as const;

const made = (table: (typeof COMPARED)[number]) => `made_${table}`;

const FIELDS =
  "content_id VARCHAR, destination_id VARCHAR, custom_field_id VARCHAR, state VARCHAR, " +
  "removed_in_run VARCHAR, epoch INTEGER";

class Steps {
  readonly #connection: DuckDBConnection;
  readonly #request: HistoryRequest;
  readonly #epochs: Epochs;

  constructor(connection: DuckDBConnection, request: HistoryRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#epochs = new Epochs(connection);
  }

  async begin(): Promise<void> {
    const { run, absences } = this.#request;
    await keepTemporary(this.#connection, "history_epochs", [run.verdict === "complete"]);
    await keepIds(this.#connection, "history_removed", absences.confirmed);
    await keepIds(this.#connection, "history_unread", absences.unread);
    await this.#epochs.begin();
    for (const table of COMPARED) {
      const create = `CREATE OR REPLACE TEMP TABLE ${made(table)} AS FROM ${table} LIMIT 0`;
      await execute(this.#connection, create);
    }
  }

  /** All of these items. Answers the first of each range that it cut them into. */
  async fill(items: IdRange): Promise<string[]> {
    const { absences, rowsPerRange } = this.#request;
    await keepTemporary(this.#connection, "history_items", [...ends(items), absences.listIsWhole]);
    await keepTemporary(this.#connection, "history_several", ends(items));
    await keepTemporary(this.#connection, "history_texts", ends(items));
    const firsts = await this.#firsts("history_ranges", [rowsPerRange]);
    await execute(this.#connection, `CREATE OR REPLACE TEMP TABLE history_fields (${FIELDS})`);
    const findFields = `INSERT INTO history_fields BY NAME ${loadSql("history_fields")}`;
    for (const range of within(items, firsts)) await execute(this.#connection, findFields, ends(range));
    // What goes on and what begins without a comparison streams: so all items at once, whatever their rows.
    const goingOn = `INSERT INTO mapped_value_history BY NAME ${loadSql("history_going_on")}`;
    await execute(this.#connection, goingOn, ends(items));
    await this.#insert("mapped_value_history", "history_first_values", items);
    await execute(this.#connection, "CREATE OR REPLACE TEMP TABLE history_kept (content_id VARCHAR)");
    const rows = Math.ceil(rowsPerRange / TIMES_MEMORY_TO_COMPARE);
    const compared = await this.#firsts("history_compared_ranges", [...ends(items), rows]);
    for (const range of within(items, compared)) {
      await this.#compare(range);
      await this.insertMade(Math.min(ROWS_PER_GROUP, rowsPerRange));
    }
    await this.#insert("content_history", "history_content", items);
    return firsts;
  }

  async #firsts(step: string, params: QueryParams): Promise<string[]> {
    return (await all(this.#connection, loadSql(step), params)).map((row) => String(row.first_id));
  }

  /** Holds the values of the fields that have to be looked at against those that they had. */
  async #compare(range: IdRange): Promise<void> {
    await this.#pair(range);
    await keepTemporary(this.#connection, "history_numbers", []);
    await keepTemporary(this.#connection, "history_questions", []);
    await this.#epochs.ask();
    await keepTemporary(this.#connection, "history_causes", ends(range));
    await keepTemporary(this.#connection, "history_orders", ends(range));
    await execute(
      this.#connection,
      "INSERT INTO history_kept SELECT DISTINCT content_id FROM history_pairs WHERE event = 'kept'",
    );
    await this.#insert(made("mapped_value_history"), "history_values", range);
    await this.#insert(made("mapped_value_order_history"), "history_order_rows", range);
  }

  /** Of what is collected as many rows as make whole groups of `rows`; the rest stays. */
  async insertMade(rows: number): Promise<void> {
    for (const table of COMPARED) {
      const collected = made(table);
      const there = await scalar(this.#connection, `SELECT count(*) FROM ${collected}`);
      const whole = there - (there % rows);
      if (whole === 0) continue;
      await execute(
        this.#connection,
        `INSERT INTO ${table} FROM ${collected} LIMIT ${whole};
         CREATE OR REPLACE TEMP TABLE ${collected} AS FROM ${collected} OFFSET ${whole}`,
      );
    }
  }

  /** Each with a statement of its own: joins take memory for as long as the statement lasts. */
  async #pair(range: IdRange): Promise<void> {
    await execute(this.#connection, "DROP TABLE IF EXISTS history_pairs");
    await keepTemporary(this.#connection, "history_now", ends(range));
    await keepTemporary(this.#connection, "history_before", ends(range));
    await keepTemporary(this.#connection, "history_pairs", [this.#request.run.verdict === "complete"]);
    await execute(this.#connection, "DROP TABLE history_now; DROP TABLE history_before");
  }

  async #insert(table: string, step: string, range: IdRange): Promise<void> {
    const { run } = this.#request;
    const sql = `INSERT INTO ${quoteIdentifier(table)} BY NAME ${loadSql(step)}`;
    await execute(this.#connection, sql, [...ends(range), run.run, instant(run.startedAt.getTime())]);
  }
}

/** The range cut at these items but the first. */
function within(range: IdRange, firsts: readonly string[]): IdRange[] {
  const cuts = firsts.slice(1);
  return [range.lower, ...cuts].map((lower, at) => ({ lower, upper: cuts[at] ?? range.upper }));
}
