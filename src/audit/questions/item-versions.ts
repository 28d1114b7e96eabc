/** Since when the mapped values of many items are as they are, and what they were before, from the history of a run. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type RowOf } from "../../common/answer.ts";
import { historySql, intervalsSql } from "../../load/macros.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { changeParts } from "../diff/change-words.ts";
import { loadSql } from "../load-sql.ts";
import { keep } from "../rows.ts";

const required = { required: true } as const;

const BEFORE = {
  name_before: col.text(),
  value_id_before: col.text(),
  value_before: col.text(),
  external_value_before: col.text(),
  /** Null: there was no version before. */
  status_before: col.text(),
} as const;

const VERSION = {
  /** Number of the run that it is from, and the day of that, in UTC. */
  sequence: col.count(required),
  day: col.text(required),
  /** Whether the history begins with that run: then nothing is known of the time before. */
  begins: col.flag(required),
  causes: col.text(required),
  ...BEFORE,
  name_after: col.text(),
  value_id_after: col.text(),
  value_after: col.text(),
  external_value_after: col.text(),
  status_after: col.text(),
} as const;
export type VersionRow = RowOf<typeof VERSION>;

/**
 * Makes the table report_versions of the items of report_chosen. `sequence`: number of the run; undefined: it has no
 * history. Texts are cut after `textLimit` characters.
 */
export async function keepVersions(
  connection: DuckDBConnection,
  sequence: number | undefined,
  textLimit: number,
): Promise<void> {
  if (sequence === undefined) return keep(connection, "report_versions", NO_VERSIONS);
  const ofItems = (table: string) => `FROM ${table} SEMI JOIN report_chosen USING (content_id)`;
  await keep(connection, "item_values", ofItems("mapped_value_history"));
  await keep(connection, "item_orders", ofItems("mapped_value_order_history"));
  const item_rows = fillMarks(loadSql("audit_item_rows"), { intervals: intervalsSql() });
  const sql = fillMarks(historySql("report_versions", loadSql), { item_rows });
  await keep(connection, "report_versions", sql, [sequence, textLimit]);
}

const NO_SIDE =
  "NULL::STRUCT(name VARCHAR, value_id VARCHAR, value VARCHAR, external_value VARCHAR, status VARCHAR)";
const NO_VERSIONS = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::INTEGER AS ordinal, NULL::BIGINT AS sequence, NULL::VARCHAR AS day, NULL::BOOLEAN AS begins,
    NULL::VARCHAR AS causes, ${NO_SIDE} AS was, ${NO_SIDE} AS is_now, NULL::BIGINT AS version
  LIMIT 0`;

/** The different ones; the place of each is its number. */
export function readVersions(connection: DuckDBConnection): Promise<VersionRow[]> {
  return rowsBy(connection, VERSION, loadSql("report_version_rows"));
}

/**
 * What a version was before, as a change is told. `before`: null, where there was none; empty, where it sent the same.
 * `value`: where another stood in its place.
 */
export function beforeOf(row: VersionRow): Readonly<Record<"value" | "before", string | null>> {
  if (row.status_before === null) return { value: null, before: null };
  const { before, after } = changeParts({ ...UNTOLD, ...row });
  const isOther = row.value_id_before !== row.value_id_after || row.value_before !== row.value_after;
  return {
    value: isOther ? (row.value_before ?? row.value_id_before) : null,
    before: before === after && !isOther ? "" : before,
  };
}

const LOST = {
  contentId: col.text(required),
  destinationId: col.text(required),
  customFieldId: col.text(required),
  ...BEFORE,
} as const;
export type LostValue = RowOf<typeof LOST>;

/** Values that items of report_chosen sent in the run before and no longer give; reads the tables of the comparison. */
export function readLostValues(connection: DuckDBConnection, textLimit: number): Promise<LostValue[]> {
  return rowsBy(connection, LOST, loadSql("report_lost"), [textLimit]);
}

/** The value, and what was sent of it. */
export function lostParts(was: RowOf<typeof BEFORE>): Readonly<Record<"value" | "before", string | null>> {
  const { before } = changeParts({ ...UNTOLD, ...NOTHING_AFTER, ...was });
  return { value: was.value_before ?? was.value_id_before, before };
}

const NOTHING_AFTER = {
  name_after: null,
  value_id_after: null,
  value_after: null,
  external_value_after: null,
  status_after: null,
} as const;

/** Of a change, what a version says nothing of. */
const UNTOLD = {
  change: "changed",
  flags_before: "",
  flags_after: "",
  copies_before: null,
  copies_after: null,
  mapping_id_before: null,
  mapping_id_after: null,
  mapping_value_id_before: null,
  mapping_value_id_after: null,
  definitions_from: null,
} as const;
