/** x */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapping/mapped-value.ts";

const required = { required: true } as const;

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

