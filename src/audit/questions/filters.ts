/** What of a run an audit looks at. Names and IDs are taken alike; one that does not exist is told with the nearest. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../../common/errors.ts";
import { suggestion } from "../../common/nearest.ts";
import { all } from "../../storage/duckdb.ts";

/** IDs to keep to; undefined: all. */
export interface Scope {
  readonly destinationIds: readonly string[] | undefined;
  readonly fieldIds: readonly string[] | undefined;
  readonly contentTypeIds: readonly string[] | undefined;
}

export interface NamedScope {
  readonly destination: string | undefined;
  readonly field: string | undefined;
  readonly contentType: string | undefined;
}

/** Throws `config.not_found` for a name that nothing in the run has. */
export async function resolveScope(connection: DuckDBConnection, named: NamedScope): Promise<Scope> {
  const { destination, field, contentType } = named;
  return {
    destinationIds: destination === undefined ? undefined : await destinationIds(connection, destination),
    fieldIds: field === undefined ? undefined : await fieldIds(connection, field),
    contentTypeIds: contentType === undefined ? undefined : await contentTypeIds(connection, contentType),
  };
}

/** Destinations of this name, or the one of this ID. */
export function destinationIds(connection: DuckDBConnection, wanted: string): Promise<string[]> {
  return idsOf(
    connection,
    "destination",
    wanted,
    "SELECT destination_id AS id, identification AS name FROM destinations",
  );
}

/** Custom fields of this name, or the one of this ID; several fields may share a name. */
export function fieldIds(connection: DuckDBConnection, wanted: string): Promise<string[]> {
  return idsOf(
    connection,
    "custom field",
    wanted,
    "SELECT custom_field_id AS id, name FROM custom_fields UNION SELECT custom_field_id, NULL FROM custom_field_mappings",
  );
}

function contentTypeIds(connection: DuckDBConnection, wanted: string): Promise<string[]> {
  return idsOf(
    connection,
    "content type",
    wanted,
    "SELECT content_type_id AS id, unnest([display_name, field_name]) AS name FROM content_types",
  );
}

/** IDs of the things of this name, or the one of this ID; `things` is a SELECT of `id` and `name`. */
export async function idsOf(
  connection: DuckDBConnection,
  what: string,
  wanted: string,
  things: string,
): Promise<string[]> {
  const rows = await all(connection, `SELECT DISTINCT id, name FROM (${things}) ORDER BY ALL`);
  return matching(
    rows.map(({ id, name }) => ({ id: String(id), name: name === null ? null : String(name) })),
    what,
    wanted,
  );
}

/** IDs of the things of this name, or the one of this ID. Throws `config.not_found` with the nearest. */
export function matching(
  things: readonly { readonly id: string; readonly name: string | null }[],
  what: string,
  wanted: string,
): string[] {
  const found = things.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length > 0) return [...new Set(found.map(({ id }) => id))];
  const names = things.flatMap(({ id, name }) => (name === null ? [id] : [name, id]));
  const known = things.length === 0 ? "The run has none." : "No name in the run is like it.";
  throw new WarehouseError(
    "config.not_found",
    `There is no ${what} "${wanted}" in the run.${suggestion(wanted, names, known)}`,
  );
}
