/** Resolves names of destinations, custom fields and content types to IDs. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../common/answer.ts";
import { noAnswer, WarehouseError } from "../common/errors.ts";
import { joinFirst, nearestSentence } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { readRows } from "../storage/typed-rows.ts";

/** IDs to keep to; undefined: all. */
export interface AuditScope {
  readonly destinationIds?: readonly string[] | undefined;
  readonly fieldIds?: readonly string[] | undefined;
  readonly contentTypeIds?: readonly string[] | undefined;
}

/** SQL condition that keeps to rows with these IDs. */
export function isAmong(column: string, ids: readonly string[] | undefined): string {
  if (ids === undefined) return "true";
  return `list_contains([${ids.map(quoteLiteral).join(", ")}]::VARCHAR[], ${column})`;
}

/** SQL condition on rows of values. `content`: table of their items. */
export function scopeCondition(
  { destinationIds, fieldIds, contentTypeIds }: AuditScope,
  content = "content",
): string {
  const items = `SELECT content_id FROM ${content} WHERE ${isAmong("content_type_id", contentTypeIds)}`;
  const ofTypes = contentTypeIds === undefined ? "true" : `content_id IN (${items})`;
  return `${isAmong("destination_id", destinationIds)} AND ${isAmong("custom_field_id", fieldIds)} AND ${ofTypes}`;
}

export function isSelected(ids: readonly string[] | undefined, id: string): boolean {
  return ids?.includes(id) ?? true;
}

/** Names or IDs of a destination and a custom field to keep to. */
export interface ScopeNames {
  readonly destination?: string | undefined;
  readonly field?: string | undefined;
}

/** Several entities may share a name. Throws `answer.nothing` for a name that the run does not have. */
export async function resolveScope(
  connection: DuckDBConnection,
  { destination, field, contentType }: ScopeNames & { readonly contentType?: string | undefined },
): Promise<AuditScope> {
  return {
    destinationIds: await readIds(connection, "destination", destination, DESTINATIONS),
    fieldIds: await readIds(connection, "custom field", field, FIELDS),
    contentTypeIds: await readIds(connection, "content type", contentType, CONTENT_TYPES),
  };
}

const DESTINATIONS = "SELECT destination_id AS id, identification AS name, platform FROM destinations";
const FIELDS =
  "SELECT custom_field_id AS id, name FROM custom_fields UNION SELECT custom_field_id, NULL FROM custom_field_mappings";
const CONTENT_TYPES =
  "SELECT content_type_id AS id, unnest([display_name, field_name]) AS name FROM content_types";

const NAMED = { id: col.text({ required: true }), name: col.text(), platform: col.text() } as const;

/**
 * IDs with this name, or the ID itself. `candidates`: SQL that selects `id` and `name`. Returns undefined if
 * `wanted` is. Throws `answer.nothing` with the nearest names.
 */
export async function readIds(
  connection: DuckDBConnection,
  what: string,
  wanted: string | undefined,
  candidates: string,
): Promise<string[] | undefined> {
  if (wanted === undefined) return undefined;
  const sql = `SELECT DISTINCT id, name, platform FROM (SELECT NULL::VARCHAR AS platform WHERE false UNION ALL BY NAME FROM (${candidates})) ORDER BY ALL`;
  const known = await readRows(connection, NAMED, sql);
  const { ids, nearest } = findNamed(known, wanted);
  if (ids.length > 0) return ids;
  throw noAnswer(`There is no ${what} "${wanted}" in the run.${nearest}`);
}

/**
 * IDs whose ID, name or `name:platform` is `wanted`. `nearest`: a sentence with the nearest names, or the names that
 * exist.
 */
export function findNamed(
  candidates: readonly Readonly<{ id: string; name: string | null; platform?: string | null }>[],
  wanted: string,
) {
  const found = candidates.filter(({ id, name, platform = null }) => {
    const label = name === null || platform === null ? null : `${name}:${platform}`;
    return [id, name, label].includes(wanted);
  });
  const names = candidates.flatMap(({ id, name }) => (name === null ? [id] : [name, id]));
  const known = [...new Set(candidates.map(({ id, name }) => JSON.stringify(printable(name ?? id))))];
  const all = known.length === 0 ? "The run has none." : `The run has ${joinFirst(known, 10)}.`;
  return {
    ids: [...new Set(found.map(({ id }) => id))],
    nearest: found.length > 0 ? "" : nearestSentence(wanted, names, all),
  };
}

export function notFound(message: string): WarehouseError {
  return new WarehouseError("config.not_found", message);
}
