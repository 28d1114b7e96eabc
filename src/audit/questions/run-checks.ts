/** The checks that a run made before it was published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { integer, rowsOf } from "../rows.ts";

const checkRow = z.object({
  checkName: z.string(),
  verdict: z.string(),
  figure: integer,
  expected: integer.nullable(),
  detail: z.string().nullable(),
});
export type RunCheck = Readonly<z.output<typeof checkRow>>;

/** What failed or warns first. */
export function readChecks(connection: DuckDBConnection): Promise<RunCheck[]> {
  return rowsOf(
    connection,
    checkRow,
    "FROM run_checks ORDER BY CASE verdict WHEN 'failed' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, check_name",
  );
}
