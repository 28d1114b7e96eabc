/** What an item held in a run, since when, and why, from the history that a run carries. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { intervalsSql } from "../../load/macros.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";
import { type MappedValue, mappedValueRow } from "../mapping/mapped-value.ts";
import { integer, keep, rowsOf, textList } from "../rows.ts";
import { readDefinitionChanges, type Why } from "./definition-changes.ts";

export interface Since {
  readonly run: string;
  /** Start of that run: ISO 8601, UTC. */
  readonly startedAt: string;
  readonly causes: readonly string[];
  /** Whether the history begins with that run: then nothing is known of the time before. */
  readonly begins: boolean;
  /** What became of the definitions behind it, in words. */
  readonly why: readonly string[];
}

export interface HeldValue {
  readonly row: MappedValue;
  readonly since: Since;
}

const heldRow = mappedValueRow.extend({
  versionFromRun: z.string(),
  cause: textList,
  sinceSequence: integer,
  sinceStartedAt: z.string(),
  begins: z.boolean(),
  sequenceBefore: integer.nullable(),
});

/** In the order of the ledger: destination, field, ordinal. */
export async function readHeldValues(
  connection: DuckDBConnection,
  contentId: string,
  sequence: number,
): Promise<HeldValue[]> {
  const ofItem = (table: string) => `FROM ${table} WHERE content_id = $1`;
  await keep(connection, "item_values", ofItem("mapped_value_history"), [contentId]);
  await keep(connection, "item_orders", ofItem("mapped_value_order_history"), [contentId]);
  const sql = fillMarks(loadSql("audit_item_rows"), { intervals: intervalsSql() });
  /** By the run that a version is from; nothing where it is the first of the history. */
  const behind = new Map<string, Why>();
  const held: HeldValue[] = [];
  for (const found of await rowsOf(connection, heldRow, sql, [sequence])) {
    const {
      versionFromRun: run,
      cause,
      sinceSequence,
      sinceStartedAt,
      begins,
      sequenceBefore,
      ...row
    } = found;
    if (sequenceBefore !== null && !behind.has(run)) {
      behind.set(run, await readDefinitionChanges(connection, sequenceBefore, sinceSequence));
    }
    const { destinationId, customFieldId, valueId, externalFieldName } = row;
    const why = behind.get(run)?.({
      causes: cause,
      destinationId,
      customFieldId,
      valueIds: valueId === null ? [] : [valueId],
      names: externalFieldName === null ? [] : [externalFieldName],
    });
    held.push({ row, since: { run, startedAt: sinceStartedAt, causes: cause, begins, why: why ?? [] } });
  }
  return held;
}
