/** Compares the mapped values of two runs by the history that knows both. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { joinWords } from "../../common/nearest.ts";
import { historySql } from "../../load/load-sql.ts";
import { createHistoryMacros } from "../../load/views.ts";
import { all, execute } from "../../storage/duckdb.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import {
  definitionClause,
  type ReasonFinder,
  readDefinitionChanges,
  readDefinitionRows,
} from "../mapping/definition-changes.ts";
import { readIgnoredDestinations } from "../mapping/value-counts.ts";
import { createTempTable, loadSql } from "../queries.ts";
import { DESTINATION, FIELD } from "../questions/coverage.ts";
import { readIds } from "../scope.ts";
import type { RunPair } from "./run-pair.ts";

/** Destination and field by name or ID, item by ID. */
export interface DiffFilter {
  readonly item?: string | undefined;
  readonly cause: Cause | undefined;
  readonly destination: string | undefined;
  readonly field: string | undefined;
}

const counted = col.count({ required: true });
const CAUSE = { causes: col.text({ required: true, hidden: true }) } as const;

export const CAUSES_COUNTED = {
  ...CAUSE,
  items: col.count({ required: true, dispensable: 1 }),
  values: counted,
  gained: counted,
  lost: counted,
  changed: counted,
  reordered: counted,
  alike: col.count({ required: true, head: "no payload change" }),
} as const;

const hidden = col.text({ hidden: true });

/** Columns of a change: of one value of one item, or of all items that changed in the same way. */
const CHANGE = {
  change: col.text({ required: true, of: ["gained", "lost", "changed", "reordered", "alike"], hidden: true }),
  value_id_before: hidden,
  value_id_after: hidden,
  value_before: hidden,
  value_after: hidden,
  name_before: hidden,
  name_after: hidden,
  external_value_before: hidden,
  external_value_after: hidden,
  /** Both are null if the change applies to a field whatever its values are. */
  status_before: hidden,
  status_after: hidden,
  flags_before: hidden,
  flags_after: hidden,
  mapping_id_before: hidden,
  mapping_id_after: hidden,
  mapping_value_id_before: hidden,
  mapping_value_id_after: hidden,
} as const;

/** Whether the destination receives values in both runs, only the later one, only the earlier one, or neither. */
const RECEPTION = col.text({ required: true, of: ["receiving", "began", "ceased", "none"], hidden: true });

const ITEM_VALUE_CHANGE = { ...CAUSE, ...DESTINATION, reception: RECEPTION, ...FIELD, ...CHANGE } as const;
export type ItemValueChange = AnswerRow<typeof ITEM_VALUE_CHANGE>;

/** A row of `audit_diff_lines`: one change, however many items it touches. */
export const CHANGE_LINES = {
  ...ITEM_VALUE_CHANGE,
  items: col.count({ required: true }),
  values: col.count({ required: true, hidden: true }),
} as const;

/** A row of `audit_diff_items`. */
export const CHANGE_ITEMS = {
  content_id: col.name({ required: true, head: "item", dispensable: 2 }),
  title: col.text({ standIn: "content_id" }),
  ...ITEM_VALUE_CHANGE,
} as const;

/** Totals at destinations that receive values in both runs. */
const TOTALS = {
  items: counted,
  values: counted,
  /** Payloads that differ, and their items. */
  payloads: counted,
  payloadItems: counted,
  /** Items with changed values at destinations that receive none in either run. */
  otherItems: counted,
} as const;

const RECEPTION_CHANGE = {
  destination: col.text({ required: true }),
  reception: RECEPTION,
  items: col.count({ required: true }),
} as const;

const LARGEST = {
  ...CAUSE,
  destination_id: col.text(),
  custom_field_id: col.text(),
  value_id_before: col.text(),
  value_id_after: col.text(),
  name_before: col.text(),
  name_after: col.text(),
  items: col.count({ required: true }),
} as const;

/** Causes without a definition behind them, as clauses. */
const CAUSE_CLAUSES: Readonly<Record<Cause, string>> = {
  first_seen: "they are new",
  item_removed: "they were removed",
  item_returned: "they returned",
  item_changed: "they were edited",
  destination_changed: "a destination changed",
  mapping_changed: "mappings changed",
  definition_changed: "definitions of fields changed",
  reordered: "the order of their values changed",
};

export type ValueDiff = Awaited<ReturnType<typeof diffValues>>;

/**
 * Compares two runs that the history on the connection knows both, and creates the temporary view `diff_shown`
 * of the changes. Throws `config.not_found` for a destination or field that the history does not know.
 */
export async function diffValues(
  connection: DuckDBConnection,
  { before, after }: RunPair,
  filter: DiffFilter,
) {
  const runs = [before.sequence, after.sequence] as const;
  await createHistoryMacros(connection);
  const sent = await all(connection, PASSTHROUGH, runs);
  const passthrough = sent.map((row) => row.passthrough === true);
  const params = [...runs, passthrough.at(-1) === true];
  await createTempTable(connection, "diff_changes", loadSql("audit_diff"), params);
  const payloads = fillMarks(historySql("audit_diff_payloads", loadSql), {
    intervals: historySql("view_mapped_value_intervals"),
  });
  await createTempTable(connection, "diff_payloads", payloads, params);
  const ignored = JSON.stringify(await readIgnoredDestinations(connection));
  for (const [name, columns] of Object.entries(NAMED)) {
    const sql = fillMarks(loadSql("audit_diff_names"), columns);
    await createTempTable(connection, name, sql, [...runs, ignored]);
  }
  await createFilter(connection, filter);
  const [totals] = await readRows(connection, TOTALS, loadSql("audit_diff_totals"));
  if (totals === undefined) throw new TypeError("the changes have no totals");
  const why = await readDefinitionChanges(connection, ...runs);
  const [largest, second] = await readRows(connection, LARGEST, loadSql("audit_diff_largest"));
  return {
    ...totals,
    /** The cause that touches most items, as a clause, with their number; undefined if there is no single one. */
    largest:
      largest !== undefined && largest.items !== second?.items
        ? { items: largest.items, clause: clauseOf(why, largest) }
        : undefined,
    /** Destinations that began or ceased to receive values. */
    receptionChanges: await readRows(connection, RECEPTION_CHANGE, loadSql("audit_diff_receptions")),
    causes: await readRows(connection, CAUSES_COUNTED, loadSql("audit_diff_causes")),
    /**
     * Whether the pipelines differ in sending values of fields without value mappings. This does not count as a
     * change: both runs are compared as the later one sends.
     */
    sendsOtherwise: passthrough.at(0) !== passthrough.at(-1),
    why,
    definitionRows: await readDefinitionRows(connection),
  };
}

const PASSTHROUGH = "SELECT passthrough FROM run_history WHERE sequence IN ($1, $2) ORDER BY sequence";

/** History of what has a name, with the columns that the SQL of names reads. */
const NAMED = {
  diff_destinations: {
    id: "destination_id",
    name: "identification",
    receives:
      "supports_custom_field_mappings AND NOT list_contains(CAST($3::JSON AS VARCHAR[]), destination_id)",
    history: "destination_history",
  },
  diff_fields: {
    id: "custom_field_id",
    name: "name",
    receives: "$3::JSON IS NULL",
    history: "custom_field_history",
  },
} as const;

async function createFilter(connection: DuckDBConnection, filter: DiffFilter): Promise<void> {
  const { cause = null, destination, field, item = null } = filter;
  const destinations = await readIds(connection, "destination", destination, DESTINATIONS);
  const fields = await readIds(connection, "custom field", field, FIELDS);
  const bound = (ids: readonly string[] | undefined) => (ids === undefined ? null : JSON.stringify(ids));
  const params = [cause, bound(destinations), bound(fields), item];
  await createTempTable(connection, "diff_filter", FILTER, params);
  await execute(connection, SHOWN);
}

/** SQL of a list of changes. `condition`: SQL. */
export function changeListSql(step: "audit_diff_lines" | "audit_diff_items", some = "true"): string {
  return fillMarks(loadSql(step), { some });
}

const DESTINATIONS =
  "SELECT destination_id AS id, unnest([name, name_before]) AS name FROM diff_destinations";
const FIELDS = "SELECT custom_field_id AS id, unnest([name, name_before]) AS name FROM diff_fields";

const FILTER = `
  SELECT $1::VARCHAR AS cause, CAST($2::JSON AS VARCHAR[]) AS destination_ids, CAST($3::JSON AS VARCHAR[]) AS field_ids,
    $4::VARCHAR AS item`;

const SHOWN = `
  CREATE OR REPLACE TEMP VIEW diff_shown AS
  SELECT diff_changes.*, CASE
      WHEN received AND receives THEN 'receiving' WHEN receives THEN 'began' WHEN received THEN 'ceased' ELSE 'none'
    END AS reception
  FROM diff_changes CROSS JOIN diff_filter LEFT JOIN diff_destinations USING (destination_id)
  WHERE (diff_filter.cause IS NULL OR list_contains(diff_changes.causes, diff_filter.cause))
    AND (diff_filter.destination_ids IS NULL OR list_contains(diff_filter.destination_ids, destination_id))
    AND (diff_filter.field_ids IS NULL OR list_contains(diff_filter.field_ids, custom_field_id))
    AND (diff_filter.item IS NULL OR content_id = diff_filter.item)`;

/** Sentences on the definitions behind a change; `words` makes that of a definition. */
export function findReasons(
  { why }: { readonly why: ReasonFinder },
  change: Omit<AnswerRow<typeof LARGEST>, "items">,
  words?: typeof definitionClause,
): string[] {
  const texts = (...some: readonly (string | null)[]) => [...new Set(some.filter((text) => text !== null))];
  const value = {
    causes: wordsIn(change.causes),
    destinationId: change.destination_id ?? "",
    customFieldId: change.custom_field_id ?? "",
    valueIds: texts(change.value_id_before, change.value_id_after),
    names: texts(change.name_before, change.name_after),
  };
  return why(value, words);
}

function clauseOf(why: ReasonFinder, largest: AnswerRow<typeof LARGEST>): string {
  const clauses = findReasons({ why }, largest, definitionClause);
  const causes = CAUSES.filter((cause) => wordsIn(largest.causes).includes(cause));
  return joinWords(clauses.length > 0 ? clauses : causes.map((cause) => CAUSE_CLAUSES[cause]), "and");
}

/** Words of a text with blanks between them. */
export function wordsIn(text: string | null): string[] {
  return text === null || text === "" ? [] : text.split(" ");
}
