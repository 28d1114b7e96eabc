/** Steps that make the history, in order: what each reads and makes. docs/history.md shows them as a diagram. */
import { WarehouseError } from "../common/errors.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import {
  type Cause,
  DEFINITION_HISTORIES,
  definitionColumns,
  definitionKey,
  runHistory,
} from "../tables/history.ts";
import { loadSql } from "./load-sql.ts";

/** When a step runs: once in a run, on each connection, for each range of items, or (parts) for each part of a range. */
export const PHASES = ["run", "connection", "range", "find_parts", "copy", "compare_parts", "end"] as const;
export type Phase = (typeof PHASES)[number];

export interface HistoryStep {
  readonly phase: Phase;
  readonly name: string;
  /** Query with named parameters: see `paramsOf` in history.ts. */
  readonly sql: string;
  /** Table of the history, to which the step adds rows, or a temporary table. */
  readonly makes: string;
  /** Tables that the query names, without its common table expressions. */
  readonly reads: readonly string[];
}

type DefinitionHistory = (typeof DEFINITION_HISTORIES)[number];

/** Without `sql`, a step has the file of its name; without `makes`, it makes a table of its name. */
function step(
  phase: Phase,
  name: string,
  {
    sql = loadSql(name),
    makes = name,
    alsoReads = [],
  }: { sql?: string; makes?: string; alsoReads?: readonly string[] } = {},
): HistoryStep {
  return { phase, name, sql, makes, reads: [...new Set([...tablesIn(sql), ...alsoReads])] };
}

function tablesIn(sql: string): string[] {
  const code = sql.replace(/--.*/g, "");
  const own = new Set([...code.matchAll(/(\w+) AS (?:NOT MATERIALIZED )?\(/g)].map(([, name]) => name));
  const named = [...code.matchAll(/(?<!DISTINCT )\b(?:FROM|JOIN)\s+"?(\w+)/g)].map(([, name = ""]) => name);
  return named.filter((name) => !own.has(name));
}

/** Content IDs from a parameter, a JSON list. */
const listed = (name: string) => `SELECT unnest(CAST(CAST($${name} AS JSON) AS VARCHAR[])) AS content_id`;

/** The runs before and this run, each of whose columns is a parameter. */
const RUNS = `FROM previous_run_history UNION ALL BY NAME
  SELECT ${runHistory.columns.map(({ name }) => `$${name} AS ${name}`).join(", ")}`;

function definitionSql({ history, of, lookedUp, family }: DefinitionHistory): string {
  const names = definitionColumns(history);
  const others = names.filter((name) => name !== "ordinal");
  const differs = `${structOf("before.", others)} IS DISTINCT FROM ${structOf("now.", others)}`;
  const cause: Cause = `${family}_changed`;
  return fillMarks(loadSql("history_definitions"), {
    previous: quoteIdentifier(`previous_${history.name}`),
    now: quoteIdentifier(of),
    columns: names.map(quoteIdentifier).join(", "),
    columns_as_row: structOf("", names),
    key: definitionKey(history).map(quoteIdentifier).join(", "),
    looked_up: lookedUp,
    cause: quoteLiteral(cause),
    // Versions that are equal except for their position.
    reordered: others.length < names.length ? `NOT (${differs})` : "false",
  });
}

function structOf(source: string, names: readonly string[]): string {
  return `struct_pack(${names.map((name) => `${source}${quoteIdentifier(name)}`).join(", ")})`;
}

/** The mapping steps of `history_effects` read the definitions that a value follows from, as they were. */
const AS_THEY_WERE = DEFINITION_HISTORIES.filter(({ family }) => family !== "destination").map(
  ({ history }) => history.name,
);

/** The steps, in the order in which they run; those of a phase run again for each range or part. */
export const HISTORY_STEPS: readonly HistoryStep[] = checkSteps([
  step("run", "history_runs", { sql: RUNS, makes: "run_history" }),
  ...DEFINITION_HISTORIES.map((each) => step("run", each.history.name, { sql: definitionSql(each) })),
  step("connection", "history_epochs"),
  step("connection", "history_removed", { sql: listed("removed") }),
  step("connection", "history_unread", { sql: listed("unread") }),
  // Fields that were mapped in an epoch; history_effects adds them.
  step("connection", "history_mapped_before", {
    sql: "SELECT 0 AS epoch, '' AS custom_field_id WHERE false",
  }),
  step("range", "history_items"),
  step("range", "history_several"),
  step("range", "history_texts"),
  step("find_parts", "history_fields"),
  step("copy", "history_going_on", { makes: "mapped_value_history" }),
  step("copy", "history_first_values", { makes: "mapped_value_history" }),
  step("compare_parts", "history_now"),
  step("compare_parts", "history_before"),
  step("compare_parts", "history_pairs"),
  step("compare_parts", "history_numbers"),
  step("compare_parts", "history_questions"),
  step("compare_parts", "history_effects", { alsoReads: ["run_history", ...AS_THEY_WERE] }),
  step("compare_parts", "history_causes"),
  step("compare_parts", "history_orders"),
  // Items with values that an unsettled run could not see.
  step("compare_parts", "history_kept", {
    sql: "SELECT DISTINCT content_id FROM history_pairs WHERE event = 'kept'",
  }),
  step("compare_parts", "history_values", { makes: "mapped_value_history" }),
  step("compare_parts", "history_order_rows", { makes: "mapped_value_order_history" }),
  step("end", "history_content", { makes: "content_history" }),
]);

/** The steps of a phase. */
export function stepsOf(phase: Phase): HistoryStep[] {
  return HISTORY_STEPS.filter((each) => each.phase === phase);
}

/** Whether a later phase reads what a step makes: then it adds to the table for each part of a range. */
export function isReadLater({ phase, makes }: HistoryStep): boolean {
  return HISTORY_STEPS.some(
    (other) => other.reads.includes(makes) && PHASES.indexOf(other.phase) > PHASES.indexOf(phase),
  );
}

/** Throws if a step reads the table of a later one. */
export function checkSteps(steps: readonly HistoryStep[]): readonly HistoryStep[] {
  const later = new Set(steps.map(({ makes }) => makes));
  for (const { name, reads, makes } of steps) {
    const early = reads.find((table) => later.has(table));
    if (early !== undefined)
      throw new WarehouseError(
        "internal",
        `The step ${name} of the history reads ${early} before it is made.`,
      );
    later.delete(makes);
  }
  return steps;
}
