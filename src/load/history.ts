/** Fills the history: compares mapped values and definitions of this run with the history of the run before. */
import { type DuckDBConnection, DuckDBTimestampTZValue } from "@duckdb/node-api";
import type { Verdict } from "../common/verdict.ts";
import { ROWS_PER_GROUP } from "../storage/database.ts";
import { all, execute, type QueryParams, scalar, toSafeInteger } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapLimited, mapParallel } from "../storage/parallel.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import {
  type Cause,
  DEFINITION_HISTORIES,
  definitionColumns,
  definitionKey,
  HISTORY_VERSION,
} from "../tables/history.ts";
import { attachPrevious, type PreviousHistory } from "./history-previous.ts";
import { loadSql } from "./load-sql.ts";
import { MAPPING_STEPS, rangeParams, rangeStarts } from "./mapped-values.ts";

type DefinitionHistory = (typeof DEFINITION_HISTORIES)[number];
type Family = DefinitionHistory["family"];
const FAMILIES: readonly Family[] = ["destination", "mapping", "definition"];

/** The run that the history is filled for. */
export interface HistoryRun {
  /** Name of the run. */
  readonly run: string;
  /** Start, to the second as in the run's name: versions that this run found hold from then on. */
  readonly startedAt: Date;
  readonly verdict: Verdict;
  readonly sequence: number;
  /** When the last answer arrived, in milliseconds since 1970. */
  readonly extractedMs: number;
  readonly pipeline: string;
  readonly packageVersion: string;
}

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

/** An instant of the database, from milliseconds since 1970. */
function instant(milliseconds: number): DuckDBTimestampTZValue {
  return new DuckDBTimestampTZValue(BigInt(milliseconds) * 1000n);
}

/** Fills the histories of the definitions. They are few, so each takes one statement. */
async function fillDefinitions(connection: DuckDBConnection, run: HistoryRun): Promise<void> {
  for (const definition of DEFINITION_HISTORIES) {
    const sql = `INSERT INTO ${quoteIdentifier(definition.history.name)} BY NAME ${definitionSql(definition)}`;
    const cause: Cause = `${definition.family}_changed`;
    const startedAt = instant(run.startedAt.getTime());
    await execute(connection, sql, [run.run, startedAt, cause, run.verdict === "complete"]);
  }
}

function definitionSql({ history, of, lookedUp }: DefinitionHistory): string {
  const names = definitionColumns(history);
  const others = names.filter((name) => name !== "ordinal");
  const differs = `${structOf("before.", others)} IS DISTINCT FROM ${structOf("now.", others)}`;
  return fillMarks(loadSql("history_definitions"), {
    previous: quoteIdentifier(`previous_${history.name}`),
    now: quoteIdentifier(of),
    columns: names.map(quoteIdentifier).join(", "),
    columns_as_row: structOf("", names),
    key: definitionKey(history).map(quoteIdentifier).join(", "),
    looked_up: lookedUp,
    // Versions that are equal except for their position.
    reordered: others.length < names.length ? `NOT (${differs})` : "false",
  });
}

function structOf(source: string, names: readonly string[]): string {
  return `struct_pack(${names.map((name) => `${source}${quoteIdentifier(name)}`).join(", ")})`;
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
    await this.#create("history_epochs", [run.verdict === "complete"]);
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
    await this.#create("history_items", [...params, absences.listIsWhole]);
    await this.#create("history_several", params);
    await this.#create("history_texts", params);
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
    // Comparing a row takes twice the memory of copying it.
    const rows = Math.ceil(rowsPerRange / 2);
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
    // In several statements: the memory of a join is free only when its statement ends.
    await execute(this.#connection, "DROP TABLE IF EXISTS history_pairs");
    await this.#create("history_now", rangeParams(range));
    await this.#create("history_before", rangeParams(range));
    await this.#create("history_pairs", [this.#request.run.verdict === "complete"]);
    await execute(this.#connection, "DROP TABLE history_now; DROP TABLE history_before");
    await this.#create("history_numbers");
    await this.#create("history_questions");
    await findEffects(this.#connection, this.#prepared);
    await this.#create("history_causes", rangeParams(range));
    await this.#create("history_orders", rangeParams(range));
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

  /** Creates or replaces the temporary table of a step, which has the step's name. */
  #create(name: string, params: QueryParams = []): Promise<void> {
    const sql = `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${loadSql(name)}`;
    return execute(this.#connection, sql, params);
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

/**
 * Fills the temporary table `history_effects` from the questions in `history_questions`. The mapping steps run again with
 * one family of definitions as it was in an epoch, a span of runs between which no definition changed: if the result differs,
 * a change in this family is a cause. `prepared`: epochs whose tables the connection has.
 */
async function findEffects(connection: DuckDBConnection, prepared: Set<number>): Promise<void> {
  const create = "CREATE OR REPLACE TEMP TABLE history_effects (question VARCHAR, family VARCHAR)";
  await execute(connection, create);
  const epochs = await all(connection, "SELECT DISTINCT epoch FROM history_questions ORDER BY epoch");
  for (const row of epochs) {
    const epoch = toSafeInteger(row.epoch ?? null);
    if (!prepared.has(epoch)) await prepareEpoch(connection, epoch);
    prepared.add(epoch);
    for (const family of FAMILIES) {
      const steps = MAPPING_STEPS.map((step) => [step, epochTable(step, epoch, family)]);
      const marks = { ...Object.fromEntries(steps), mapped_values: loadSql("mapped_values") };
      const questions = fillMarks(loadSql("history_effects"), marks);
      const sql = `INSERT INTO history_effects SELECT question, ${quoteLiteral(family)} FROM (${questions})`;
      await execute(connection, sql, [null, null, epoch]);
    }
  }
}

/** Makes the tables that the mapping steps read, for each family as it was in the epoch. */
async function prepareEpoch(connection: DuckDBConnection, epoch: number): Promise<void> {
  for (const family of FAMILIES) {
    const targets = `mapping_targets AS (FROM ${epochTable("mapping_targets", epoch, family)})`;
    const definitions = DEFINITION_HISTORIES.filter((each) => each.family === family);
    const tables = definitions.map((each) => tableAsOf(each, epoch));
    for (const step of MAPPING_STEPS) {
      const read = step === "mapping_answers" ? [...tables, targets] : tables;
      await execute(
        connection,
        `CREATE OR REPLACE TEMP TABLE ${epochTable(step, epoch, family)} AS
         WITH ${read.join(", ")} SELECT * FROM (\n${loadSql(step)}\n)`,
      );
    }
  }
  const mapped = `SELECT DISTINCT ${epoch}, custom_field_id FROM ${epochTable("mapping_targets", epoch, "mapping")}`;
  await execute(connection, `INSERT INTO history_mapped_before ${mapped}`);
}

function epochTable(step: string, epoch: number, family: Family): string {
  return quoteIdentifier(`history_${step}_${epoch}_${family}`);
}

/** Common table expression with a table's name, and its rows as they were in an epoch. */
function tableAsOf({ history, of }: DefinitionHistory, epoch: number): string {
  const columns = definitionColumns(history).map(quoteIdentifier).join(", ");
  return `${quoteIdentifier(of)} AS (
    SELECT ${columns}
    FROM ${quoteIdentifier(history.name)} AS history
    JOIN run_history AS first ON first.run = history.valid_from_run
    LEFT JOIN run_history AS after ON after.run = history.valid_to_run
    WHERE first.sequence <= ${epoch} AND (after.sequence IS NULL OR after.sequence > ${epoch})
  )`;
}
