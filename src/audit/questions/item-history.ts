/** What an item held in a run, since when, and why, from the history that a run carries. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { intervalsSql } from "../../load/macros.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";
import { type MappedValue, mappedValueRow } from "../mapping/mapped-value.ts";
import { integer, rowsOf, textList } from "../rows.ts";
import { DefinitionChanges, readDefinitionChanges } from "./definition-changes.ts";
import { keep } from "./temp-tables.ts";

/** The beginning of a version of a value. */
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
  const definitions = new Map<string, DefinitionChanges>();
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
    const changes = definitions.get(run) ?? (await changesSince(connection, sequenceBefore, sinceSequence));
    definitions.set(run, changes);
    const { destinationId, customFieldId, valueId, externalFieldName } = row;
    const why = changes.why({
      causes: cause,
      destinationId,
      customFieldId,
      valueIds: valueId === null ? [] : [valueId],
      names: externalFieldName === null ? [] : [externalFieldName],
    });
    held.push({ row, since: { run, startedAt: sinceStartedAt, causes: cause, begins, why } });
  }
  return held;
}

async function changesSince(
  connection: DuckDBConnection,
  before: number | null,
  sequence: number,
): Promise<DefinitionChanges> {
  return new DefinitionChanges(
    before === null ? [] : await readDefinitionChanges(connection, before, sequence),
  );
}
