/** What of the mapped values is another between two runs, and why. Set-based, a range of items at a time. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type RowOf } from "../../common/answer.ts";
import { historySql, intervalsSql } from "../../load/macros.ts";
import { ends } from "../../load/steps.ts";
import { all, execute, toSafeInteger } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { loadSql } from "../load-sql.ts";
import { DESTINATION, FIELD, itemBounds } from "../questions/coverage.ts";
import { idsOf } from "../questions/filters.ts";
import { sendsAsIs } from "../questions/read-run.ts";
import { keep, keepRange } from "../rows.ts";
import { CHANGE, wordsIn } from "./change-words.ts";
import { readDefinitionChanges, readDefinitionRows, type Why } from "./definition-changes.ts";
import type { RunPair } from "./diff-runs.ts";
import { namesSql } from "./names.ts";

/** Destination and field by name or ID. */
export interface DiffFilter {
  readonly cause: Cause | undefined;
  readonly destination: string | undefined;
  readonly field: string | undefined;
}

/** With blanks between them; null: no history tells. */
const CAUSE = { causes: col.text({ hidden: true }) } as const;

const COUNTS = {
  items: col.count({ required: true, dispensable: 1 }),
  values: col.count({ required: true }),
  gained: col.count({ required: true }),
  lost: col.count({ required: true }),
  changed: col.count({ required: true }),
  reordered: col.count({ required: true, dispensable: 2 }),
  alike: col.count({ required: true, head: "no payload change" }),
} as const;
export const CAUSES_COUNTED = { ...CAUSE, ...COUNTS } as const;
export const GROUPS = { ...CAUSE, ...DESTINATION, ...FIELD, ...COUNTS } as const;

const PLACED_CHANGE = { ...CAUSE, ...DESTINATION, ...FIELD, ...CHANGE } as const;
export type PlacedChange = RowOf<typeof PLACED_CHANGE>;

/** A row of `audit_diff_lines`: a change however many items it touches. */
export const LINES = {
  ...PLACED_CHANGE,
  items: col.count({ required: true }),
  values: col.count({ required: true, hidden: true }),
} as const;

/** A row of `audit_diff_items`. */
export const ITEMS = {
  content_id: col.name({ required: true, head: "item" }),
  title: col.text(),
  ordinal: col.count({ hidden: true }),
  ...PLACED_CHANGE,
} as const;

/** What changed, in figures. */
const TOTALS = {
  items: col.count({ required: true }),
  values: col.count({ required: true }),
  /** Payloads that differ, and their items. */
  payloads: col.count({ required: true }),
  payloadItems: col.count({ required: true }),
} as const;

export type Diff = Awaited<ReturnType<typeof diffRuns>>;

/** Values of a range, before and after together: with so many, each step keeps to the memory of an opened run. */
const DIFF_ROWS_PER_RANGE = 100_000;

/**
 * Compares two runs. The connection is that of the run whose history knows both; where no history does (`pair.basis` is
 * undefined), that of the later run with the earlier one beside it, and causes are not told. The temporary view
 * `diff_shown` has the changes, and the temporary table `diff_payloads` the payloads that differ; rows are those of the SQL steps of the same names.
 * Throws `config.not_found` for a destination or field that neither run nor history knows.
 */
export async function diffRuns(
  connection: DuckDBConnection,
  pair: RunPair,
  filter: DiffFilter,
  rowsPerRange: number = DIFF_ROWS_PER_RANGE,
) {
  const passthrough =
    pair.basis === undefined
      ? await compareLedgers(connection, rowsPerRange)
      : await compareHistory(connection, pair, rowsPerRange);
  await nameThings(connection, pair);
  await show(connection, filter);
  const totals = (await rowsBy(connection, TOTALS, loadSql("audit_diff_totals")))[0];
  if (totals === undefined) throw new TypeError("the changes have no totals");
  return {
    ...totals,
    /** By cause. */
    causes: await rowsBy(connection, CAUSES_COUNTED, countedBy("audit_diff_causes", "causes")),
    /** By cause, destination and field. */
    groups: await rowsBy(
      connection,
      GROUPS,
      countedBy("audit_diff_groups", "causes, destination_id, custom_field_id"),
    ),
    /**
     * Whether the pipelines of the two runs differ in sending values of fields without value mappings as they are. That
     * alone is no change here: both sides are taken as the later run sends.
     */
    sendsOtherwise: passthrough.before !== passthrough.after,
    /**
     * What became of the definitions up to the later run, by the number of the run that they are compared from: that of
     * the column definitions_from; null: the earlier run. Nothing where causes cannot be told.
     */
    definitions:
      pair.basis === undefined ? new Map<number | null, Why>() : await definitionsOf(connection, pair),
    /** The same one by one, before and after. */
    definitionRows:
      pair.basis === undefined
        ? []
        : await readDefinitionRows(connection, { from: pair.before.sequence, to: pair.after.sequence }),
  };
}

function countedBy(step: "audit_diff_causes" | "audit_diff_groups", by: string): string {
  return fillMarks(loadSql(step), { counts: fillMarks(loadSql("audit_diff_counts"), { by }) });
}

async function definitionsOf(
  connection: DuckDBConnection,
  { before, after }: RunPair,
): Promise<Map<number | null, Why>> {
  const found = new Map<number | null, Why>();
  const rows = await all(connection, "SELECT NULL AS start UNION SELECT definitions_from FROM diff_shown");
  for (const { start = null } of rows) {
    const from = start === null ? null : toSafeInteger(start);
    found.set(from, await readDefinitionChanges(connection, from ?? before.sequence, after.sequence));
  }
  return found;
}

type Passthrough = Readonly<Record<"before" | "after", boolean>>;

/** Only what the history saw change between the two is looked at. */
async function compareHistory(
  connection: DuckDBConnection,
  { before, after }: RunPair,
  rowsPerRange: number,
): Promise<Passthrough> {
  const sequences = [before.sequence, after.sequence];
  const sent = await all(
    connection,
    "SELECT passthrough FROM run_history WHERE sequence IN ($1, $2) ORDER BY sequence",
    sequences,
  );
  const passthrough = { before: sent[0]?.passthrough === true, after: sent.at(-1)?.passthrough === true };
  const starts = await all(connection, loadSql("audit_diff_ranges"), [...sequences, rowsPerRange]);
  const given = fillMarks(loadSql("audit_diff_history_rows"), { intervals: intervalsSql() });
  const changes = historySql("audit_diff", loadSql);
  const payloads = historySql("audit_diff_payloads", loadSql);
  const causes = JSON.stringify(CAUSES);
  const ranges = rangesOf(starts.map(({ first_id }) => String(first_id)));
  for (const [index, range] of ranges.entries()) {
    await keep(connection, "diff_touched", loadSql("audit_diff_touched"), [...ends(range), ...sequences]);
    await keep(connection, "diff_values", loadSql("audit_diff_values"), ends(range));
    await keep(connection, "diff_orders", loadSql("audit_diff_orders"), ends(range));
    await keep(connection, "diff_given", given, sequences);
    await keep(connection, "diff_events", historySql("audit_diff_events", loadSql), sequences);
    await keepRange(connection, "diff_changes", changes, { index, params: [passthrough.after, causes] });
    await keepRange(connection, "diff_payloads", payloads, { index, params: [passthrough.after] });
  }
  await keep(connection, "diff_returned", loadSql("audit_diff_returned"), [before.sequence]);
  return passthrough;
}

/** All values of both runs are looked at; why they differ is not in them. */
async function compareLedgers(connection: DuckDBConnection, rowsPerRange: number): Promise<Passthrough> {
  const passthrough = {
    before: await sendsAsIs(connection, "before_"),
    after: await sendsAsIs(connection),
  };
  await keep(connection, "diff_events", NO_EVENTS);
  const changes = historySql("audit_diff", loadSql);
  const payloads = historySql("audit_diff_payloads", loadSql);
  const ranges = rangesOf(await itemBounds(connection, rowsPerRange));
  for (const [index, range] of ranges.entries()) {
    await keep(connection, "diff_given", loadSql("audit_diff_ledger_rows"), ends(range));
    await keepRange(connection, "diff_changes", changes, { index, params: [passthrough.after, null] });
    await keepRange(connection, "diff_payloads", payloads, { index, params: [passthrough.after] });
  }
  await keep(connection, "diff_returned", NONE_RETURNED);
  return passthrough;
}

const NO_EVENTS = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::VARCHAR AS input, NULL::INTEGER AS copy, NULL::VARCHAR[] AS causes LIMIT 0`;

/** Without causes no definition is behind anything. */
const NONE_RETURNED = "SELECT NULL::VARCHAR AS content_id, NULL::BIGINT AS definitions_from LIMIT 0";

/** Names and titles, also of what is gone from the later run. */
async function nameThings(connection: DuckDBConnection, { before, after, basis }: RunPair): Promise<void> {
  for (const named of ["destinations", "fields"] as const) {
    const name = `diff_${named}`;
    if (basis === undefined) await keep(connection, name, namesSql("audit_diff_names_of_both", named));
    else await keep(connection, name, namesSql("audit_diff_names", named), [before.sequence, after.sequence]);
  }
  const gone =
    basis === undefined
      ? "UNION ALL SELECT content_id, title FROM before_content ANTI JOIN content USING (content_id)"
      : "";
  await execute(
    connection,
    `CREATE OR REPLACE TEMP VIEW diff_titles AS SELECT content_id, title FROM content ${gone}`,
  );
}

async function show(connection: DuckDBConnection, { cause, destination, field }: DiffFilter): Promise<void> {
  const destinations = await idsOf(connection, "destination", destination, DESTINATIONS);
  const fields = await idsOf(connection, "custom field", field, FIELDS);
  const bound = (ids: readonly string[] | undefined) => (ids === undefined ? null : JSON.stringify(ids));
  await keep(connection, "diff_filter", FILTER, [cause ?? null, bound(destinations), bound(fields)]);
  await execute(connection, SHOWN);
  await execute(connection, "CREATE OR REPLACE TEMP VIEW diff_listed AS FROM diff_shown");
}

/**
 * Keeps the list of `audit_diff_items` to some changes that send another payload: where there are more, each cause has its
 * share.
 */
export async function listSome(connection: DuckDBConnection, limit: number): Promise<void> {
  await keep(connection, "diff_some", loadSql("audit_diff_some"), [limit]);
  await execute(connection, "CREATE OR REPLACE TEMP VIEW diff_listed AS FROM diff_some");
}

const DESTINATIONS =
  "SELECT destination_id AS id, unnest([name, name_before]) AS name FROM diff_destinations";
const FIELDS = "SELECT custom_field_id AS id, unnest([name, name_before]) AS name FROM diff_fields";

const FILTER = `
  SELECT $1::VARCHAR AS cause, CAST($2::JSON AS VARCHAR[]) AS destination_ids, CAST($3::JSON AS VARCHAR[]) AS field_ids`;

const SHOWN = `
  CREATE OR REPLACE TEMP VIEW diff_shown AS
  SELECT diff_changes.*,
    CASE
      WHEN list_contains(causes, 'item_returned')
        AND list_has_any(causes, ['destination_changed', 'mapping_changed', 'definition_changed'])
        THEN definitions_from
    END AS definitions_from
  FROM diff_changes CROSS JOIN diff_filter LEFT JOIN diff_returned USING (content_id)
  WHERE (diff_filter.cause IS NULL OR list_contains(diff_changes.causes, diff_filter.cause))
    AND (diff_filter.destination_ids IS NULL OR list_contains(diff_filter.destination_ids, destination_id))
    AND (diff_filter.field_ids IS NULL OR list_contains(diff_filter.field_ids, custom_field_id))`;

/** Sentences on the definitions behind a change. */
export function whyOf({ definitions }: Pick<Diff, "definitions">, change: PlacedChange): string[] {
  const texts = (...some: readonly (string | null)[]) => [...new Set(some.filter((text) => text !== null))];
  const why = definitions.get(change.definitions_from);
  if (why === undefined) return [];
  return why({
    causes: wordsIn(change.causes),
    destinationId: change.destination_id,
    customFieldId: change.custom_field_id,
    valueIds: texts(change.value_id_before, change.value_id_after),
    names: texts(change.name_before, change.name_after),
  });
}
