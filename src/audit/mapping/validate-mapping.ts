/** That an edited mapping names nothing that the run does not know, but for what is new in it. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { listed, suggestion } from "../../common/nearest.ts";
import { scalar } from "../../storage/duckdb.ts";
import { readDefinitions } from "../questions/read-run.ts";
import type { Definitions, FieldDefinition, Mapping } from "./definitions.ts";
import { type EditedMapping, type EntryRow, invalidAt, type MappingRow } from "./mapping-file.ts";

/**
 * Throws `config.invalid` with its place in the file for the ID of a field, destination or value that the run does not
 * know. A mapping of an unknown ID is new where the run has none for its field and destination, and the file no other;
 * an entry of an unknown ID, where the run's mapping has none for its value. Elsewhere a typing error would make a
 * second one, of which nothing is ever sent, and what is meant is told.
 */
export async function assertKnown(
  connection: DuckDBConnection,
  { rows, file }: EditedMapping,
): Promise<void> {
  const definitions = await readDefinitions(connection);
  const known = knownIds(definitions);
  const added = new Map<string, MappingRow>();
  for (const row of rows) {
    const field = known.fields.get(row.customFieldId);
    if (field === undefined) {
      const near = suggestion(row.customFieldId, known.fields.keys(), "The run has no field like it.");
      const problem = `there is no custom field with the ID ${JSON.stringify(row.customFieldId)}.${near}`;
      throw invalidAt(file, row.placeOf("custom_field_id"), problem);
    }
    if (row.destinationId !== null && !known.destinations.has(row.destinationId)) {
      const near = suggestion(
        row.destinationId,
        known.destinations.keys(),
        "The run has no destination like it.",
      );
      const problem = `there is no destination with the ID ${JSON.stringify(row.destinationId)}.${near}`;
      throw invalidAt(file, row.placeOf("destination_id"), problem);
    }
    const mapping = known.mappings.get(row.mappingId);
    if (mapping === undefined) assertNewMapping(row, { field, known, added, file });
    if (row.entry === undefined) continue;
    await assertValue(connection, row, row.entry, { field, known, file });
    if (mapping !== undefined) assertEntry(row, row.entry, { mapping, known, file });
  }
}

interface Known {
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  /** Names by ID. */
  readonly destinations: ReadonlyMap<string, string | null>;
  /** Value IDs that a field offers or that one of its mappings has, by field. */
  readonly values: ReadonlyMap<string, ReadonlySet<string | null>>;
  readonly mappings: ReadonlyMap<string, Mapping>;
  readonly entries: ReadonlySet<string>;
}

function knownIds({ fields, destinations }: Definitions): Known {
  const mappings = fields.flatMap((field) => field.mappings);
  return {
    fields: new Map(fields.map((field) => [field.customFieldId, field])),
    destinations: new Map(
      destinations.map(({ destinationId, identification }) => [destinationId, identification]),
    ),
    values: new Map(
      fields.map(({ customFieldId, selectValues, mappings }) => {
        const entries = mappings.flatMap((mapping) => mapping.entries.map(({ valueId }) => valueId));
        return [customFieldId, new Set([...selectValues.map(({ valueId }) => valueId), ...entries])];
      }),
    ),
    mappings: new Map(mappings.map((mapping) => [mapping.mappingId, mapping])),
    entries: new Set(
      mappings.flatMap((mapping) => mapping.entries.map(({ mappingValueId }) => mappingValueId)),
    ),
  };
}

interface NewMappingContext {
  readonly field: FieldDefinition;
  readonly known: Known;
  /** First rows of the new mappings so far, by field and destination. */
  readonly added: Map<string, MappingRow>;
  readonly file: string;
}

function assertNewMapping(row: MappingRow, { field, known, added, file }: NewMappingContext): void {
  const { mappingId, customFieldId, destinationId } = row;
  const place = row.placeOf("mapping_id");
  const start = `the run has no mapping ${JSON.stringify(mappingId)}`;
  const of = `of ${field.name ?? customFieldId} for ${destinationName(known, destinationId)}`;
  const there = field.mappings.filter((mapping) => mapping.destinationId === destinationId);
  if (there.length > 0) {
    const ids = listed(
      there.map((mapping) => JSON.stringify(mapping.mappingId)),
      "and",
    );
    throw invalidAt(
      file,
      place,
      `${start}; that ${of} is ${ids}. A mapping is new only where the run has none for the field and destination.`,
    );
  }
  const key = JSON.stringify([customFieldId, destinationId]);
  const first = added.get(key) ?? row;
  added.set(key, first);
  if (first.mappingId === mappingId) return;
  throw invalidAt(
    file,
    place,
    `${start}; the new one ${of} is ${JSON.stringify(first.mappingId)} in line ${first.placeOf("mapping_id").line}. Give all of its rows one ID.`,
  );
}

function destinationName({ destinations }: Known, destinationId: string | null): string {
  return destinationId === null ? "no destination" : (destinations.get(destinationId) ?? destinationId);
}

function assertEntry(
  row: MappingRow,
  { id, valueId }: EntryRow,
  { mapping, known, file }: { readonly mapping: Mapping; readonly known: Known; readonly file: string },
): void {
  if (id === null || known.entries.has(id)) return;
  const there = mapping.entries.filter((entry) => entry.valueId === valueId);
  if (there.length === 0) return;
  const ids = listed(
    there.map((entry) => JSON.stringify(entry.mappingValueId)),
    "and",
  );
  throw invalidAt(
    file,
    row.placeOf("mapping_value_id"),
    `the run has no entry ${JSON.stringify(id)}; that of this value in the mapping ${mapping.mappingId} is ${ids}. Leave the ID of an added entry empty.`,
  );
}

async function assertValue(
  connection: DuckDBConnection,
  row: MappingRow,
  { valueId }: EntryRow,
  { field, known, file }: { readonly field: FieldDefinition; readonly known: Known; readonly file: string },
): Promise<void> {
  const ids = known.values.get(field.customFieldId);
  if (valueId === null || ids?.has(valueId) === true) return;
  if (await isUsed(connection, field.customFieldId, valueId)) return;
  throw invalidAt(file, row.placeOf("value_id"), unknownValue(field, valueId, ids));
}

/** A value that the field does not offer any more can still be in items, and an entry for it counts. */
async function isUsed(
  connection: DuckDBConnection,
  customFieldId: string,
  valueId: string,
): Promise<boolean> {
  const found = await scalar(
    connection,
    `SELECT count(*) FROM (SELECT 1 FROM content_mapped_values WHERE custom_field_id = $1 AND value_id = $2 LIMIT 1)`,
    [customFieldId, valueId],
  );
  return found > 0;
}

function unknownValue(
  field: FieldDefinition,
  valueId: string,
  ids: ReadonlySet<string | null> = new Set(),
): string {
  const name = field.name ?? field.customFieldId;
  const start = `the field ${name} has no value with the ID ${JSON.stringify(valueId)}.`;
  const meant = field.selectValues.find(({ value, display }) => value === valueId || display === valueId);
  if (meant !== undefined) return `${start} That is the text of a value; its ID is "${meant.valueId}".`;
  const known = [...ids].filter((id) => id !== null);
  return `${start}${suggestion(valueId, known, 'No ID is like it; "audit --export-mapping" and custom_field_select_values show them.')}`;
}
