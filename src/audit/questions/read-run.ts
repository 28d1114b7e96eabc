/** What the mapping procedure reads, and what a run published of it, from the tables of a published run. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { col } from "../../common/answer.ts";
import { all } from "../../storage/duckdb.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import {
  DESTINATION,
  type Definitions,
  ENTRY,
  FIELD,
  indexDefinitions,
  MAPPING,
  SELECT_VALUE,
} from "../mapping/definitions.ts";
import { MAPPED_VALUE, type MappedValue, type Members, type Payloads } from "../mapping/mapped-value.ts";
import { ITEM_VALUE, type Item } from "../mapping/procedure.ts";

const required = { required: true } as const;
const ENTRY_OF_MAPPING = { ...ENTRY, mappingId: col.text(required) } as const;
const MAPPING_OF_FIELD = { ...MAPPING, customFieldId: col.text(required) } as const;
const VALUE_OF_FIELD = { ...SELECT_VALUE, customFieldId: col.text(required) } as const;

const ENTRIES = "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id";
const MAPPINGS = "FROM custom_field_mappings ORDER BY ordinal, mapping_id";
const SELECT_VALUES = "FROM custom_field_select_values ORDER BY ordinal, value_id";

/** Definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<Definitions> {
  const entryRows = await rowsBy(connection, ENTRY_OF_MAPPING, ENTRIES);
  const entries = Map.groupBy(entryRows, ({ mappingId }) => mappingId);
  const mappingRows = await rowsBy(connection, MAPPING_OF_FIELD, MAPPINGS);
  const mappings = Map.groupBy(mappingRows, ({ customFieldId }) => customFieldId);
  const valueRows = await rowsBy(connection, VALUE_OF_FIELD, SELECT_VALUES);
  const selectValues = Map.groupBy(valueRows, ({ customFieldId }) => customFieldId);
  const fields = await rowsBy(
    connection,
    FIELD,
    `SELECT custom_field_id, name, field_type FROM custom_fields
     UNION ALL BY NAME
     SELECT DISTINCT custom_field_id FROM custom_field_mappings ANTI JOIN custom_fields USING (custom_field_id)`,
  );
  return indexDefinitions(
    fields.map((field) => ({
      ...field,
      selectValues: selectValues.get(field.customFieldId) ?? [],
      mappings: (mappings.get(field.customFieldId) ?? []).map((mapping) => ({
        ...mapping,
        entries: entries.get(mapping.mappingId) ?? [],
      })),
    })),
    await rowsBy(
      connection,
      DESTINATION,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}

export async function readItemValues(connection: DuckDBConnection, contentId: string): Promise<Item> {
  const values = await rowsBy(
    connection,
    ITEM_VALUE,
    `SELECT custom_field_id, ordinal, mapping_input AS input, mapping_input_is_id AS input_is_id, value AS text
     FROM content_custom_field_values WHERE content_id = $1 ORDER BY custom_field_id, ordinal`,
    [contentId],
  );
  return { contentId, values };
}

/** The published ledger of an item, in the order of its key. */
export function readLedger(connection: DuckDBConnection, contentId: string): Promise<MappedValue[]> {
  return rowsBy(
    connection,
    MAPPED_VALUE,
    "FROM content_mapped_values WHERE content_id = $1 ORDER BY destination_id, custom_field_id, ordinal",
    [contentId],
  );
}

/** Members of the published payloads of an item, by destination ID. */
export async function readPayloads(connection: DuckDBConnection, contentId: string): Promise<Payloads> {
  const rows = await all(
    connection,
    "SELECT destination_id, payload FROM content_external_payloads WHERE content_id = $1 ORDER BY destination_id",
    [contentId],
  );
  return new Map(rows.map((row) => [String(row.destination_id), membersOf(String(row.payload))]));
}

const texts = z.array(z.string());

/** A name may be `__proto__`. */
function membersOf(payload: string): Members {
  const members: object = JSON.parse(payload);
  return new Map(Object.entries(members).map(([name, values]) => [name, texts.parse(values)]));
}

/** Whether the pipeline of the run sends values of fields without value mappings as they are. `prefix`: of its views. */
export async function sendsAsIs(connection: DuckDBConnection, prefix = ""): Promise<boolean> {
  const [run] = await all(connection, `FROM ${quoteIdentifier(`${prefix}run`)}`);
  return run?.passthrough === true;
}
