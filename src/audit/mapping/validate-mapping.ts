/** Checks that the IDs of an edited mapping exist in the run, unless they are new. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import { scalar } from "../../storage/duckdb.ts";
import type { FieldDefinition, Mapping } from "./definitions.ts";
import { readDefinitions } from "./definitions.ts";
import type { MappingRow } from "./mapping-file.ts";
import { mappingFileError } from "./mapping-file.ts";

/**
 * Throws `config.invalid`, with the cell's position, for an ID of a field, destination or value that the run
 * does not know. A mapping ID may be new if the run has no mapping for its field and destination, an entry ID if
 * the mapping has no entry for its value. Otherwise the ID is a typing error, and the message names the right
 * one.
 */
export async function assertKnownIds(
  connection: DuckDBConnection,
  rows: readonly MappingRow[],
): Promise<void> {
  const definitions = await readDefinitions(connection);
  const fields = new Map(definitions.fields.map((field) => [field.customFieldId, field]));
  const destinations = new Map(
    definitions.destinations.map(({ destinationId: id, identification }) => [id, identification ?? id]),
  );
  const runMappings = definitions.fields.flatMap((field) => field.mappings);
  const mappings = new Map(runMappings.map((mapping) => [mapping.mappingId, mapping]));
  const entryIds = new Set(
    runMappings.flatMap(({ entries }) => entries.map(({ mappingValueId }) => mappingValueId)),
  );
  const valueIds = new Map(definitions.fields.map((field) => [field, valueIdsOf(field)]));
  /** First row of each new mapping, by field and destination. */
  const added = new Map<string, MappingRow>();
  for (const row of rows) {
    const { customFieldId, destinationId, entry } = row;
    const field = fields.get(customFieldId);
    if (field === undefined) throw unknownId(row, "custom_field_id", customFieldId, fields.keys());
    if (destinationId !== null && !destinations.has(destinationId)) {
      throw unknownId(row, "destination_id", destinationId, destinations.keys());
    }
    const mapping = mappings.get(row.mappingId);
    if (mapping === undefined) {
      const at = (destinationId !== null && destinations.get(destinationId)) || "no destination";
      assertNewMapping(row, field, at, added);
    }
    const { id = null, valueId = null } = entry ?? {};
    const known = valueIds.get(field) ?? new Set();
    // Items may still have a value that the field no longer offers.
    const isUnknown = valueId !== null && !known.has(valueId);
    if (isUnknown && (await scalar(connection, USES, [customFieldId, valueId])) === 0) {
      throw mappingFileError(row.placeOf("value_id"), unknownValue(field, valueId, known));
    }
    if (mapping !== undefined && id !== null && !entryIds.has(id)) assertNewEntry(row, id, valueId, mapping);
  }
}

/** IDs of values that the field offers or that one of its mappings has. */
function valueIdsOf({ selectValues, mappings }: FieldDefinition): Set<string> {
  const mapped = mappings.flatMap(({ entries }) => entries.flatMap(({ valueId }) => valueId ?? []));
  return new Set([...selectValues.map(({ valueId }) => valueId), ...mapped]);
}

const CALLED = { custom_field_id: "custom field", destination_id: "destination" } as const;

function unknownId(row: MappingRow, column: keyof typeof CALLED, id: string, known: Iterable<string>): Error {
  const what = CALLED[column];
  const near = nearestSentence(id, known, "Nothing in the run is similar.");
  return mappingFileError(
    row.placeOf(column),
    `there is no ${what} with the ID ${JSON.stringify(id)}.${near}`,
  );
}

function assertNewMapping(
  row: MappingRow,
  field: FieldDefinition,
  destination: string,
  added: Map<string, MappingRow>,
): void {
  const { mappingId, customFieldId, destinationId } = row;
  const of = `of ${field.name ?? customFieldId} for ${destination}`;
  const refused = (why: string) =>
    mappingFileError(
      row.placeOf("mapping_id"),
      `the run has no mapping ${JSON.stringify(mappingId)}; ${why}`,
    );
  const there = field.mappings.filter((mapping) => mapping.destinationId === destinationId);
  if (there.length > 0) {
    const ids = quotedList(there.map((mapping) => mapping.mappingId));
    throw refused(
      `that ${of} is ${ids}. A mapping is new only where the run has none for the field and destination.`,
    );
  }
  const key = JSON.stringify([customFieldId, destinationId]);
  const first = added.get(key) ?? row;
  added.set(key, first);
  if (first.mappingId === mappingId) return;
  const { line } = first.placeOf("mapping_id");
  throw refused(
    `the new one ${of} is ${JSON.stringify(first.mappingId)} in line ${line}. Give all of its rows one ID.`,
  );
}

function assertNewEntry(row: MappingRow, id: string, valueId: string | null, mapping: Mapping): void {
  const there = mapping.entries.filter((entry) => entry.valueId === valueId);
  if (there.length === 0) return;
  const ids = quotedList(there.map((entry) => entry.mappingValueId));
  throw mappingFileError(
    row.placeOf("mapping_value_id"),
    `the run has no entry ${JSON.stringify(id)}; that of this value in the mapping ${mapping.mappingId} is ${ids}. Leave the ID of an added entry empty.`,
  );
}

function quotedList(ids: readonly string[]): string {
  const quoted = ids.map((id) => JSON.stringify(id));
  return joinWords(quoted, "and");
}

const USES = `
  SELECT count(*)
  FROM (SELECT 1 FROM content_mapped_values WHERE custom_field_id = $1 AND value_id = $2 LIMIT 1)`;

function unknownValue(field: FieldDefinition, valueId: string, known: ReadonlySet<string>): string {
  const name = field.name ?? field.customFieldId;
  const start = `the field ${name} has no value with the ID ${JSON.stringify(valueId)}.`;
  const meant = field.selectValues.find(({ value, display }) => value === valueId || display === valueId);
  if (meant !== undefined) return `${start} That is the text of a value; its ID is "${meant.valueId}".`;
  return `${start}${nearestSentence(valueId, known, 'No ID is similar; "audit --export-mapping" and custom_field_select_values show them.')}`;
}
