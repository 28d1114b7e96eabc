/** What an item held in a run, since when, and why, from the history that a run carries. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../../common/answer.ts";
import { intervalsSql } from "../../load/macros.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { readDefinitionChanges, type Why } from "../diff/definition-changes.ts";
import { loadSql } from "../load-sql.ts";
import { MAPPED_VALUE } from "../mapping/mapped-value.ts";
import { keep } from "../rows.ts";

export type HeldValue = Awaited<ReturnType<typeof readHeldValues>>[number];
/** The beginning of a version of a value. */
export type Since = HeldValue["since"];

const required = { required: true } as const;
const HELD = {
  ...MAPPED_VALUE,
  versionFromRun: col.text(required),
  cause: col.list(required),
  sinceSequence: col.count(required),
  sinceStartedAt: col.text(required),
  begins: col.flag(required),
  sequenceBefore: col.count(),
} as const;

/** In the order of the ledger: destination, field, ordinal. */
export async function readHeldValues(connection: DuckDBConnection, contentId: string, sequence: number) {
  const ofItem = (table: string) => `FROM ${table} WHERE content_id = $1`;
  await keep(connection, "item_values", ofItem("mapped_value_history"), [contentId]);
  await keep(connection, "item_orders", ofItem("mapped_value_order_history"), [contentId]);
  const sql = fillMarks(loadSql("audit_item_rows"), { intervals: intervalsSql() });
  /** By the run that a version is from; nothing where it is the first of the history. */
  const behind = new Map<string, Why>();
  const held = [];
  for (const found of await rowsBy(connection, HELD, sql, [sequence])) {
    const {
      versionFromRun: run,
      cause: causes,
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
    const valueIds = valueId === null ? [] : [valueId];
    const names = externalFieldName === null ? [] : [externalFieldName];
    const since = {
      run,
      /** Start of that run: ISO 8601, UTC. */
      startedAt: sinceStartedAt,
      causes,
      /** Whether the history begins with that run: then nothing is known of the time before. */
      begins,
      /** What became of the definitions behind it, in words. */
      why: behind.get(run)?.({ causes, destinationId, customFieldId, valueIds, names }) ?? [],
    };
    held.push({ row, since });
  }
  return held;
}
