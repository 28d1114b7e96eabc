/** Reads what explains the mapped values of an item: values, definitions, payloads, history and evidence. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { joinWords } from "../../common/nearest.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapped-value.ts";
import { type ReasonFinder, readDefinitionChanges } from "../mapping/definition-changes.ts";
import { readDefinitions } from "../mapping/definitions.ts";
import { readPassthrough, readReceptions } from "../mapping/value-counts.ts";
import type { OpenedRun } from "../open-run.ts";
import { loadSql } from "../queries.ts";
import { findContradictions, findEvidence } from "./evidence.ts";
import { findItemId } from "./find-item.ts";
import { hasHistory } from "./run-history.ts";

const required = { required: true } as const;

const ITEM_FACTS = {
  contentId: col.text(required),
  slug: col.text(),
  title: col.text(),
  contentType: col.text(),
  /** ISO 8601, UTC. */
  updatedAt: col.text(),
} as const;

const ITEM = `
  SELECT content_id, slug, title, coalesce(content_types.display_name, content.content_type_id) AS content_type,
    strftime(content.updated_at, '%Y-%m-%dT%H:%M:%SZ') AS updated_at
  FROM content LEFT JOIN content_types USING (content_type_id)
  WHERE content_id = $1`;

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

/** External values that a destination gets under one external name. */
const PAYLOAD_MEMBER = {
  destinationId: col.text(required),
  name: col.text(required),
  values: col.list(required),
} as const;

export type ItemExplanation = Awaited<ReturnType<typeof explainItem>>;

/**
 * Explains an item by ID or slug. Throws `config.not_found` if the run has no such item, `verify.failed` if the
 * published values differ from the raw document.
 */
export async function explainItem(opened: OpenedRun, wanted: string) {
  const { connection } = opened;
  const contentId = await findItemId(opened, wanted);
  const [item] = await readRows(connection, ITEM_FACTS, ITEM, [contentId]);
  if (item === undefined) throw new TypeError("an item has a row");
  const ofItem = await readItem(connection, contentId);
  const evidence = await findEvidence(opened, contentId);
  const wrong = evidence.document === undefined ? [] : findContradictions(evidence.document, ofItem.values);
  if (wrong.length > 0) {
    throw new WarehouseError(
      "verify.failed",
      `Run ${opened.run} published other values of the item ${contentId} than it read: the raw document ` +
        `${evidence.document?.file} has others in the custom field ${joinWords(wrong, "and")}. Do not trust its mapped ` +
        "values; verify the run, and report this.",
    );
  }
  return {
    item,
    ...ofItem,
    definitions: await readDefinitions(connection),
    /** By destination ID. */
    receptions: await readReceptions(connection),
    passthrough: await readPassthrough(connection),
    evidence,
    /** By `versionKey`; undefined if the run has no history. */
    since: hasHistory(opened) ? await readValueVersions(connection, contentId) : undefined,
  };
}

/** Reads the values of an item, its mapped values in the order of their key, and the members of its payloads. */
export async function readItem(connection: DuckDBConnection, contentId: string) {
  return {
    values: await readItemValues(connection, contentId),
    mappedValues: await readRows(
      connection,
      MAPPED_VALUE,
      "FROM content_mapped_values WHERE content_id = $1 ORDER BY destination_id, custom_field_id, ordinal",
      [contentId],
    ),
    payloads: await readRows(
      connection,
      PAYLOAD_MEMBER,
      `SELECT destination_id, members.key AS name, CAST(members.value AS VARCHAR[]) AS values
       FROM content_external_payloads AS payloads, json_each(payloads.payload) AS members
       WHERE content_id = $1 ORDER BY destination_id, members.id`,
      [contentId],
    ),
  };
}

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

const VERSION = {
  destinationId: MAPPED_VALUE.destinationId,
  customFieldId: MAPPED_VALUE.customFieldId,
  valueId: MAPPED_VALUE.valueId,
  value: MAPPED_VALUE.value,
  matchedByText: MAPPED_VALUE.matchedByText,
  externalFieldName: MAPPED_VALUE.externalFieldName,
  causes: col.list(required),
  /** Run in which the version began, and its start. */
  run: col.text(required),
  sequence: col.count(required),
  startedAt: col.instant(required),
  /** Whether the history begins with that run. */
  begins: col.flag(required),
  /** Start of a later run that found the values of the field in another order. */
  orderedAt: col.instant(),
  sequenceBefore: col.count(),
} as const;

/** Since when, and why, a mapped value is as it is. `why`: changes of definitions behind it, in words. */
export type ValueVersion = AnswerRow<typeof VERSION> & { readonly why: readonly string[] };

/** By {@link versionKey}. */
export async function readValueVersions(
  connection: DuckDBConnection,
  contentId: string,
): Promise<Map<string, ValueVersion>> {
  /** Changes of definitions by the run that they led to. */
  const behind = new Map<string, ReasonFinder>();
  const found = new Map<string, ValueVersion>();
  for (const row of await readRows(connection, VERSION, loadSql("audit_since"), [contentId])) {
    const { run, sequence, sequenceBefore, valueId, externalFieldName } = row;
    if (sequenceBefore !== null && !behind.has(run))
      behind.set(run, await readDefinitionChanges(connection, sequenceBefore, sequence));
    const valueIds = valueId === null ? [] : [valueId];
    const names = externalFieldName === null ? [] : [externalFieldName];
    found.set(versionKey(row), { ...row, why: behind.get(run)?.({ ...row, valueIds, names }) ?? [] });
  }
  return found;
}

type Key = Pick<MappedValue, "destinationId" | "customFieldId" | "valueId" | "value" | "matchedByText">;

/** Identifies a value among those of its item. */
export function versionKey({ destinationId, customFieldId, valueId, value, matchedByText }: Key): string {
  return JSON.stringify([destinationId, customFieldId, valueId ?? [value], matchedByText]);
}
