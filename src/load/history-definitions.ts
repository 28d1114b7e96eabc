/** Fills the history of definitions: destinations, custom fields, select values, mappings and their entries. */
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

/** Definitions whose changes have the same cause: `destination_changed`, `mapping_changed` or `definition_changed`. */
export type DefinitionFamily = "destination" | "mapping" | "definition";

export interface DefinitionHistory {
  readonly history: Table;
  /** Table whose versions it holds. */
  readonly of: string;
  readonly family: DefinitionFamily;
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
  return fillMarks(loadSql("history_definitions"), {
    previous: quoteIdentifier(`previous_${history.name}`),
    now: `SELECT ${columns.join(", ")} FROM ${quoteIdentifier(of)}`,
    columns_as_row: structOf("", names),
    key: definitionKey(history).map(quoteIdentifier).join(", "),
    looked_up: lookedUp,
    reordered: names.includes("ordinal") ? onlyOrdinal(names.filter((name) => name !== "ordinal")) : "false",
  });
}

/** SQL condition: two versions that are equal except for their position. */
function onlyOrdinal(names: readonly string[]): string {
  const same = `${structOf("before.", names)} IS NOT DISTINCT FROM ${structOf("now.", names)}`;
  return `before.definition IS NOT NULL AND now.definition IS NOT NULL AND ${same}`;
}

function structOf(source: string, names: readonly string[]): string {
  return `struct_pack(${names.map((name) => `${source}${quoteIdentifier(name)}`).join(", ")})`;
}
