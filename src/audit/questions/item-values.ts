import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapped-value.ts";
import { type ReasonFinder, readDefinitionChanges } from "../mapping/definition-changes.ts";
import { loadSql } from "../queries.ts";

const required = { required: true } as const;

/** One value of a custom field of an item. */
const ITEM_VALUE = {
  customFieldId: col.text(required),
  /** 0-based position in the source list. */
  ordinal: col.count(required),
  /** Text of the value in `custom_fields`; NULL if it is null, and then nothing is mapped. */
  input: col.text(),
  /** Whether `custom_field_value_ids` has the same text at this position. */
  inputIsId: col.flag(required),
  /** Text of the value in the other views. */
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

/** Mapped values of an item, in the order of their key. */
export function readMappedValues(connection: DuckDBConnection, contentId: string): Promise<MappedValue[]> {
  return readRows(
    connection,
    MAPPED_VALUE,
    "FROM content_mapped_values WHERE content_id = $1 ORDER BY destination_id, custom_field_id, ordinal",
    [contentId],
  );
}

/** External values by external field name, ascending by the bytes of the names. */
export type PayloadMembers = ReadonlyMap<string, readonly string[]>;
/** By destination ID. */
export type Payloads = ReadonlyMap<string, PayloadMembers>;

export async function readPayloads(connection: DuckDBConnection, contentId: string): Promise<Payloads> {
  const rows = await all(
    connection,
    "SELECT destination_id, payload FROM content_external_payloads WHERE content_id = $1 ORDER BY destination_id",
    [contentId],
  );
  return new Map(rows.map((row) => [String(row.destination_id), membersOf(String(row.payload))]));
}

const texts = z.array(z.string());

/** Names may be `__proto__` or a number, so the order of JSON.parse does not count. */
function membersOf(payload: string): PayloadMembers {
  const members: object = JSON.parse(payload);
  return new Map(
    Object.entries(members)
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([name, values]) => [name, texts.parse(values)]),
  );
}

const VERSION = {
  destinationId: MAPPED_VALUE.destinationId,
  customFieldId: MAPPED_VALUE.customFieldId,
  valueId: MAPPED_VALUE.valueId,
  value: MAPPED_VALUE.value,
  matchedByText: MAPPED_VALUE.matchedByText,
  externalFieldName: MAPPED_VALUE.externalFieldName,
  causes: col.list(required),
  /** Run in which the version began. */
  run: col.text(required),
  sequence: col.count(required),
  /** Start of that run: ISO 8601, UTC. */
  startedAt: col.text(required),
  /** Whether the history begins with that run. */
  begins: col.flag(required),
  /** Start of a later run that found the values of the field in another order. */
  orderedAt: col.text(),
  sequenceBefore: col.count(),
} as const;

/** Since when, and why, a mapped value is as it is. */
export type ValueVersion = ReturnType<typeof versionOf>;

/** By {@link versionKey}. */
export async function readValueVersions(
  connection: DuckDBConnection,
  contentId: string,
): Promise<Map<string, ValueVersion>> {
  /** Changes of definitions by the run that they led to. */
  const behind = new Map<string, ReasonFinder>();
  const found = new Map<string, ValueVersion>();
  for (const row of await readRows(connection, VERSION, loadSql("audit_since"), [contentId])) {
    const { run, sequence, sequenceBefore } = row;
    if (sequenceBefore !== null && !behind.has(run))
      behind.set(run, await readDefinitionChanges(connection, sequenceBefore, sequence));
    found.set(versionKey(row), versionOf(row, behind.get(run)));
  }
  return found;
}

function versionOf(
  { run, startedAt, causes, begins, orderedAt, ...row }: AnswerRow<typeof VERSION>,
  why: ReasonFinder | undefined,
) {
  const { destinationId, customFieldId, valueId, externalFieldName } = row;
  const valueIds = valueId === null ? [] : [valueId];
  const names = externalFieldName === null ? [] : [externalFieldName];
  return {
    run,
    startedAt,
    causes,
    begins,
    orderedAt,
    /** Changes of definitions behind it, in words. */
    why: why?.({ causes, destinationId, customFieldId, valueIds, names }) ?? [],
  };
}

type Key = Pick<MappedValue, "destinationId" | "customFieldId" | "valueId" | "value" | "matchedByText">;

/** Identifies a value among those of its item. */
export function versionKey({ destinationId, customFieldId, valueId, value, matchedByText }: Key): string {
  return JSON.stringify([destinationId, customFieldId, valueId ?? [value], matchedByText]);
}
