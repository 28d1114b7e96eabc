import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { MappedValue } from "../../src/audit/mapped-value.ts";
import type { DestinationDefinition, FieldDefinition } from "../../src/audit/mapping/definitions.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { all, execute } from "../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../src/storage/parallel.ts";
import { quoteIdentifier, quoteLiteral } from "../../src/storage/sql-text.ts";
import { content } from "../../src/tables/content.ts";
import {
  contentCustomFieldValues,
  customFieldFiles,
  customFieldSelectValues,
  customFields,
} from "../../src/tables/custom-fields.ts";
import type { Table } from "../../src/tables/declare.ts";
import {
  contentExternalPayloads,
  contentMappedValues,
  customFieldMappings,
  customFieldMappingValues,
  destinations,
} from "../../src/tables/destinations.ts";
import type { Item } from "../audit/mapping/procedure.ts";

const TABLES: readonly Table[] = [
  content,
  customFields,
  customFieldSelectValues,
  contentCustomFieldValues,
  customFieldFiles,
  destinations,
  customFieldMappings,
  customFieldMappingValues,
  contentMappedValues,
  contentExternalPayloads,
];

/** What the mapping steps read, in the terms of the procedure. */
export interface MappingWorld {
  readonly fields: readonly FieldDefinition[];
  readonly destinations: readonly DestinationDefinition[];
  readonly items: readonly Item[];
}

/** A database in memory with the declared tables of custom fields and mappings, all empty. */
export async function mappingDatabase(): Promise<DuckDBConnection> {
  const [connection] = await mappingLanes();
  return connection;
}

/** The same, for work beside each other. */
export async function mappingLanes(): Promise<DatabaseConnections> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await createMappingTables(connection);
  return [connection, await instance.connect()];
}

export async function createMappingTables(connection: DuckDBConnection): Promise<void> {
  for (const table of TABLES) await createTable(connection, table);
}

export async function emptyTables(connection: DuckDBConnection): Promise<void> {
  for (const { name } of TABLES) await execute(connection, `TRUNCATE ${quoteIdentifier(name)}`);
}

/**
 * Writes a world into the tables. Rows go in backwards, so that an order which is not asked for is not the source's.
 * A field without a type has no row in `custom_fields`; one without a type nor a name is known by its mappings alone.
 */
export async function fillTables(connection: DuckDBConnection, world: MappingWorld): Promise<void> {
  const insert = (table: Table, rows: Record<string, unknown>[]): Promise<void> =>
    insertRows(connection, table, rows.reverse());
  await insert(content, world.items.map(contentRow));
  await insert(contentCustomFieldValues, world.items.flatMap(valueRows));
  await insert(customFields, world.fields.filter((field) => field.fieldType !== null).map(fieldRow));
  await insert(customFieldSelectValues, world.fields.flatMap(selectValueRows));
  await insert(destinations, allDestinations(world).map(destinationRow));
  await insert(customFieldMappings, world.fields.flatMap(mappingRows));
  await insert(customFieldMappingValues, world.fields.flatMap(entryRows));
}

const contentRow = ({ contentId }: Item) => ({ content_id: contentId, title: `Title of ${contentId}` });

const valueRows = ({ contentId, values }: Item) =>
  values.map((value) => ({
    content_id: contentId,
    custom_field_id: value.customFieldId,
    ordinal: value.ordinal,
    value: value.text,
    mapping_input: value.input,
    mapping_input_is_id: value.inputIsId ? true : value.ordinal % 2 === 0 ? false : null,
  }));

const fieldRow = (field: FieldDefinition) => ({
  custom_field_id: field.customFieldId,
  name: field.name,
  field_type: field.fieldType,
  from_lookup: true,
});

const selectValueRows = (field: FieldDefinition) =>
  field.selectValues.map(({ valueId, display, value, archived }, ordinal) => ({
    custom_field_id: field.customFieldId,
    value_id: valueId,
    ordinal,
    display,
    value,
    archived: archived ? true : ordinal % 2 === 0 ? false : null,
  }));

/** Those that only mappings name have an ID alone. */
function allDestinations({ fields, destinations: lookedUp }: MappingWorld): DestinationDefinition[] {
  const known = new Set(lookedUp.map(({ destinationId }) => destinationId));
  const mapped = new Set(
    fields.flatMap(({ mappings }) => mappings.flatMap((each) => each.destinationId ?? [])),
  );
  const nameless = [...mapped.difference(known)].map((destinationId) => {
    return { destinationId, identification: null, supportsMappings: null };
  });
  return [...lookedUp, ...nameless];
}

const destinationRow = (destination: DestinationDefinition) => ({
  destination_id: destination.destinationId,
  identification: destination.identification,
  platform: "External",
  supports_custom_field_mappings: destination.supportsMappings,
  receives: destination.supportsMappings !== false,
});

const mappingRows = (field: FieldDefinition) =>
  field.mappings.map((mapping, ordinal) => ({
    mapping_id: mapping.mappingId,
    custom_field_id: field.customFieldId,
    destination_id: mapping.destinationId,
    ordinal,
    external_field_name: mapping.externalFieldName,
  }));

const entryRows = (field: FieldDefinition) =>
  field.mappings.flatMap((mapping) =>
    mapping.entries.map((entry, ordinal) => ({
      mapping_value_id: entry.mappingValueId,
      mapping_id: mapping.mappingId,
      ordinal,
      value_id: entry.valueId,
      external_value: entry.externalValue,
    })),
  );

const JSON_SHAPES = { text: "VARCHAR", boolean: "BOOLEAN", integer: "INTEGER" };

async function insertRows(
  connection: DuckDBConnection,
  table: Table,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  const shape: Record<string, string> = {};
  for (const { name, type } of table.columns) {
    if (type === "text" || type === "boolean" || type === "integer") shape[name] = JSON_SHAPES[type];
  }
  const parsed = `from_json(CAST($1 AS JSON), ${quoteLiteral(JSON.stringify([shape]))})`;
  const sql = `INSERT INTO ${quoteIdentifier(table.name)} BY NAME SELECT unnest(${parsed}, max_depth := 2)`;
  await execute(connection, sql, [JSON.stringify(rows)]);
}

/** The mapped values as the steps wrote them, in the order in which the rows were inserted. */
export async function readMappedValueRows(connection: DuckDBConnection): Promise<MappedValue[]> {
  const rows = await all(connection, "SELECT * EXCLUDE (receives) FROM content_mapped_values");
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const named = rows.map((row) => Object.entries(row).map(([name, cell]) => [camel(name), cell]));
  return named.map((cells) => Object.fromEntries(cells) as MappedValue);
}

export interface PayloadRow {
  readonly contentId: string;
  readonly destinationId: string;
  /** JSON text, its escapes in lower case as JSON.stringify writes them. */
  readonly payload: string;
  readonly receives: boolean;
}

export async function readPayloads(connection: DuckDBConnection): Promise<PayloadRow[]> {
  const rows = await all(connection, "SELECT * FROM content_external_payloads");
  return rows.map((row) => ({
    contentId: String(row.content_id),
    destinationId: String(row.destination_id),
    payload: String(row.payload).replace(/\\(u[0-9A-F]{4}|.)/g, (part) =>
      part.startsWith("\\u") ? part.toLowerCase() : part,
    ),
    receives: row.receives === true,
  }));
}
