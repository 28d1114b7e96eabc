/** How far the mappings of a run cover what its items have. Set-based, a range of items at a time. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { suggestion } from "../../common/nearest.ts";
import { ends, LEDGER_ROWS_PER_RANGE, prepareMappings } from "../../load/steps.ts";
import { all, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { loadSql } from "../load-sql.ts";
import { type Status, WITHOUT_EXTERNAL_VALUE } from "../mapping/mapped-value.ts";
import { keep, keepRange } from "../rows.ts";
import { notFound, type Scope } from "./filters.ts";
import { sendsAsIs } from "./read-run.ts";

export interface CoverageFilter extends Scope {
  readonly status?: Status | undefined;
  /** Value ID, text of the value, or external value. */
  readonly value?: string | undefined;
}

/** What is counted in uses: one use is one row of `content_mapped_values`. */
export const COUNTED = [...WITHOUT_EXTERNAL_VALUE, "ambiguous", "collision"] as const;
export type Counted = (typeof COUNTED)[number];

export type Coverage = Awaited<ReturnType<typeof coverageOf>>;

/**
 * Rows of the SQL step of each name; the steps say what their columns mean. Throws `config.not_found` for a value that no
 * item in the filter has.
 */
export async function coverageOf(
  connection: DuckDBConnection,
  filter: CoverageFilter,
  rowsPerRange: number = LEDGER_ROWS_PER_RANGE,
) {
  await prepareMappings(connection);
  await narrow(connection, filter);
  if (filter.value !== undefined) await assertKnownValue(connection, filter.value);
  const given = [filter.status ?? null, filter.value ?? null];
  for (const [index, range] of rangesOf(await itemBounds(connection, rowsPerRange)).entries()) {
    const place = { index, params: ends(range) };
    const narrowed = { index, params: [...ends(range), ...given] };
    await keepRange(connection, "audit_field_counts", loadSql("audit_field_counts"), narrowed);
    await keepRange(connection, "audit_value_counts", loadSql("audit_value_counts"), place);
    await keepRange(connection, "audit_unmapped_counts", loadSql("audit_unmapped_counts"), place);
  }
  const isNarrow = filter.status !== undefined || filter.value !== undefined;
  const coverage = await all(connection, loadSql("audit_coverage"), given);
  const total = (kind: Counted) => coverage.reduce((sum, row) => sum + Number(row[kind]), 0);
  return {
    /** Per destination and mapped custom field. */
    coverage,
    /** Values that are not mapped, archived or ambiguous; with a filter by status or value all that it lets through. */
    values: await all(connection, loadSql("audit_values"), [...given, !isNarrow]),
    /** Facts of the definitions, which a filter by status or value says nothing about: then they are left out. */
    definitions: isNarrow ? undefined : await factsOfDefinitions(connection),
    totals: {
      unmapped: total("unmapped"),
      unknown_value: total("unknown_value"),
      ambiguous: total("ambiguous"),
      collision: total("collision"),
    },
    /** Whether values of fields without value mappings are sent as they are. */
    passthrough: await sendsAsIs(connection),
  };
}

async function factsOfDefinitions(connection: DuckDBConnection) {
  return {
    /** Mapping entries that no item uses. */
    unusedEntries: await all(connection, loadSql("audit_unused_entries")),
    /** Fields with values that no destination maps. */
    unmappedFields: await all(connection, loadSql("audit_unmapped_fields")),
    /** External values that several internal values give. */
    manyToOne: await all(connection, loadSql("audit_many_to_one")),
    /** External names that several fields have. */
    collisions: await all(connection, loadSql("audit_collisions")),
  };
}

/** A list of texts that is bound as the text of a JSON array: an empty list has no type of its own. */
const LISTED = "(SELECT unnest(from_json($1::JSON, '[\"VARCHAR\"]')))";

const DESTINATIONS = `
  SELECT DISTINCT destination_id FROM mapping_targets
  WHERE $1::VARCHAR IS NULL OR destination_id IN ${LISTED}`;

const FIELDS = `
  SELECT custom_field_id
  FROM (
    SELECT custom_field_id FROM custom_fields UNION SELECT custom_field_id FROM custom_field_mappings
    UNION SELECT custom_field_id FROM content_custom_field_values
  )
  WHERE $1::VARCHAR IS NULL OR custom_field_id IN ${LISTED}`;

const LEFT_OUT = `
  SELECT content_id FROM content
  WHERE $1::VARCHAR IS NOT NULL AND NOT coalesce(content_type_id IN ${LISTED}, false)`;

/** The filter as tables that the steps join. */
async function narrow(connection: DuckDBConnection, filter: CoverageFilter): Promise<void> {
  for (const [name, sql, ids] of [
    ["audit_destinations", DESTINATIONS, filter.destinationIds],
    ["audit_fields", FIELDS, filter.fieldIds],
    ["audit_left_out", LEFT_OUT, filter.contentTypeIds],
  ] as const) {
    await keep(connection, name, sql, [ids === undefined ? null : JSON.stringify(ids)]);
  }
}

const USED = `
  SELECT count(*) FROM (
    SELECT 1 FROM content_mapped_values WHERE value_id = $1 OR value = $1 OR external_value = $1 LIMIT 1)`;

const KNOWN_VALUES = `
  SELECT name
  FROM (
    SELECT unnest([value_id, value, display]) AS name FROM custom_field_select_values
    UNION SELECT unnest([value_id, external_value]) FROM custom_field_mapping_values
  )
  WHERE name IS NOT NULL ORDER BY name`;

async function assertKnownValue(connection: DuckDBConnection, value: string): Promise<void> {
  if ((await scalar(connection, USED, [value])) > 0) return;
  const names = (await all(connection, KNOWN_VALUES)).map(({ name }) => String(name));
  throw notFound(
    names.includes(value)
      ? `No item has the value "${value}", though the definitions of the run know it.`
      : `There is no value "${value}" in the run.${suggestion(value, names, "No value in the run is like it.")}`,
  );
}

const ITEM_BOUNDS = `
  WITH sizes AS (
    SELECT
      (SELECT count(*) FROM content) AS items,
      greatest((SELECT count(*) FROM content_mapped_values), (SELECT count(*) FROM content_custom_field_values)) AS size
  )
  SELECT content_id
  FROM (SELECT content_id, row_number() OVER (ORDER BY content_id) - 1 AS place FROM content), sizes
  WHERE size > $1 AND place % ceil(items / ceil(size / $1)) = 0
  ORDER BY content_id`;

/**
 * Bounds of ranges of items with about so many rows of `content_mapped_values` each that a step keeps to its memory,
 * by the averages of the run; none where all of it is one range.
 */
export async function itemBounds(connection: DuckDBConnection, rowsPerRange: number): Promise<string[]> {
  const rows = await all(connection, ITEM_BOUNDS, [rowsPerRange]);
  return rows.map((row) => String(row.content_id));
}
