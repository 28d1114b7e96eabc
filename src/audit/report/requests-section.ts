/** What was asked of the service, and how fast it let itself be asked. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted, duration, fileSize } from "../../common/figures.ts";
import { integer, rowsOf } from "../rows.ts";
import type { Account } from "./account.ts";
import { type Column, html, type Markup, table } from "./markup.ts";

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

/** By mode, in the order in which they were asked for. */
export function readRequests(connection: DuckDBConnection): Promise<ModeRequests[]> {
  return rowsOf(
    connection,
    modeRow,
    `SELECT mode, count(*) AS requests, sum(attempts - 1) AS retries, sum(bytes) AS bytes,
       median(milliseconds) AS median, max(milliseconds) AS slowest
     FROM run_requests GROUP BY mode ORDER BY min(request)`,
  );
}

export function requestsSection(account: Account, modes: readonly ModeRequests[]): Markup {
  const retries = modes.reduce((sum, mode) => sum + mode.retries, 0);
  return html`<section id="requests" aria-labelledby="requests-title">
<h2 id="requests-title">Requests</h2>
<p class="lead">${counted(account.requests, "request")} answered, ${fileSize(account.bytes)} received, ${retries === 1 ? "1 retry" : `${count(retries)} retries`}. ${throttling(account)}</p>
${modes.length > 0 && table({ caption: "Requests by mode", columns: COLUMNS, rows: modes })}
</section>`;
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

const COLUMNS: readonly Column<ModeRequests>[] = [
  { head: "Mode", cell: ({ mode }) => mode, kind: "head" },
  { head: "Requests", cell: ({ requests }) => count(requests), kind: "number" },
  { head: "Retries", cell: ({ retries }) => count(retries), kind: "number" },
  { head: "Received", cell: ({ bytes }) => fileSize(bytes), kind: "number", sort: ({ bytes }) => bytes },
  {
    head: "Median",
    cell: ({ median }) => duration(median / 1000),
    kind: "number",
    sort: ({ median }) => median,
  },
  {
    head: "Slowest",
    cell: ({ slowest }) => duration(slowest / 1000),
    kind: "number",
    sort: ({ slowest }) => slowest,
  },
];
