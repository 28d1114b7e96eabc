/** Fills the history: compares mapped values and definitions of this run with the history of the run before. */
import { type DuckDBConnection, DuckDBTimestampTZValue, type DuckDBValue } from "@duckdb/node-api";
import type { Verdict } from "../common/verdict.ts";
import { ROWS_PER_GROUP } from "../storage/database.ts";
import { all, execute, scalar, toSafeInteger } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapLimited, mapParallel } from "../storage/parallel.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { DEFINITION_HISTORIES, definitionColumns, HISTORY_VERSION } from "../tables/history.ts";
import { attachPrevious, type PreviousHistory } from "./history-previous.ts";
import { type HistoryStep, isReadLater, type Phase, stepsOf } from "./history-steps.ts";
import { loadSql } from "./load-sql.ts";
import { MAPPING_STEPS, rangeParams, rangeStarts } from "./mapped-values.ts";

type DefinitionHistory = (typeof DEFINITION_HISTORIES)[number];
type Family = DefinitionHistory["family"];
/** Families of definitions that a value follows from. */
const FAMILIES: readonly Family[] = ["mapping", "definition"];

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
  const lanes = connections.map((connection) => new ValueHistory(connection, request));
  await lanes[0]?.run("run");
  await mapLimited(lanes, async (history) => history.begin(), lanes.length);
  const itemRanges = rangesOf(request.itemBounds);
  const firsts = await mapParallel(lanes, itemRanges, async (history, items) => history.fill(items));
  await mapLimited(lanes, async (history) => history.insertCollected(1), lanes.length);
  return firsts.flat();
}

/** Values of the named parameters of steps, beside the bounds of a range: `lower` and `upper`. */
function paramsOf({ run, passthrough, previous, absences }: HistoryRequest) {
  return {
    run: run.run,
    sequence: run.sequence,
    started_at: instant(run.startedAt.getTime()),
    extracted_at: instant(run.extractedMs),
    pipeline: run.pipeline,
    verdict: run.verdict,
    previous_run: previous.kind === "carried" ? previous.run : null,
    passthrough,
    // Counted when the history is filled.
    lost: null,
    gained: null,
    package_version: run.packageVersion,
    history_version: HISTORY_VERSION,
    is_complete: run.verdict === "complete",
    list_is_whole: absences.listIsWhole,
    removed: JSON.stringify([...absences.confirmed]),
    unread: JSON.stringify([...absences.unread]),
  };
}

/** Those that a statement names; others are an error. */
function paramsIn(sql: string, params: Readonly<Record<string, DuckDBValue>>): Map<string, DuckDBValue> {
  const names = new Set(sql.match(/(?<=\$)[a-z_]+/g));
  return new Map(Object.entries(params).filter(([name]) => names.has(name)));
}

/** An instant of the database, from milliseconds since 1970. */
function instant(milliseconds: number): DuckDBTimestampTZValue {
  return new DuckDBTimestampTZValue(BigInt(milliseconds) * 1000n);
}

/** Tables with rows from comparisons. Rows are collected until they fill a row group; fewer would wait uncompressed. */
const COMPARED = ["mapped_value_history", "mapped_value_order_history"] as const;

const collectedName = (table: string) => `made_${table}`;

/** Tables of comparisons: each is dropped after its last reader, so that few take memory. */
const COMPARISON = stepsOf("compare_parts");

function lastReadBy(step: HistoryStep): string[] {
  const later = COMPARISON.slice(COMPARISON.indexOf(step) + 1);
  const made = COMPARISON.filter((each) => isTemporary(each) && !isReadLater(each));
  const over = made.filter(({ makes }) => !later.some(({ reads }) => reads.includes(makes)));
  return over.flatMap(({ makes }) => (step.reads.includes(makes) ? [makes] : []));
}

const isTemporary = ({ makes }: HistoryStep) => makes.startsWith("history_");

/** The history of items and of their mapped values, on one connection. */
class ValueHistory {
  readonly #connection: DuckDBConnection;
  readonly #request: HistoryRequest;
  readonly #params: ReturnType<typeof paramsOf>;
  /** Epochs whose tables this connection has. */
  readonly #prepared = new Set<number>();

  constructor(connection: DuckDBConnection, request: HistoryRequest) {
    this.#connection = connection;
    this.#request = request;
    this.#params = paramsOf(request);
  }

  async begin(): Promise<void> {
    for (const table of COMPARED) {
      const create = `CREATE OR REPLACE TEMP TABLE ${collectedName(table)} AS FROM ${table} LIMIT 0`;
      await execute(this.#connection, create);
    }
    await this.run("connection");
  }

  /** Fills the history of a range of items. Returns the first item of each range that it was cut into. */
  async fill(items: IdRange): Promise<string[]> {
    const { rowsPerRange } = this.#request;
    await this.run("range", [items]);
    const weights = { text: "FROM history_items", params: [] };
    const firsts = await rangeStarts(this.#connection, weights, rowsPerRange);
    await this.run("find_parts", cut(items, firsts));
    // Rows that are only copied stream: all items at once take little memory.
    await this.run("copy", [items]);
    // Comparing a row takes twice the memory of copying it.
    const rows = Math.ceil(rowsPerRange / 2);
    const compared = { text: loadSql("history_compared_weights"), params: rangeParams(items) };
    await this.run("compare_parts", cut(items, await rangeStarts(this.#connection, compared, rows)));
    await this.run("end", [items]);
    return firsts;
  }

  /** Runs the steps of a phase for each of the parts. */
  async run(phase: Phase, parts: readonly IdRange[] = [ALL_ITEMS]): Promise<void> {
    for (const [number, part] of parts.entries()) {
      for (const step of stepsOf(phase)) await this.#runStep(step, part, number > 0 && isReadLater(step));
      if (phase === "compare_parts")
        await this.insertCollected(Math.min(ROWS_PER_GROUP, this.#request.rowsPerRange));
    }
  }

  async #runStep(step: HistoryStep, range: IdRange, adds: boolean): Promise<void> {
    const { phase, makes, sql } = step;
    if (makes === "history_effects") return findEffects(this.#connection, this.#prepared);
    const rows = quoteIdentifier(phase === "compare_parts" ? collectedName(makes) : makes);
    const verb = !isTemporary(step)
      ? `INSERT INTO ${rows} BY NAME`
      : adds
        ? `INSERT INTO ${quoteIdentifier(makes)}`
        : `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(makes)} AS`;
    const [lower, upper] = rangeParams(range);
    await execute(this.#connection, `${verb} ${sql}`, paramsIn(sql, { ...this.#params, lower, upper }));
    if (phase !== "compare_parts") return;
    for (const table of lastReadBy(step))
      await execute(this.#connection, `DROP TABLE ${quoteIdentifier(table)}`);
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
}

const ALL_ITEMS: IdRange = { lower: undefined, upper: undefined };

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
      await execute(connection, sql, [...rangeParams(ALL_ITEMS), epoch]);
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
