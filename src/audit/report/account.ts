/** The tables about the run, read for the report. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { flag, instant, integer, rowsOf } from "../rows.ts";

const runRow = z.object({
  run: z.string(),
  sequence: integer,
  pipeline: z.string(),
  instanceUrl: z.string(),
  startedAt: instant,
  endedAt: instant,
  verdict: z.string(),
  reason: z.string().nullable(),
  itemsListed: integer,
  itemsLoaded: integer,
  itemsRejected: integer,
  itemsVanished: integer,
  itemsUnread: integer,
  personalData: z.string(),
  packageVersion: z.string(),
  duckdbVersion: z.string(),
  nodeVersion: z.string(),
  requests: integer,
  bytes: integer,
  /** Kinds of departures from the specification. */
  drift: integer,
});

const passRow = z.object({
  pass: integer,
  mode: z.string(),
  pages: integer,
  distinctItems: integer,
  duplicates: integer,
  countBefore: integer.nullable(),
  countAfter: integer.nullable(),
  clean: flag,
  reason: z.string().nullable(),
});
export type Pass = Readonly<z.output<typeof passRow>>;

const checkRow = z.object({
  checkName: z.string(),
  verdict: z.string(),
  figure: integer,
  expected: integer.nullable(),
  detail: z.string().nullable(),
});
export type RunCheck = Readonly<z.output<typeof checkRow>>;

const tableRow = z.object({ tableName: z.string(), rowCount: integer, parquetBytes: integer });
export type TableSize = Readonly<z.output<typeof tableRow>>;

export interface Account extends Readonly<z.output<typeof runRow>> {
  readonly passes: readonly Pass[];
  /** What failed or warns first. */
  readonly checks: readonly RunCheck[];
  readonly tables: readonly TableSize[];
}

export async function readAccount(connection: DuckDBConnection): Promise<Account> {
  const [run] = await rowsOf(
    connection,
    runRow,
    `SELECT *,
       (SELECT count(*) FROM run_requests) AS requests,
       (SELECT coalesce(sum(bytes), 0)::BIGINT FROM run_requests) AS bytes,
       (SELECT count(*) FROM run_drift) AS drift
     FROM run`,
  );
  if (run === undefined) throw new TypeError("the run has no row in run");
  return {
    ...run,
    passes: await rowsOf(connection, passRow, "FROM run_passes ORDER BY pass"),
    checks: await rowsOf(
      connection,
      checkRow,
      "FROM run_checks ORDER BY CASE verdict WHEN 'failed' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, check_name",
    ),
    tables: await rowsOf(connection, tableRow, "FROM run_tables ORDER BY row_count DESC, table_name"),
  };
}
