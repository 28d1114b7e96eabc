/** What an item held in a run, since when, and why, from the history that a run carries. */
import { type DuckDBConnection, DuckDBListValue } from "@duckdb/node-api";
import { intervalsSql } from "../../load/macros.ts";
import { all, execute, type Row, toSafeInteger } from "../../storage/duckdb.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";
import type { MappedValue } from "../mapping/mapped-value.ts";
import { DefinitionChanges, readDefinitionChanges } from "./definition-changes.ts";
import { mappedValueOf } from "./read-run.ts";

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

/** In the order of the ledger: destination, field, ordinal. */
export async function readHeldValues(
  connection: DuckDBConnection,
  contentId: string,
  sequence: number,
): Promise<HeldValue[]> {
  for (const [name, table] of [
    ["item_values", "mapped_value_history"],
    ["item_orders", "mapped_value_order_history"],
  ]) {
    const rows = `SELECT * FROM ${table} WHERE content_id = $1`;
    await execute(connection, `CREATE OR REPLACE TEMP TABLE ${name} AS ${rows}`, [contentId]);
  }
  const sql = fillMarks(loadSql("audit_item_rows"), { intervals: intervalsSql() });
  const rows = await all(connection, sql, [sequence]);
  const definitions = new Map<string, DefinitionChanges>();
  const held: HeldValue[] = [];
  for (const row of rows) {
    held.push({ row: mappedValueOf(row), since: await sinceOf(connection, row, definitions) });
  }
  return held;
}

async function sinceOf(
  connection: DuckDBConnection,
  row: Row,
  known: Map<string, DefinitionChanges>,
): Promise<Since> {
  const run = String(row.version_from_run);
  const causes = row.cause instanceof DuckDBListValue ? row.cause.items.map(String) : [];
  const value = mappedValueOf(row);
  let changes = known.get(run);
  if (changes === undefined) {
    const before = row.sequence_before ?? null;
    const found =
      before === null
        ? []
        : await readDefinitionChanges(
            connection,
            toSafeInteger(before),
            toSafeInteger(row.since_sequence ?? null),
          );
    changes = new DefinitionChanges(found);
    known.set(run, changes);
  }
  return {
    run,
    startedAt: String(row.since_started_at),
    causes,
    begins: row.begins === true,
    why: changes.why({
      causes,
      destinationId: value.destinationId,
      customFieldId: value.customFieldId,
      valueIds: value.valueId === null ? [] : [value.valueId],
      names: value.externalFieldName === null ? [] : [value.externalFieldName],
    }),
  };
}

/** Key of a value among those of an item. */
export function placeKey(row: Pick<MappedValue, "destinationId" | "customFieldId" | "ordinal">): string {
  return JSON.stringify([row.destinationId, row.customFieldId, row.ordinal]);
}
