/**
 * Fills the history of definitions: destinations, custom fields, select values, mappings and their entries. Finds which of
 * them changed mapped values.
 */
import { type DuckDBConnection, DuckDBTimestampTZValue } from "@duckdb/node-api";
import type { Verdict } from "../common/verdict.ts";
import { all, execute, toSafeInteger } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import {
  type Cause,
  customFieldHistory,
  destinationHistory,
  mappingHistory,
  mappingValueHistory,
  selectValueHistory,
} from "../tables/history.ts";
import { loadSql } from "./load-sql.ts";
import { MAPPING_STEPS } from "./mapped-values.ts";

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

/** Families of definitions, whose changes have the same cause, such as `destination_changed`. */
const FAMILIES = ["destination", "mapping", "definition"] as const;
type Family = (typeof FAMILIES)[number];

interface DefinitionHistory {
  readonly history: Table;
  /** Table whose versions it holds. */
  readonly of: string;
  readonly family: Family;
  /** SQL condition under which an unsettled run knows that a definition is removed. */
  readonly lookedUp: string;
}

const LOOKED_UP = "(SELECT custom_field_id FROM custom_fields WHERE from_lookup)";
const OF_FIELD = `before.definition.custom_field_id IN ${LOOKED_UP}`;
const OF_MAPPING =
  "before.definition.mapping_id IN " +
  `(SELECT mapping_id FROM previous_mapping_history WHERE custom_field_id IN ${LOOKED_UP})`;

export const DEFINITION_HISTORIES: readonly DefinitionHistory[] = [
  { history: destinationHistory, of: "destinations", family: "destination", lookedUp: "false" },
  { history: customFieldHistory, of: "custom_fields", family: "definition", lookedUp: "false" },
  { history: selectValueHistory, of: "custom_field_select_values", family: "definition", lookedUp: OF_FIELD },
  { history: mappingHistory, of: "custom_field_mappings", family: "mapping", lookedUp: OF_FIELD },
  {
    history: mappingValueHistory,
    of: "custom_field_mapping_values",
    family: "mapping",
    lookedUp: OF_MAPPING,
  },
];

/** An instant of the database, from milliseconds since 1970. */
export function instant(milliseconds: number): DuckDBTimestampTZValue {
  return new DuckDBTimestampTZValue(BigInt(milliseconds) * 1000n);
}

/** Columns of the definition itself, without the interval. */
export function definitionColumns({ columns }: Table): string[] {
  const names = columns.map(({ name }) => name);
  return names.slice(0, names.indexOf("valid_from_run"));
}

/** Key columns of the definition, which stay the same through its versions. */
export function definitionKey({ key }: Table): string[] {
  return key.filter((name) => name !== "valid_from_run");
}

/** Fills the histories of the definitions. They are few, so each takes one statement. */
export async function fillDefinitions(connection: DuckDBConnection, run: HistoryRun): Promise<void> {
  for (const definition of DEFINITION_HISTORIES) {
    const sql = `INSERT INTO ${quoteIdentifier(definition.history.name)} BY NAME ${definitionSql(definition)}`;
    const cause: Cause = `${definition.family}_changed`;
    const startedAt = instant(run.startedAt.getTime());
    await execute(connection, sql, [run.run, startedAt, cause, run.verdict === "complete"]);
  }
}

function definitionSql({ history, of, lookedUp }: DefinitionHistory): string {
  const names = definitionColumns(history);
  const columns = names.map(quoteIdentifier);
  const others = names.filter((name) => name !== "ordinal");
  const differs = `${structOf("before.", others)} IS DISTINCT FROM ${structOf("now.", others)}`;
  return fillMarks(loadSql("history_definitions"), {
    previous: quoteIdentifier(`previous_${history.name}`),
    now: `SELECT ${columns.join(", ")} FROM ${quoteIdentifier(of)}`,
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

/**
 * Fills the temporary table `history_effects` from the questions in `history_questions`. The mapping steps run again with
 * one family of definitions as it was in an epoch, a span of runs between which no definition changed: if the result differs,
 * a change in this family is a cause. `prepared`: epochs whose tables the connection has.
 */
export async function findEffects(connection: DuckDBConnection, prepared: Set<number>): Promise<void> {
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
