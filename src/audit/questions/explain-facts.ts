/** Reads what explains the mapped values of an item: values, definitions, payloads, history and raw document. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { parseExact } from "../../common/json.ts";
import { joinWords } from "../../common/nearest.ts";
import { historySql } from "../../load/load-sql.ts";
import { jsonText } from "../../raw/values.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Reception } from "../../warehouse/manifest.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapped-value.ts";
import { causeText, type ReasonFinder, readDefinitionChanges } from "../mapping/definition-changes.ts";
import { readDefinitions } from "../mapping/definitions.ts";
import { prepareReceptions, RECEPTION, readPassthrough } from "../mapping/value-counts.ts";
import type { OpenedRun } from "../open-run.ts";
import { loadSql } from "../queries.ts";
import { findItemId } from "./find-item.ts";
import { findDocument } from "./raw-document.ts";
import { isHistoryIn } from "./run-history.ts";

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
 * Explains an item by ID or slug. Throws `answer.nothing` if the run has no such item, `verify.failed` if the
 * published values differ from the raw document.
 */
export async function explainItem(opened: OpenedRun, wanted: string) {
  const { connection } = opened;
  const contentId = await findItemId(opened, wanted);
  const [item] = await readRows(connection, ITEM_FACTS, ITEM, [contentId]);
  if (item === undefined) throw new TypeError("an item has a row");
  const ofItem = await readItem(connection, contentId);
  const document = await findDocument(opened, contentId);
  const wrong = document === undefined ? [] : findContradictions(document.parts, ofItem.values);
  if (wrong.length > 0) {
    throw new WarehouseError(
      "verify.failed",
      `Run ${opened.run} published other values of the item ${contentId} than it read: the raw document ` +
        `${document?.file} has others in the custom field ${joinWords(wrong, "and")}. Do not trust its mapped ` +
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
    /** Raw document that the values were read from. */
    document,
    sinceOf: isHistoryIn(opened.manifest) ? await readValueVersions(connection, contentId) : () => undefined,
  };
}

/** Fields whose published values differ from the raw document. Empty unless something is damaged. */
function findContradictions(parts: ReadonlyMap<string, string>, values: readonly ItemValue[]): string[] {
  const given = values.filter(({ input }) => input !== null);
  const published = Map.groupBy(given, ({ customFieldId }) => customFieldId);
  return [...new Set([...published.keys(), ...parts.keys()])].filter((id) => {
    const rows = (published.get(id) ?? []).map(({ ordinal, input }) => [ordinal, input]);
    return JSON.stringify(rows) !== JSON.stringify(sentValues(parts.get(id)));
  });
}

/** Values of a field in the document, with their positions. A single value is a list of one; null gives none. */
function sentValues(part = "null"): [ordinal: number, input: string][] {
  const value: unknown = parseExact(part);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((element, ordinal): [number, string][] =>
    element === null ? [] : [[ordinal, typeof element === "string" ? element : jsonText(element)]],
  );
}

/** Whether each destination receives values, by ID. */
export async function readReceptions(connection: DuckDBConnection): Promise<ReadonlyMap<string, Reception>> {
  await prepareReceptions(connection);
  const columns = { destination_id: col.text(required), reception: RECEPTION } as const;
  const rows = await readRows(connection, columns, "FROM audit_receptions");
  return new Map(rows.map(({ destination_id, reception }) => [destination_id, reception]));
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

/** Since when, and why, a mapped value is as it is. */
type ValueVersion = AnswerRow<typeof VERSION> & { readonly cause: string };

type Key = Pick<MappedValue, "destinationId" | "customFieldId" | "valueId" | "value" | "matchedByText">;

/** Reads since when the values of an item are as they are. A value that the item gives several times has one version. */
export async function readValueVersions(
  connection: DuckDBConnection,
  contentId: string,
): Promise<(value: Key) => ValueVersion | undefined> {
  const keyOf = ({ destinationId, customFieldId, valueId, value, matchedByText }: Key) =>
    JSON.stringify([destinationId, customFieldId, valueId ?? [value], matchedByText]);
  /** Changes of definitions by the run that they led to. */
  const behind = new Map<string, ReasonFinder>();
  const found = new Map<string, ValueVersion>();
  for (const row of await readRows(connection, VERSION, historySql("audit_since", loadSql), [contentId])) {
    const { run, sequence, sequenceBefore, valueId, externalFieldName } = row;
    if (sequenceBefore !== null && !behind.has(run))
      behind.set(run, await readDefinitionChanges(connection, sequenceBefore, sequence));
    const valueIds = valueId === null ? [] : [valueId];
    const names = externalFieldName === null ? [] : [externalFieldName];
    const cause = behind.get(run)?.({ ...row, valueIds, names }) ?? causeText(row.causes);
    found.set(keyOf(row), { ...row, cause });
  }
  return (value) => found.get(keyOf(value));
}
