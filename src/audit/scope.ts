/** What of a run an audit looks at. Names and IDs are taken alike; one that does not exist is told with the nearest. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import { joinWords, nearestSentence } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import { readRows } from "../storage/typed-rows.ts";

type Some<Name extends string, Value> = Readonly<Partial<Record<Name, Value | undefined>>>;

/** IDs to keep to; undefined: all. */
export type AuditScope = Some<"destinationIds" | "fieldIds" | "contentTypeIds", readonly string[]>;

/** A destination and a custom field to keep to, each by name or ID. */
export type ScopeNames = Some<"destination" | "field", string>;

/** A name may be that of several. Throws `config.not_found` for a name that nothing in the run has. */
export async function resolveScope(
  connection: DuckDBConnection,
  { destination, field, contentType }: Some<"destination" | "field" | "contentType", string>,
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

/** Something that people name by its ID or its name, and a destination by `name:platform` too. */
export interface NameCandidate {
  readonly id: string;
  readonly name: string | null;
  /** Of a destination, where it is known. */
  readonly platform?: string | null;
}

const NAMED = { id: col.text({ required: true }), name: col.text(), platform: col.text() } as const;

/**
 * IDs of those of this name, or the one of this ID; `candidates` is a SELECT of `id` and `name`. Undefined where none is
 * asked for.
 */
export async function readIds(
  connection: DuckDBConnection,
  what: string,
  wanted: string | undefined,
  candidates: string,
): Promise<string[] | undefined> {
  if (wanted === undefined) return undefined;
  const sql = `SELECT DISTINCT id, name, platform FROM (SELECT NULL::VARCHAR AS platform WHERE false UNION ALL BY NAME FROM (${candidates})) ORDER BY ALL`;
  return requireIds(await readRows(connection, NAMED, sql), what, wanted);
}

/** Throws `config.not_found` with the nearest. */
export function requireIds(candidates: readonly NameCandidate[], what: string, wanted: string): string[] {
  const found = findIds(candidates, wanted);
  if (found.length > 0) return found;
  throw notFound(`There is no ${what} "${wanted}" in the run.${nearestNames(candidates, wanted)}`);
}

/** IDs of those that are called so: an ID, a name, or `name:platform` of a destination. */
export function findIds(candidates: readonly NameCandidate[], wanted: string): string[] {
  const found = candidates.filter(({ id, name, platform = null }) => {
    const label = name === null || platform === null ? null : `${name}:${platform}`;
    return [id, name, label].includes(wanted);
  });
  return [...new Set(found.map(({ id }) => id))];
}

/** A sentence with what is called almost so, else with what there is. */
export function nearestNames(candidates: readonly NameCandidate[], wanted: string): string {
  const names = candidates.flatMap(({ id, name }) => (name === null ? [id] : [name, id]));
  return nearestSentence(wanted, names, existingNames(candidates));
}

/** Names that a sentence lists. */
const NAMES_LISTED = 10;

function existingNames(candidates: readonly NameCandidate[]): string {
  if (candidates.length === 0) return "The run has none.";
  const names = [...new Set(candidates.map(({ id, name }) => JSON.stringify(printable(name ?? id))))];
  const more = names.length - NAMES_LISTED;
  const shown = more > 0 ? [...names.slice(0, NAMES_LISTED), `${more} more`] : names;
  return names.length === 1 ? `The run has ${shown[0]} alone.` : `The run has ${joinWords(shown, "and")}.`;
}

export function notFound(message: string): WarehouseError {
  return new WarehouseError("config.not_found", message);
}
