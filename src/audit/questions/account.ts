/** What a run says of itself: how it went, its passes over the listing, its requests, its tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type Answer, col, section } from "../../common/answer.ts";
import { count, counted, fileSize } from "../../common/figures.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { flag, instant, integer, rowsOf } from "../rows.ts";

const runRow = z.object({
  run: z.string(),
  sequence: integer,
  pipeline: z.string(),
  instanceUrl: z.string(),
  startedAt: instant,
  endedAt: instant,
  verdict: z.enum(["complete", "unsettled"]),
  reason: z.string().nullable(),
  itemsListed: integer,
  itemsLoaded: integer,
  itemsRejected: integer,
  itemsRemoved: integer,
  itemsUnread: integer,
  /** A run of an earlier version does not say. */
  requestsRefused: integer.default(0),
  ratePerSecond: z.number().nullable().default(null),
  passthrough: flag,
  personalData: z.string(),
  packageVersion: z.string(),
  duckdbVersion: z.string(),
  nodeVersion: z.string(),
});
export type RunAccount = Readonly<z.output<typeof runRow>>;

export async function readAccount(connection: DuckDBConnection): Promise<RunAccount> {
  const [run] = await rowsOf(connection, runRow, "FROM run");
  if (run === undefined) throw new TypeError("the run has no row in run");
  return run;
}

const destinationRow = z.object({ destinationId: z.string() });

/** IDs of destinations that only mappings name. */
export async function namelessDestinations(connection: DuckDBConnection): Promise<string[]> {
  const rows = await rowsOf(
    connection,
    destinationRow,
    `SELECT DISTINCT destination_id FROM destinations SEMI JOIN custom_field_mappings USING (destination_id)
     WHERE identification IS NULL ORDER BY destination_id`,
  );
  return rows.map(({ destinationId }) => destinationId);
}

const PASSES = {
  pass: col.name({ required: true }),
  mode: col.text({ required: true }),
  pages: col.count({ required: true }),
  distinct_items: col.count({ required: true, head: "items" }),
  duplicates: col.count({ required: true, head: "repeats" }),
  count_before: col.count({ head: "service’s count" }),
  count_after: col.count({ head: "and after" }),
  clean: col.flag({ required: true }),
  reason: col.text(),
} as const;

export async function passesSection(connection: DuckDBConnection) {
  return section({
    key: "passes",
    title: "Passes over the listing",
    columns: PASSES,
    rows: await rowsBy(
      connection,
      PASSES,
      "SELECT * REPLACE (CAST(pass AS VARCHAR) AS pass) FROM run_passes ORDER BY run_passes.pass",
    ),
  });
}

const REQUESTS = {
  mode: col.text({ required: true }),
  requests: col.count({ required: true }),
  retries: col.count({ required: true }),
  bytes: col.bytes({ required: true, head: "received" }),
  median: col.milliseconds({ required: true }),
  slowest: col.milliseconds({ required: true }),
} as const;

/** In the order in which the modes were asked for. */
const BY_MODE = `
  SELECT mode, count(*) AS requests, sum(attempts - 1)::BIGINT AS retries, sum(bytes)::BIGINT AS bytes,
    median(milliseconds) AS median, max(milliseconds) AS slowest
  FROM run_requests GROUP BY mode ORDER BY min(request)`;

/** Requests by mode, and whether the service held the run back. */
export async function requestsAnswer(connection: DuckDBConnection, run: RunAccount): Promise<Answer> {
  const rows = await rowsBy(connection, REQUESTS, BY_MODE);
  const sum = (name: "requests" | "retries" | "bytes") => rows.reduce((total, row) => total + row[name], 0);
  const [requests, retries, bytes] = [sum("requests"), sum("retries"), sum("bytes")];
  const retried = retries === 1 ? "1 retry" : `${count(retries)} retries`;
  return {
    lead: `${counted(requests, "request")} answered, ${fileSize(bytes)} received, ${retried}. ${throttling(run)}`,
    facts: { requests, bytes, retries, refused: run.requestsRefused, ratePerSecond: run.ratePerSecond },
    sections: [section({ key: "requests", title: "Requests by mode", columns: REQUESTS, rows })],
  };
}

function throttling({ requestsRefused, ratePerSecond }: RunAccount): string {
  if (requestsRefused === 0 && ratePerSecond === null) return "The service refused none: no throttling.";
  const refused =
    requestsRefused === 0
      ? "The service refused none"
      : `The service refused ${counted(requestsRefused, "request")} because there were too many`;
  const bound = "`ratePerSecond` sets an upper bound.";
  if (ratePerSecond === null) return `${refused}; ${bound}`;
  const next = requestsRefused === 0 ? ", as the run before" : ", and the next one starts with that";
  return `${refused}; the run was held to about ${ratePerSecond} requests a second${next}. ${bound}`;
}

const TABLES = {
  table_name: col.name({ required: true, head: "table" }),
  row_count: col.count({ required: true, head: "rows" }),
  parquet_bytes: col.bytes({ required: true, head: "Parquet" }),
} as const;

export async function tablesAnswer(connection: DuckDBConnection): Promise<Answer> {
  const rows = await rowsBy(connection, TABLES, "FROM run_tables ORDER BY row_count DESC, table_name");
  const total = rows.reduce((sum, { row_count }) => sum + row_count, 0);
  const bytes = rows.reduce((sum, { parquet_bytes }) => sum + parquet_bytes, 0);
  const size = bytes > 0 ? `, ${fileSize(bytes)} as Parquet` : "";
  return {
    lead: `${counted(total, "row")} in ${counted(rows.length, "table")}${size}. \`content-warehouse schema\` says what each column is.`,
    facts: { rows: total, tables: rows.length, bytes },
    sections: [section({ key: "tables", title: "Rows per table", columns: TABLES, rows, limit: 100 })],
  };
}
