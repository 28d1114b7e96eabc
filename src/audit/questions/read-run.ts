/** The definitions of a published run, and what it has of one item: values, mapped values and payloads. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { all } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import {
  DESTINATION,
  type Definitions,
  ENTRY,
  FIELD,
  indexDefinitions,
  MAPPING,
  SELECT_VALUE,
} from "../mapping/definitions.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapping/mapped-value.ts";

const required = { required: true } as const;
const ENTRY_OF_MAPPING = { ...ENTRY, mappingId: col.text(required) } as const;
const MAPPING_OF_FIELD = { ...MAPPING, customFieldId: col.text(required) } as const;
const VALUE_OF_FIELD = { ...SELECT_VALUE, customFieldId: col.text(required) } as const;

const ENTRIES = "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id";
const MAPPINGS = "FROM custom_field_mappings ORDER BY ordinal, mapping_id";
const SELECT_VALUES = "FROM custom_field_select_values ORDER BY ordinal, value_id";

/** Definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<Definitions> {
  const entryRows = await readRows(connection, ENTRY_OF_MAPPING, ENTRIES);
  const entries = Map.groupBy(entryRows, ({ mappingId }) => mappingId);
  const mappingRows = await readRows(connection, MAPPING_OF_FIELD, MAPPINGS);
  const mappings = Map.groupBy(mappingRows, ({ customFieldId }) => customFieldId);
  const valueRows = await readRows(connection, VALUE_OF_FIELD, SELECT_VALUES);
  const selectValues = Map.groupBy(valueRows, ({ customFieldId }) => customFieldId);
  const fields = await readRows(
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
    await readRows(
      connection,
      DESTINATION,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}

/** One value of one custom field of an item. */
const ITEM_VALUE = {
  customFieldId: col.text(required),
  /** 0-based position in the source list. */
  ordinal: col.count(required),
  /** The value as `custom_fields` gives it there, as text; NULL where it gives nothing: then nothing is mapped. */
  input: col.text(),
  /** Whether `custom_field_value_ids` has the same string in that place. */
  inputIsId: col.flag(required),
  /** The value's text in the other views. */
  text: col.text(),
} as const;
export type ItemValue = AnswerRow<typeof ITEM_VALUE>;

export function readItemValues(
  connection: DuckDBConnection,
  contentId: string,
): Promise<readonly ItemValue[]> {
  return readRows(
    connection,
    ITEM_VALUE,
    `SELECT custom_field_id, ordinal, mapping_input AS input, mapping_input_is_id AS input_is_id, value AS text
     FROM content_custom_field_values WHERE content_id = $1 ORDER BY custom_field_id, ordinal`,
    [contentId],
  );
}

/** The mapped values of an item, in the order of their key. */
export function readLedger(connection: DuckDBConnection, contentId: string): Promise<MappedValue[]> {
  return readRows(
    connection,
    MAPPED_VALUE,
    "FROM content_mapped_values WHERE content_id = $1 ORDER BY destination_id, custom_field_id, ordinal",
    [contentId],
  );
}

/** External values by external field name, in ascending order of the bytes of the names. */
export type Members = ReadonlyMap<string, readonly string[]>;
/** Members of payloads by destination ID. */
export type Payloads = ReadonlyMap<string, Members>;

export async function readPayloads(connection: DuckDBConnection, contentId: string): Promise<Payloads> {
  const rows = await all(
    connection,
    "SELECT destination_id, payload FROM content_external_payloads WHERE content_id = $1 ORDER BY destination_id",
    [contentId],
  );
  return new Map(rows.map((row) => [String(row.destination_id), membersOf(String(row.payload))]));
}

const texts = z.array(z.string());

/** A name may be `__proto__`, or a number, which JSON.parse puts first. */
function membersOf(payload: string): Members {
  const members: object = JSON.parse(payload);
  return new Map(
    Object.entries(members)
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([name, values]) => [name, texts.parse(values)]),
  );
}

/** Whether the pipeline of the run sends values of fields without value mappings as they are. `prefix`: of its views. */
export async function sendsAsIs(connection: DuckDBConnection, prefix = ""): Promise<boolean> {
  const [run] = await all(connection, `FROM ${quoteIdentifier(`${prefix}run`)}`);
  return run?.passthrough === true;
}
