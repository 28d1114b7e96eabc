/** What the run says of itself: checks, passes, rejects, requests, tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted, duration, fileSize } from "../../common/figures.ts";
import { type RunCheck, readChecks, SAME_TIMES_CHECK } from "../checks/checks.ts";
import { MAPPED_VALUES_CHECK } from "../checks/unmatched.ts";
import { flag, instant, integer, rowsOf } from "../rows.ts";
import { type Column, foreign, html, type Markup, section, sql, table } from "./markup.ts";

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
  personalData: z.string(),
  packageVersion: z.string(),
  duckdbVersion: z.string(),
  nodeVersion: z.string(),
  requests: integer,
  bytes: integer,
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
type Pass = Readonly<z.output<typeof passRow>>;

const rejectRow = z.object({
  mode: z.string(),
  page: integer.nullable(),
  position: integer.nullable(),
  contentId: z.string().nullable(),
  reason: z.string(),
  /** Rejects of the run. */
  total: integer,
});
type Reject = Readonly<z.output<typeof rejectRow>>;

const modeRow = z.object({
  mode: z.string(),
  requests: integer,
  /** Attempts besides the first of each. */
  retries: integer,
  bytes: integer,
  /** Milliseconds. */
  median: z.number(),
  slowest: z.number(),
});
type ModeRequests = Readonly<z.output<typeof modeRow>>;

const tableRow = z.object({ tableName: z.string(), rowCount: integer, parquetBytes: integer });
type TableSize = z.output<typeof tableRow>;

export type Account = Awaited<ReturnType<typeof readAccount>>;

const REJECTS_SHOWN = 200;

const destinationRow = z.object({ destinationId: z.string() });
const NAMELESS = `
  SELECT DISTINCT destination_id FROM destinations SEMI JOIN custom_field_mappings USING (destination_id)
  WHERE identification IS NULL ORDER BY destination_id`;

export async function readAccount(connection: DuckDBConnection) {
  const [run] = await rowsOf(
    connection,
    runRow,
    `SELECT *,
       (SELECT count(*) FROM run_requests) AS requests,
       (SELECT coalesce(sum(bytes), 0)::BIGINT FROM run_requests) AS bytes
     FROM run`,
  );
  if (run === undefined) throw new TypeError("the run has no row in run");
  const checks = await readChecks(connection);
  const nameless = await rowsOf(connection, destinationRow, NAMELESS);
  const lacking = checks.find(({ check_name }) => check_name === MAPPED_VALUES_CHECK);
  return {
    ...run,
    checks,
    warnings: checks.filter(({ verdict }) => verdict !== "passed"),
    /** IDs of destinations that only mappings name; none of the sample, whose destinations are all known. */
    namelessDestinations:
      run.instanceUrl === "sample" ? [] : nameless.map(({ destinationId }) => destinationId),
    /** Whether dynamic and full answers mean different times by `updated_at`. */
    modesDiffer: checks.some(
      ({ check_name, verdict }) => check_name === SAME_TIMES_CHECK && verdict !== "passed",
    ),
    /** Why the configured destinations have no mapped values; null: they have, or none are configured. */
    withoutMappedValues: lacking?.verdict === "warning" ? lacking.detail : null,
    passes: await rowsOf(connection, passRow, "FROM run_passes ORDER BY pass"),
    tables: await rowsOf(connection, tableRow, "FROM run_tables ORDER BY row_count DESC, table_name"),
    /** The first ones. */
    rejects: await rowsOf(
      connection,
      rejectRow,
      `SELECT mode, page, position, content_id, reason, count(*) OVER () AS total
       FROM run_rejects ORDER BY reject LIMIT ${REJECTS_SHOWN}`,
    ),
    /** In the order in which they were asked for. */
    modes: await rowsOf(
      connection,
      modeRow,
      `SELECT mode, count(*) AS requests, sum(attempts - 1) AS retries, sum(bytes) AS bytes,
         median(milliseconds) AS median, max(milliseconds) AS slowest
       FROM run_requests GROUP BY mode ORDER BY min(request)`,
    ),
  };
}

export function checksSection({ checks, warnings, passes }: Account): Markup {
  const passed = checks.filter(({ verdict }) => verdict === "passed");
  return section(
    "checks",
    "Checks",
    warnings.length === 0
      ? html`<p class="empty">All ${counted(checks.length, "check")} passed.</p>`
      : table("Checks that did not pass", CHECK_COLUMNS, warnings),
    passed.length > 0 &&
      html`<details><summary>${counted(passed.length, "check")} passed</summary>${table("Checks that passed", CHECK_COLUMNS, passed)}</details>`,
    html`<h3>Passes over the listing</h3>`,
    table("Passes over the listing", PASS_COLUMNS, passes),
  );
}

const CHECK_COLUMNS: readonly Column<RunCheck>[] = [
  { head: "Check", cell: ({ check_name }) => foreign(check_name), kind: "head" },
  { head: "Verdict", cell: ({ verdict }) => html`<span class="status check-${verdict}">${verdict}</span>` },
  { head: "Counted", cell: ({ figure }) => count(figure), kind: "number" },
  { head: "Expected", cell: ({ expected }) => countOrEmpty(expected), kind: "number" },
  { head: "Detail", cell: ({ detail }) => foreign(detail ?? "") },
];

function countOrEmpty(figure: number | null): string {
  return figure === null ? "" : count(figure);
}

const PASS_COLUMNS: readonly Column<Pass>[] = [
  { head: "Pass", cell: ({ pass }) => pass, kind: "head" },
  { head: "View", cell: ({ mode }) => mode },
  { head: "Pages", cell: ({ pages }) => count(pages), kind: "number" },
  { head: "Items", cell: ({ distinctItems }) => count(distinctItems), kind: "number" },
  { head: "Repeats", cell: ({ duplicates }) => count(duplicates), kind: "number" },
  {
    head: "Service’s count",
    cell: ({ countBefore, countAfter }) => {
      const ends = [countBefore, countAfter].map((each) => (each === null ? "none" : count(each)));
      return [...new Set(ends)].join(", then ");
    },
    kind: "number",
  },
  { head: "Clean", cell: ({ clean, reason }) => (clean ? "yes" : html`no: ${foreign(reason ?? "")}`) },
];

export function rejectsSection({ itemsListed, itemsLoaded, itemsRejected, rejects }: Account): Markup {
  const total = rejects[0]?.total ?? 0;
  const others = total - rejects.length;
  return section(
    "rejects",
    "Loaded and rejected",
    html`<p class="lead">${counted(itemsListed, "item")} listed, ${count(itemsLoaded)} loaded, ${count(itemsRejected)} rejected.</p>
`,
    total === 0 && itemsRejected === 0
      ? html`<p class="empty">No document was rejected.</p>`
      : html`<p class="note">Each reading that failed, ${count(total)} in all. <code>content-warehouse rejects retry</code> asks the service for them again.</p>
${table("Documents that were rejected", REJECT_COLUMNS, rejects)}
${others > 0 && html`<p class="note">The other ${count(others)}, in SQL:</p>${sql(`FROM run_rejects ORDER BY reject OFFSET ${rejects.length}`)}`}`,
  );
}

const REJECT_COLUMNS: readonly Column<Reject>[] = [
  {
    head: "Item",
    cell: ({ contentId }) =>
      contentId === null ? html`<em>unknown</em>` : html`<code>${foreign(contentId)}</code>`,
    kind: "head",
  },
  { head: "Mode", cell: ({ mode }) => mode },
  { head: "Page", cell: ({ page }) => countOrEmpty(page), kind: "number" },
  { head: "Position", cell: ({ position }) => countOrEmpty(position), kind: "number" },
  { head: "Reason", cell: ({ reason }) => foreign(reason) },
];

export function requestsSection(account: Account): Markup {
  const { requests, bytes, modes } = account;
  const retries = modes.reduce((sum, mode) => sum + mode.retries, 0);
  return section(
    "requests",
    "Requests",
    html`<p class="lead">${counted(requests, "request")} answered, ${fileSize(bytes)} received, ${retries === 1 ? "1 retry" : `${count(retries)} retries`}. ${throttling(account)}</p>
`,
    modes.length > 0 && table("Requests by mode", MODE_COLUMNS, modes),
  );
}

/** Whether the service held the run back. */
function throttling({ requestsRefused, ratePerSecond }: Account): Markup {
  if (requestsRefused === 0 && ratePerSecond === null) return html`The service refused none: no throttling.`;
  const refused =
    requestsRefused === 0
      ? "The service refused none"
      : `The service refused ${counted(requestsRefused, "request")} because there were too many`;
  if (ratePerSecond === null) return html`${refused}; <code>ratePerSecond</code> sets an upper bound.`;
  const held = `the run was held to about ${ratePerSecond} requests a second`;
  return html`${refused}; ${held}${requestsRefused === 0 ? ", as the run before" : ", and the next one starts with that"}. <code>ratePerSecond</code> sets an upper bound.`;
}

const MODE_COLUMNS: readonly Column<ModeRequests>[] = [
  { head: "Mode", cell: ({ mode }) => mode, kind: "head" },
  { head: "Requests", cell: ({ requests }) => count(requests), kind: "number" },
  { head: "Retries", cell: ({ retries }) => count(retries), kind: "number" },
  sortedNumber("Received", ({ bytes }) => bytes, fileSize),
  sortedNumber("Median", ({ median }) => median, milliseconds),
  sortedNumber("Slowest", ({ slowest }) => slowest, milliseconds),
];

/** A figure that the page cannot sort by the text that it is shown as. */
function sortedNumber<T>(
  head: string,
  sort: (row: T) => number,
  shown: (figure: number) => string,
): Column<T> {
  return { head, cell: (row) => shown(sort(row)), kind: "number", sort };
}

function milliseconds(figure: number): string {
  return duration(figure / 1000);
}

export function tablesSection({ tables }: Account): Markup {
  const rows = tables.reduce((sum, each) => sum + each.rowCount, 0);
  const bytes = tables.reduce((sum, each) => sum + each.parquetBytes, 0);
  return section(
    "tables",
    "Tables",
    html`<p class="lead">${counted(rows, "row")} in ${counted(tables.length, "table")}${bytes > 0 && `, ${fileSize(bytes)} as Parquet`}. <code>content-warehouse schema</code> says what each column is.</p>
<details><summary>Rows per table</summary>
${table("Rows per table", TABLE_COLUMNS, tables)}</details>`,
  );
}

const TABLE_COLUMNS: readonly Column<TableSize>[] = [
  { head: "Table", cell: (each) => html`<code>${each.tableName}</code>`, kind: "head" },
  { head: "Rows", cell: ({ rowCount }) => count(rowCount), kind: "number" },
  sortedNumber("Parquet", ({ parquetBytes }) => parquetBytes, fileSize),
];
