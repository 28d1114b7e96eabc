/** Sections about one run, from its own tables: passes, checks, rejects, requests, tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { count, fileSize, pluralize } from "../../common/figures.ts";
import { parseExact } from "../../common/json.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { CHECK_COLUMNS, type RunCheck, TEST_PREFIX } from "../checks/checks.ts";

const required = { required: true } as const;

const PASSES = {
  pass: col.count(required),
  mode: col.name(required),
  pages: col.count(required),
  distinct_items: col.count({ ...required, head: "items" }),
  duplicates: col.count({ ...required, head: "repeats", dispensable: 1 }),
  count_before: col.count({ dispensable: 3 }),
  count_after: col.count({ dispensable: 2 }),
  clean: col.flag(required),
  reason: col.text(),
} as const;

export async function passesSection(connection: DuckDBConnection): Promise<Section> {
  return section({
    key: "passes",
    title: "Passes over the listing",
    columns: PASSES,
    rows: await readRows(connection, PASSES, "FROM run_passes ORDER BY pass"),
    limit: 100,
  });
}

/** A screen shows only checks that did not pass. */
export function checksSection(checks: readonly RunCheck[]): Section {
  const poor = checks.filter(({ verdict }) => verdict !== "passed").length;
  const passed = checks.length - poor;
  return section({
    key: "checks",
    title: "Checks",
    lead:
      poor === 0
        ? `All ${pluralize(passed, "check")} passed.`
        : `${pluralize(passed, "check")} passed; \`runs show --section checks --format csv\` lists them. Not passed:`,
    columns: CHECK_COLUMNS,
    rows: checks,
    total: poor,
    limit: poor,
  });
}

const FAILING_ROWS = {
  check_name: col.text({ ...required, head: "check" }),
  counted: col.count({ ...required, dispensable: 1 }),
  row: col.text(required),
} as const;

/** Up to three rows behind each check, in the order of the checks. */
export function failingRowsSection(checks: readonly RunCheck[]): Section {
  const rows = checks.flatMap(({ check_name, figure, examples }) => {
    const some = parseExact(examples ?? "[]");
    return (Array.isArray(some) ? some : []).map((row) => ({
      check_name,
      counted: figure,
      row: JSON.stringify(row),
    }));
  });
  const lead =
    "Up to three of the rows behind each figure, by their keys or as the query of a test gives them; long texts are cut.";
  return section({
    key: "failing_rows",
    title: "Failing rows",
    lead: rows.length === 0 ? undefined : lead,
    none: "",
    columns: FAILING_ROWS,
    rows,
    limit: rows.length,
  });
}

/**
 * The same for the report, without rows of tests: a query may read personal data, or data that only the run
 * before has.
 */
export function failingRowsOnPage(checks: readonly RunCheck[], run: string): Section {
  const isTest = ({ check_name: name }: RunCheck) => name.startsWith(TEST_PREFIX);
  const all = failingRowsSection(checks.filter((check) => !isTest(check)));
  const withRows = checks.filter((check) => isTest(check) && check.examples !== null).length;
  if (withRows === 0) return { ...all, none: "no check counts a row." };
  const whose = withRows === 1 ? "a test" : `${count(withRows)} tests`;
  const elsewhere = `${whose} of the pipeline found rows that are not on this page; \`content-warehouse runs show ${run}\` lists them.`;
  const lead = `${all.lead} Besides, ${elsewhere}`;
  return { ...all, none: `None of the checks of the package; ${elsewhere}`, lead };
}

const REJECTS = {
  reject: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  position: col.count(),
  content_id: col.name({ head: "item" }),
  reason: col.text(required),
  document: col.text({ hidden: true }),
  sha256: col.text({ hidden: true }),
} as const;
/** Reads the first rejects, at most `limit`, and their number. */
export async function readRejectsSection(connection: DuckDBConnection, limit: number): Promise<Section> {
  const columns = { ...REJECTS, total: col.count({ ...required, hidden: true }) } as const;
  const sql = "SELECT *, count(*) OVER () AS total FROM run_rejects ORDER BY reject LIMIT $1";
  const rows = await readRows(connection, columns, sql, [limit]);
  return section({
    key: "rejects",
    title: "Rejects",
    lead:
      rows.length === 0 ? undefined : "Each document, or item asked for singly, that could not be loaded.",
    columns: REJECTS,
    rows,
    total: rows[0]?.total ?? 0,
    limit: 100,
  });
}

const REQUESTS = {
  mode: col.text(required),
  requests: col.count(required),
  /** Attempts after the first. */
  retries: col.count(required),
  bytes: col.bytes({ ...required, head: "received" }),
  median: col.milliseconds(required),
  slowest: col.milliseconds(required),
} as const;

const BY_MODE = `
  SELECT mode, count(*) AS requests, sum(attempts - 1)::BIGINT AS retries, sum(bytes)::BIGINT AS bytes,
    median(milliseconds) AS median, max(milliseconds) AS slowest
  FROM run_requests GROUP BY mode ORDER BY min(request)`;

const THROTTLED = { requests_refused: col.count(required), rate_per_second: col.share() } as const;

export async function requestsSection(connection: DuckDBConnection): Promise<Section> {
  const rows = await readRows(connection, REQUESTS, BY_MODE);
  const [held] = await readRows(connection, THROTTLED, "FROM run");
  const sum = (name: "requests" | "retries" | "bytes") => rows.reduce((total, row) => total + row[name], 0);
  const retries = sum("retries");
  const retried = retries === 1 ? "1 retry" : `${count(retries)} retries`;
  const asked = `${pluralize(sum("requests"), "request")} answered, ${fileSize(sum("bytes"))} received, ${retried}.`;
  return section({
    key: "requests",
    title: "Requests",
    lead: `${asked} ${throttling(held?.requests_refused ?? 0, held?.rate_per_second ?? null)}`,
    columns: REQUESTS,
    rows,
  });
}

/** Whether the service throttled the run. */
function throttling(refused: number, ratePerSecond: number | null): string {
  if (refused === 0 && ratePerSecond === null) return "The service refused none: no throttling.";
  const limited =
    ratePerSecond === null ? "" : `; the run was limited to about ${ratePerSecond} requests a second`;
  const refusals = refused === 0 ? "none" : `${pluralize(refused, "request")} because there were too many`;
  return `The service refused ${refusals}${limited}. \`ratePerSecond\` sets an upper bound.`;
}

const TABLES = {
  table: col.text(required),
  rows: col.count(required),
  parquet_bytes: col.bytes({ ...required, head: "Parquet" }),
} as const;

export function tablesSection(tables: readonly AnswerRow<typeof TABLES>[]): Section {
  const sum = (name: "rows" | "parquet_bytes") => tables.reduce((total, each) => total + each[name], 0);
  const bytes = sum("parquet_bytes");
  const size = bytes > 0 ? `, ${fileSize(bytes)} as Parquet` : "";
  return section({
    key: "tables",
    title: "Tables",
    lead: `${pluralize(sum("rows"), "row")} in ${pluralize(tables.length, "table")}${size}.`,
    columns: TABLES,
    rows: tables,
    limit: 200,
  });
}
