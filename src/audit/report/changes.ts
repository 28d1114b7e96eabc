/** Changes of mapped values over the last runs, by cause, from the history that the run carries. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { historySql } from "../../load/macros.ts";
import { all, execute } from "../../storage/duckdb.ts";
import { CAUSES } from "../../tables/history.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { instant, integer, text, textOrNull } from "./cells.ts";
import { loadSql } from "./load-sql.ts";

/** Runs that the chart goes back. */
const RUNS_SHOWN = 30;

export interface RunChanges {
  readonly run: string;
  readonly sequence: number;
  readonly startedAt: Date;
  readonly verdict: string;
  /** Whether the history begins with it, so that there is nothing to compare it with. */
  readonly begins: boolean;
  /** By cause, in the order of the causes; only those that are there. */
  readonly changes: readonly Change[];
}

export interface Change {
  readonly cause: string;
  /** Items with such a change. */
  readonly items: number;
  readonly values: number;
}

/** The last runs, the oldest first; undefined where the pipeline has no history. */
export async function readChanges(
  connection: DuckDBConnection,
  rows: Manifest["rows"],
): Promise<readonly RunChanges[] | undefined> {
  if (!Object.hasOwn(rows, "run_history") || !Object.hasOwn(rows, "mapped_value_history")) return undefined;
  await execute(connection, `CREATE OR REPLACE TEMP TABLE report_runs AS ${loadSql("report_runs")}`, [
    RUNS_SHOWN,
  ]);
  const changes = await all(connection, historySql("report_changes", loadSql));
  const order: readonly string[] = CAUSES;
  const runs = await all(connection, "FROM report_runs ORDER BY sequence");
  return runs.map((row) => ({
    run: text(row.run),
    sequence: integer(row.sequence),
    startedAt: instant(row.started_at),
    verdict: text(row.verdict),
    begins: textOrNull(row.previous_run) === null,
    changes: changes
      .filter(({ run }) => run === row.run)
      .map((change) => ({
        cause: text(change.cause),
        items: integer(change.items),
        values: integer(change.values),
      }))
      .toSorted((a, b) => order.indexOf(a.cause) - order.indexOf(b.cause)),
  }));
}
