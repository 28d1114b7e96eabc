/** Steps that make the history, in order: what each reads and makes. docs/history.md shows them as a diagram. */
import { WarehouseError } from "../common/errors.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import {
  type Cause,
  DEFINITION_HISTORIES,
  definitionColumns,
  definitionKey,
  HISTORY_TABLES,
  runHistory,
} from "../tables/history.ts";
import { loadSql } from "./load-sql.ts";
import { MAPPING_STEPS } from "./mapped-values.ts";

/** When a step runs: once in a run, on each connection, for each range of items, or (parts) for each part of a range. */
export const PHASES = ["run", "connection", "range", "find_parts", "copy", "compare_parts", "end"] as const;
export type Phase = (typeof PHASES)[number];

export interface HistoryStep {
  readonly name: string;
  readonly phase: Phase;
  readonly reads: readonly string[];
  /** Table of the history, to which the step adds rows, or a temporary table. */
  readonly makes: string;
  /** Query with named parameters: see `paramsOf` in history.ts. */
  readonly sql: string;
}

type DefinitionHistory = (typeof DEFINITION_HISTORIES)[number];

/** Tables that are there before the first step. */
export const SOURCES: readonly string[] = [
  "content",
  "content_custom_field_values",
  "content_mapped_values",
  ...DEFINITION_HISTORIES.map(({ of }) => of),
  ...MAPPING_STEPS,
  ...HISTORY_TABLES.map(({ name }) => `previous_${name}`),
];

/** Histories of the definitions that a value follows from. */
const DEFINITIONS = DEFINITION_HISTORIES.filter(({ family }) => family !== "destination").map(
  ({ history }) => history.name,
);

/** A step whose SQL is the file of its name. Without `makes`, it makes a table of its own name. */
function step(phase: Phase, name: string, reads: readonly string[], makes = name): HistoryStep {
  return { name, phase, reads, makes, sql: loadSql(name) };
}

/** A step that makes a temporary table of content IDs from a parameter, a JSON list. */
function listed(name: "removed" | "unread"): HistoryStep {
  const sql = `SELECT unnest(CAST(CAST($${name} AS JSON) AS VARCHAR[])) AS content_id`;
  return { name: `history_${name}`, phase: "connection", reads: [], makes: `history_${name}`, sql };
}

/** The runs before and this run, each of whose columns is a parameter. */
const RUNS = `FROM previous_run_history UNION ALL BY NAME
  SELECT ${runHistory.columns.map(({ name }) => `$${name} AS ${name}`).join(", ")}`;

const DEFINITION_STEPS = DEFINITION_HISTORIES.map(
  (definition): HistoryStep => ({
    name: definition.history.name,
    phase: "run",
    reads: [`previous_${definition.history.name}`, definition.of, ...definition.lookedUp.reads],
    makes: definition.history.name,
    sql: definitionSql(definition),
  }),
);

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
    looked_up: lookedUp.sql,
    cause: quoteLiteral(cause),
    // Versions that are equal except for their position.
    reordered: others.length < names.length ? `NOT (${differs})` : "false",
  });
}

function structOf(source: string, names: readonly string[]): string {
  return `struct_pack(${names.map((name) => `${source}${quoteIdentifier(name)}`).join(", ")})`;
}

const VALUES = "content_mapped_values";
const GIVEN = "content_custom_field_values";
const VALUES_BEFORE = "previous_mapped_value_history";
const ORDERS_BEFORE = "previous_mapped_value_order_history";

/** The steps, in the order in which they run; those of a phase run again for each range or part. */
export const HISTORY_STEPS: readonly HistoryStep[] = checkSteps([
  { name: "history_runs", phase: "run", reads: ["previous_run_history"], makes: "run_history", sql: RUNS },
  ...DEFINITION_STEPS,
  step("connection", "history_epochs", ["run_history", ...DEFINITIONS]),
  listed("removed"),
  listed("unread"),
  {
    // Fields that were mapped in an epoch; history_effects adds them.
    name: "history_mapped_before",
    phase: "connection",
    reads: [],
    makes: "history_mapped_before",
    sql: "SELECT 0 AS epoch, '' AS custom_field_id WHERE false",
  },
  step("range", "history_items", [
    "content",
    VALUES,
    GIVEN,
    "run_history",
    "previous_content_history",
    VALUES_BEFORE,
    "history_removed",
    "history_unread",
    "history_epochs",
  ]),
  step("range", "history_several", [GIVEN]),
  step("range", "history_texts", [VALUES, GIVEN, "history_items"]),
  step("find_parts", "history_fields", [
    VALUES,
    VALUES_BEFORE,
    ORDERS_BEFORE,
    "history_items",
    "history_several",
    "history_texts",
  ]),
  step("copy", "history_going_on", [VALUES_BEFORE, "history_fields"], "mapped_value_history"),
  step(
    "copy",
    "history_first_values",
    [VALUES, "history_items", "history_several", "history_texts"],
    "mapped_value_history",
  ),
  step("compare_parts", "history_now", [VALUES, GIVEN, "history_fields", "history_several"]),
  step("compare_parts", "history_before", [VALUES_BEFORE, ORDERS_BEFORE, "history_fields"]),
  step("compare_parts", "history_pairs", ["custom_fields", "history_now", "history_before"]),
  step("compare_parts", "history_numbers", ["history_pairs"]),
  step("compare_parts", "history_questions", ["history_pairs"]),
  // Runs the mapping steps by the definitions as they were.
  step("compare_parts", "history_effects", ["history_questions", "run_history", ...DEFINITIONS]),
  step("compare_parts", "history_causes", [
    GIVEN,
    "mapping_targets",
    VALUES_BEFORE,
    "history_items",
    "history_mapped_before",
    "history_pairs",
    "history_effects",
  ]),
  step("compare_parts", "history_orders", [
    ORDERS_BEFORE,
    "history_items",
    "history_several",
    "history_pairs",
    "history_numbers",
    "history_causes",
  ]),
  {
    // Items with values that an unsettled run could not see.
    name: "history_kept",
    phase: "compare_parts",
    reads: ["history_pairs"],
    makes: "history_kept",
    sql: "SELECT DISTINCT content_id FROM history_pairs WHERE event = 'kept'",
  },
  step(
    "compare_parts",
    "history_values",
    [VALUES_BEFORE, "history_fields", "history_pairs", "history_numbers", "history_causes"],
    "mapped_value_history",
  ),
  step(
    "compare_parts",
    "history_order_rows",
    [VALUES, ORDERS_BEFORE, "history_items", "history_several", "history_orders"],
    "mapped_value_order_history",
  ),
  step(
    "end",
    "history_content",
    ["previous_content_history", "history_items", "history_kept"],
    "content_history",
  ),
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

/** Throws if a step reads a table before it is made. */
export function checkSteps(steps: readonly HistoryStep[]): readonly HistoryStep[] {
  const made = new Set(SOURCES);
  for (const { name, reads, makes } of steps) {
    const early = reads.find((table) => !made.has(table));
    if (early !== undefined)
      throw new WarehouseError(
        "internal",
        `The step ${name} of the history reads ${early} before it is made.`,
      );
    made.add(makes);
  }
  return steps;
}
