/** How far the mappings of a run cover what its items have. Set-based, a range of items at a time. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../../common/errors.ts";
import { suggestion } from "../../common/nearest.ts";
import { LEDGER_ROWS_PER_RANGE, prepareMappings } from "../../load/steps.ts";
import { all, execute, type Row, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";
import type { Status } from "../mapping/mapped-value.ts";
import type { AskedRun } from "../open-run.ts";
import type { Scope } from "./filters.ts";

export interface CoverageFilter extends Scope {
  readonly status: Status | undefined;
  /** Value ID, text of the value, or external value. */
  readonly value: string | undefined;
}

/** What is counted in uses: one use is one row of `content_mapped_values`. */
export const COUNTED = ["unmapped", "unknown_value", "ambiguous", "collision"] as const;
export type Counted = (typeof COUNTED)[number];

/** Rows of the SQL step of each name; the steps say what their columns mean. */
export interface Coverage {
  /** Per destination and mapped custom field. */
  readonly coverage: readonly Row[];
  /** Values that are not mapped, archived or ambiguous; with a filter by status or value all that it lets through. */
  readonly values: readonly Row[];
  /**
   * Facts of the definitions, which a filter by status or value says nothing about: then they are left out.
   * Mapping entries that no item uses; fields with values that no destination maps; external values that several
   * internal values give; external names that several fields have.
   */
  readonly definitions: Definitions | undefined;
  readonly totals: Readonly<Record<Counted, number>>;
}

export interface Definitions {
  readonly unusedEntries: readonly Row[];
  readonly unmappedFields: readonly Row[];
  readonly manyToOne: readonly Row[];
  readonly collisions: readonly Row[];
}

/** Throws `config.not_found` for a value that no item in the filter has. */
export async function coverageOf(
  opened: AskedRun,
  filter: CoverageFilter,
  rowsPerRange: number = LEDGER_ROWS_PER_RANGE,
): Promise<Coverage> {
  const { connection } = opened;
  await prepareMappings(connection);
  await narrow(connection, filter);
  if (filter.value !== undefined) await assertKnownValue(connection, filter.value);
  await count(opened, filter, rowsPerRange);
  const given = [filter.status ?? null, filter.value ?? null];
  const isNarrow = filter.status !== undefined || filter.value !== undefined;
  return {
    coverage: await all(connection, loadSql("audit_coverage"), given),
    values: await all(connection, loadSql("audit_values"), [...given, !isNarrow]),
    definitions: isNarrow ? undefined : await definitionsOf(connection),
    totals: await totalsOf(connection, given),
  };
}

async function definitionsOf(connection: DuckDBConnection): Promise<Definitions> {
  return {
    unusedEntries: await all(connection, loadSql("audit_unused_entries")),
    unmappedFields: await all(connection, loadSql("audit_unmapped_fields")),
    manyToOne: await all(connection, loadSql("audit_many_to_one")),
    collisions: await all(connection, loadSql("audit_collisions")),
  };
}

/** The filter as tables that the steps join. */
async function narrow(connection: DuckDBConnection, filter: CoverageFilter): Promise<void> {
  const { destinationIds, fieldIds, contentTypeIds } = filter;
  await idTable(connection, "audit_destinations", "destination_id", destinationIds, "mapping_targets");
  await idTable(connection, "audit_fields", "custom_field_id", fieldIds, FIELDS);
  await execute(
    connection,
    `CREATE OR REPLACE TEMP TABLE audit_left_out AS SELECT content_id FROM content
     WHERE $1::VARCHAR IS NOT NULL AND NOT coalesce(content_type_id IN (SELECT unnest(${LIST})), false)`,
    [contentTypeIds === undefined ? null : JSON.stringify(contentTypeIds)],
  );
}

/** A list of texts that is bound as the text of a JSON array: an empty list has no type of its own. */
const LIST = "from_json($1::JSON, '[\"VARCHAR\"]')";

const FIELDS =
  "(SELECT custom_field_id FROM custom_fields UNION SELECT custom_field_id FROM custom_field_mappings " +
  "UNION SELECT custom_field_id FROM content_custom_field_values)";

async function idTable(
  connection: DuckDBConnection,
  table: string,
  column: string,
  ids: readonly string[] | undefined,
  everything: string,
): Promise<void> {
  const rows =
    ids === undefined
      ? `SELECT DISTINCT ${column} FROM ${everything}`
      : `SELECT DISTINCT unnest(${LIST}) AS ${column}`;
  const params = ids === undefined ? [] : [JSON.stringify(ids)];
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(table)} AS ${rows}`, params);
}

const KNOWN_VALUES = `
  SELECT unnest([value_id, value, display]) AS name FROM custom_field_select_values
  UNION SELECT unnest([value_id, external_value]) FROM custom_field_mapping_values`;

async function assertKnownValue(connection: DuckDBConnection, value: string): Promise<void> {
  const used = await scalar(
    connection,
    `SELECT count(*) FROM (
       SELECT 1 FROM content_mapped_values WHERE value_id = $1 OR value = $1 OR external_value = $1 LIMIT 1)`,
    [value],
  );
  if (used > 0) return;
  const names = await all(
    connection,
    `SELECT name FROM (${KNOWN_VALUES}) WHERE name IS NOT NULL ORDER BY name`,
  );
  const isOffered = names.some(({ name }) => name === value);
  const said = isOffered
    ? `No item has the value "${value}", though the definitions of the run know it.`
    : "";
  throw new WarehouseError(
    "config.not_found",
    isOffered
      ? said
      : `There is no value "${value}" in the run.${suggestion(
          value,
          names.map(({ name }) => String(name)),
          "No value in the run is like it.",
        )}`,
  );
}

const COUNTS = ["audit_field_counts", "audit_value_counts", "audit_unmapped_counts"] as const;

async function count(
  opened: AskedRun,
  { status, value }: CoverageFilter,
  rowsPerRange: number,
): Promise<void> {
  const { connection } = opened;
  const bounds = await itemBounds(opened, rowsPerRange);
  for (const [index, range] of rangesOf(bounds).entries()) {
    for (const step of COUNTS) {
      const into = index === 0 ? "CREATE OR REPLACE TEMP TABLE" : "INSERT INTO";
      const ends = [range.lower ?? null, range.upper ?? null];
      const params = step === "audit_field_counts" ? [...ends, status ?? null, value ?? null] : ends;
      const as = index === 0 ? " AS" : "";
      await execute(connection, `${into} ${quoteIdentifier(step)}${as} ${loadSql(step)}`, params);
    }
  }
}

/**
 * Bounds of ranges of items with about so many rows of `content_mapped_values` each that a step keeps to its memory,
 * by the averages of the run.
 */
export async function itemBounds(
  { connection, manifest }: AskedRun,
  rowsPerRange: number,
): Promise<string[]> {
  const {
    content = 0,
    content_mapped_values: values = 0,
    content_custom_field_values: given = 0,
  } = manifest.rows;
  const ranges = Math.ceil(Math.max(values, given) / rowsPerRange);
  if (ranges < 2 || content < 2) return [];
  const items = Math.ceil(content / ranges);
  const rows = await all(
    connection,
    `SELECT content_id FROM (SELECT content_id, row_number() OVER (ORDER BY content_id) AS place FROM content)
     WHERE (place - 1) % $1::BIGINT = 0 ORDER BY content_id`,
    [items],
  );
  return rows.map((row) => String(row.content_id));
}

async function totalsOf(
  connection: DuckDBConnection,
  params: readonly (string | null)[],
): Promise<Record<Counted, number>> {
  const total = (expression: string) =>
    scalar(
      connection,
      `SELECT coalesce(sum(${expression}), 0)::BIGINT FROM audit_value_counts
       WHERE ($1::VARCHAR IS NULL OR status = $1::VARCHAR)
         AND ($2::VARCHAR IS NULL OR value_id = $2::VARCHAR OR value = $2::VARCHAR OR external_value = $2::VARCHAR)`,
      params,
    );
  return {
    unmapped: await total("CASE status WHEN 'unmapped' THEN uses END"),
    unknown_value: await total("CASE status WHEN 'unknown_value' THEN uses END"),
    ambiguous: await total("ambiguous"),
    collision: await total("collision"),
  };
}
