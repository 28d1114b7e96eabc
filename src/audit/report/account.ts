/** The tables about the run, read for the report. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, scalar } from "../../storage/duckdb.ts";
import { instant, integer, integerOrNull, text, textOrNull } from "./cells.ts";

export interface Account {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly instanceUrl: string;
  readonly startedAt: Date;
  readonly builtAt: Date;
  readonly verdict: string;
  readonly reason: string | null;
  readonly listed: number;
  readonly loaded: number;
  readonly rejected: number;
  readonly vanished: number;
  readonly unread: number;
  readonly personalData: string;
  readonly packageVersion: string;
  readonly duckdbVersion: string;
  readonly nodeVersion: string;
  readonly requests: number;
  readonly bytes: number;
  /** Kinds of departures from the specification. */
  readonly drift: number;
  readonly passes: readonly Pass[];
  readonly checks: readonly RunCheck[];
  readonly tables: readonly TableSize[];
}

export interface Pass {
  readonly pass: number;
  readonly mode: string;
  readonly pages: number;
  readonly items: number;
  readonly duplicates: number;
  readonly countBefore: number | null;
  readonly countAfter: number | null;
  readonly clean: boolean;
  readonly reason: string | null;
}

export interface RunCheck {
  readonly name: string;
  readonly verdict: string;
  readonly figure: number;
  readonly expected: number | null;
  readonly detail: string | null;
}

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly parquetBytes: number;
}

export async function readAccount(connection: DuckDBConnection): Promise<Account> {
  const [row] = await all(connection, "FROM run");
  if (row === undefined) throw new TypeError("the run has no row in run");
  return {
    run: text(row.run),
    sequence: integer(row.sequence),
    pipeline: text(row.pipeline),
    instanceUrl: text(row.instance_url),
    startedAt: instant(row.started_at),
    builtAt: instant(row.ended_at),
    verdict: text(row.verdict),
    reason: textOrNull(row.reason),
    listed: integer(row.items_listed),
    loaded: integer(row.items_loaded),
    rejected: integer(row.items_rejected),
    vanished: integer(row.items_vanished),
    unread: integer(row.items_unread),
    personalData: text(row.personal_data),
    packageVersion: text(row.package_version),
    duckdbVersion: text(row.duckdb_version),
    nodeVersion: text(row.node_version),
    requests: await scalar(connection, "SELECT count(*) FROM run_requests"),
    bytes: await scalar(connection, "SELECT coalesce(sum(bytes), 0)::BIGINT FROM run_requests"),
    drift: await scalar(connection, "SELECT count(*) FROM run_drift"),
    passes: await readPasses(connection),
    checks: await readChecks(connection),
    tables: await readTables(connection),
  };
}

async function readPasses(connection: DuckDBConnection): Promise<Pass[]> {
  const rows = await all(connection, "FROM run_passes ORDER BY pass");
  return rows.map((row) => ({
    pass: integer(row.pass),
    mode: text(row.mode),
    pages: integer(row.pages),
    items: integer(row.distinct_items),
    duplicates: integer(row.duplicates),
    countBefore: integerOrNull(row.count_before),
    countAfter: integerOrNull(row.count_after),
    clean: row.clean === true,
    reason: textOrNull(row.reason),
  }));
}

/** What failed or warns first. */
async function readChecks(connection: DuckDBConnection): Promise<RunCheck[]> {
  const rows = await all(
    connection,
    "FROM run_checks ORDER BY CASE verdict WHEN 'failed' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, check_name",
  );
  return rows.map((row) => ({
    name: text(row.check_name),
    verdict: text(row.verdict),
    figure: integer(row.figure),
    expected: integerOrNull(row.expected),
    detail: textOrNull(row.detail),
  }));
}

async function readTables(connection: DuckDBConnection): Promise<TableSize[]> {
  const rows = await all(connection, "FROM run_tables ORDER BY row_count DESC, table_name");
  return rows.map((row) => ({
    table: text(row.table_name),
    rows: integer(row.row_count),
    parquetBytes: integer(row.parquet_bytes),
  }));
}
