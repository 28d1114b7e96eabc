/** Since when the values of an item are as they are, and why, from the history that a run carries. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { readDefinitionChanges, type Why } from "../diff/definition-changes.ts";
import { loadSql } from "../load-sql.ts";
import { MAPPED_VALUE, type MappedValue } from "../mapping/mapped-value.ts";

const required = { required: true } as const;
const SINCE = {
  destinationId: MAPPED_VALUE.destinationId,
  customFieldId: MAPPED_VALUE.customFieldId,
  valueId: MAPPED_VALUE.valueId,
  value: MAPPED_VALUE.value,
  matchedByText: MAPPED_VALUE.matchedByText,
  externalFieldName: MAPPED_VALUE.externalFieldName,
  causes: col.list(required),
  /** The run that the version began in. */
  run: col.text(required),
  sequence: col.count(required),
  /** Start of that run: ISO 8601, UTC. */
  startedAt: col.text(required),
  /** Whether the history begins with that run: then nothing is known of the time before. */
  begins: col.flag(required),
  /** Start of a later run, since which the values of the field have another order. */
  orderedAt: col.text(),
  sequenceBefore: col.count(),
} as const;

/** The beginning of the version of a value. */
export type Since = ReturnType<typeof sinceOf>;

/** By {@link sinceKey}. */
export async function readSince(
  connection: DuckDBConnection,
  contentId: string,
): Promise<Map<string, Since>> {
  /** Changes of definitions, by the run that they led to; none where it is the first of the history. */
  const behind = new Map<string, Why>();
  const found = new Map<string, Since>();
  for (const row of await readRows(connection, SINCE, loadSql("audit_since"), [contentId])) {
    const { run, sequence, sequenceBefore } = row;
    if (sequenceBefore !== null && !behind.has(run))
      behind.set(run, await readDefinitionChanges(connection, sequenceBefore, sequence));
    found.set(sinceKey(row), sinceOf(row, behind.get(run)));
  }
  return found;
}

function sinceOf(
  { run, startedAt, causes, begins, orderedAt, ...row }: AnswerRow<typeof SINCE>,
  why: Why | undefined,
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
    /** Changes of the definitions behind it, in words. */
    why: why?.({ causes, destinationId, customFieldId, valueIds, names }) ?? [],
  };
}

type Key = Pick<MappedValue, "destinationId" | "customFieldId" | "valueId" | "value" | "matchedByText">;

/** What tells a value of an item at a destination from its others. */
export function sinceKey({ destinationId, customFieldId, valueId, value, matchedByText }: Key): string {
  return JSON.stringify([destinationId, customFieldId, valueId ?? [value], matchedByText]);
}
