/** The history of the definitions: destinations, fields, select values, mappings and their entries. */
import { type DuckDBConnection, DuckDBTimestampTZValue } from "@duckdb/node-api";
import type { Verdict } from "../common/verdict.ts";
import { execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier } from "../storage/sql-text.ts";
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

/** The run that has the definitions as they are now. */
export interface ObservingRun {
  readonly run: string;
  /** As the run's name says it, to the second: from then on holds what the run found. */
  readonly startedAt: Date;
  readonly verdict: Verdict;
}

/** Definitions whose changes have one name as causes. */
export type Family = "destination" | "mapping" | "definition";

export interface DefinitionHistory {
  readonly history: Table;
  /** The table whose versions it holds. */
  readonly of: string;
  readonly family: Family;
  /** Condition under which a run that cannot know every definition knows that one is gone. */
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

/** Milliseconds since 1970 as a value of the database, which counts microseconds. */
export function instant(milliseconds: number): DuckDBTimestampTZValue {
  return new DuckDBTimestampTZValue(BigInt(milliseconds) * 1000n);
}

/** Columns of the definition itself, without the interval. */
export function definitionColumns({ columns }: Table): string[] {
  const names = columns.map(({ name }) => name);
  return names.slice(0, names.indexOf("valid_from_run"));
}

/** Those of them that name it, however often it has changed. */
export function definitionKey({ key }: Table): string[] {
  return key.filter((name) => name !== "valid_from_run");
}

/** Fills the histories of the definitions, which are few: in one go each. */
export async function fillDefinitions(connection: DuckDBConnection, run: ObservingRun): Promise<void> {
  for (const definition of DEFINITION_HISTORIES) {
    const sql = `INSERT INTO ${quoteIdentifier(definition.history.name)} BY NAME ${stepOf(definition)}`;
    const cause: Cause = `${definition.family}_changed`;
    const startedAt = instant(run.startedAt.getTime());
    await execute(connection, sql, [run.run, startedAt, cause, run.verdict === "complete"]);
  }
}

function stepOf({ history, of, lookedUp }: DefinitionHistory): string {
  const names = definitionColumns(history);
  const columns = names.map(quoteIdentifier);
  return fillMarks(loadSql("history_definitions"), {
    previous: quoteIdentifier(`previous_${history.name}`),
    now: `SELECT ${columns.join(", ")} FROM ${quoteIdentifier(of)}`,
    columns_as_row: structOf("", names),
    key: definitionKey(history).map(quoteIdentifier).join(", "),
    looked_up: lookedUp,
    reordered: names.includes("ordinal") ? onlyOrdinal(names.filter((name) => name !== "ordinal")) : "false",
  });
}

/** Whether both are there, and differ in nothing but their place. */
function onlyOrdinal(names: readonly string[]): string {
  const same = `${structOf("before.", names)} IS NOT DISTINCT FROM ${structOf("now.", names)}`;
  return `before.definition IS NOT NULL AND now.definition IS NOT NULL AND ${same}`;
}

function structOf(source: string, names: readonly string[]): string {
  return `struct_pack(${names.map((name) => `${source}${quoteIdentifier(name)}`).join(", ")})`;
}
