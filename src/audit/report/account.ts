/** What the run says of itself: checks, passes, tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted, fileSize } from "../../common/figures.ts";
import { MAPPED_VALUES_CHECK } from "../checks/unmatched.ts";
import { type RunCheck, readChecks } from "../questions/run-checks.ts";
import { flag, instant, integer, rowsOf } from "../rows.ts";
import { type Column, foreign, html, type Markup, table } from "./markup.ts";

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

const tableRow = z.object({ tableName: z.string(), rowCount: integer, parquetBytes: integer });
type TableSize = Readonly<z.output<typeof tableRow>>;

export interface Account extends Readonly<z.output<typeof runRow>> {
  readonly passes: readonly Pass[];
  /** IDs of destinations that only mappings name; none of the sample, whose destinations are all known. */
  readonly namelessDestinations: readonly string[];
  /** Why the configured destinations have no mapped values; null: they have, or none are configured. */
  readonly withoutMappedValues: string | null;
  /** What failed or warns first. */
  readonly checks: readonly RunCheck[];
  readonly tables: readonly TableSize[];
}

const destinationRow = z.object({ destinationId: z.string() });
const NAMELESS = `
  SELECT DISTINCT destination_id FROM destinations SEMI JOIN custom_field_mappings USING (destination_id)
  WHERE identification IS NULL ORDER BY destination_id`;

export async function readAccount(connection: DuckDBConnection): Promise<Account> {
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
  const lacking = checks.find(({ checkName }) => checkName === MAPPED_VALUES_CHECK);
  return {
    ...run,
    checks,
    namelessDestinations:
      run.instanceUrl === "sample" ? [] : nameless.map(({ destinationId }) => destinationId),
    withoutMappedValues: lacking?.verdict === "warning" ? lacking.detail : null,
    passes: await rowsOf(connection, passRow, "FROM run_passes ORDER BY pass"),
    tables: await rowsOf(connection, tableRow, "FROM run_tables ORDER BY row_count DESC, table_name"),
  };
}

export function checksSection({ checks, passes }: Account): Markup {
  const warnings = checks.filter(({ verdict }) => verdict !== "passed");
  const passed = checks.filter(({ verdict }) => verdict === "passed");
  return html`<section id="checks" aria-labelledby="checks-title">
<h2 id="checks-title">Checks</h2>
${
  warnings.length === 0
    ? html`<p class="empty">All ${counted(checks.length, "check")} passed.</p>`
    : table({ caption: "Checks that did not pass", columns: CHECK_COLUMNS, rows: warnings })
}
${
  passed.length > 0 &&
  html`<details><summary>${counted(passed.length, "check")} passed</summary>${table({ caption: "Checks that passed", columns: CHECK_COLUMNS, rows: passed })}</details>`
}
<h3>Passes over the listing</h3>
${table({ caption: "Passes over the listing", columns: PASS_COLUMNS, rows: passes })}
</section>`;
}

const CHECK_COLUMNS: readonly Column<RunCheck>[] = [
  { head: "Check", cell: ({ checkName }) => foreign(checkName), kind: "head" },
  { head: "Verdict", cell: ({ verdict }) => html`<span class="status check-${verdict}">${verdict}</span>` },
  { head: "Counted", cell: ({ figure }) => count(figure), kind: "number" },
  { head: "Expected", cell: ({ expected }) => (expected === null ? "" : count(expected)), kind: "number" },
  { head: "Detail", cell: ({ detail }) => foreign(detail ?? "") },
];

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
      return ends[0] === ends[1] ? ends[0] : ends.join(", then ");
    },
    kind: "number",
  },
  {
    head: "Clean",
    cell: ({ clean, reason }) => (clean ? "yes" : html`no: ${foreign(reason ?? "")}`),
  },
];

export function tablesSection({ tables }: Account): Markup {
  const rows = tables.reduce((sum, each) => sum + each.rowCount, 0);
  const bytes = tables.reduce((sum, each) => sum + each.parquetBytes, 0);
  return html`<section id="tables" aria-labelledby="tables-title">
<h2 id="tables-title">Tables</h2>
<p class="lead">${counted(rows, "row")} in ${counted(tables.length, "table")}${bytes > 0 && `, ${fileSize(bytes)} as Parquet`}. <code>content-warehouse schema</code> says what each column is.</p>
<details><summary>Rows per table</summary>
${table({ caption: "Rows per table", columns: TABLE_COLUMNS, rows: tables })}</details>
</section>`;
}

const TABLE_COLUMNS: readonly Column<TableSize>[] = [
  { head: "Table", cell: (each) => html`<code>${each.tableName}</code>`, kind: "head" },
  { head: "Rows", cell: ({ rowCount }) => count(rowCount), kind: "number" },
  {
    head: "Parquet",
    cell: ({ parquetBytes }) => fileSize(parquetBytes),
    kind: "number",
    sort: ({ parquetBytes }) => parquetBytes,
  },
];
