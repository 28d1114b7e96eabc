/** Changes of mapped values over the last runs, by cause, from the history that the run carries. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { historySql } from "../../load/macros.ts";
import { CAUSES } from "../../tables/history.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { loadSql } from "../load-sql.ts";
import { keep } from "../questions/temp-tables.ts";
import { instant, integer, rowsOf } from "../rows.ts";

/** Runs that the chart goes back. */
const RUNS_SHOWN = 30;

const runRow = z.object({
  run: z.string(),
  sequence: integer,
  startedAt: instant,
  verdict: z.string(),
  /** Whether the history begins with it, so that there is nothing to compare it with. */
  begins: z.boolean(),
});

const changeRow = z.object({
  run: z.string(),
  cause: z.enum(CAUSES),
  /** Items with such a change. */
  items: integer,
  values: integer,
});
export type Change = Readonly<z.output<typeof changeRow>>;

export interface RunChanges extends Readonly<z.output<typeof runRow>> {
  /** By cause, in the order of the causes; only those that are there. */
  readonly changes: readonly Change[];
}

/** The last runs, the oldest first; undefined where the pipeline has no history. */
export async function readChanges(
  connection: DuckDBConnection,
  rows: Manifest["rows"],
): Promise<readonly RunChanges[] | undefined> {
  if (!Object.hasOwn(rows, "run_history") || !Object.hasOwn(rows, "mapped_value_history")) return undefined;
  await keep(connection, "report_runs", loadSql("report_runs"), [RUNS_SHOWN]);
  const changes = await rowsOf(connection, changeRow, historySql("report_changes", loadSql));
  changes.sort((a, b) => CAUSES.indexOf(a.cause) - CAUSES.indexOf(b.cause));
  const byRun = Map.groupBy(changes, ({ run }) => run);
  const runs = await rowsOf(
    connection,
    runRow,
    "SELECT *, previous_run IS NULL AS begins FROM report_runs ORDER BY sequence",
  );
  return runs.map((run) => ({ ...run, changes: byRun.get(run.run) ?? [] }));
}
