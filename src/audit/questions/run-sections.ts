/** Answers `runs show`: the facts of one run, and from its own tables checks, passes, rejects, requests and tables. */
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import {
  type Answer,
  type AnswerRow,
  col,
  FACT_COLUMNS,
  type Section,
  section,
} from "../../common/answer.ts";
import { count, duration, fileSize, megabytes, minuteOf, pluralize } from "../../common/figures.ts";
import { parseExact } from "../../common/json.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { isRunTable } from "../../tables/all.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { runBefore, unchangedFiles } from "../../warehouse/publish.ts";
import { CHECK_COLUMNS, DIFFERENT_TIMES, type RunCheck, readChecks, TEST_PREFIX } from "../checks/checks.ts";
import { countWithoutValue, valuesText } from "../mapping/value-counts.ts";
import type { ReadableRun } from "../open-run.ts";
import { runListRow } from "./runs.ts";

const required = { required: true } as const;

/** Shows one run. `connection`: has its tables; undefined if it has no tables about the run. */
export async function runAnswer(
  found: ReadableRun,
  connection: DuckDBConnection | undefined,
): Promise<Answer> {
  const { manifest, directory } = found;
  const { files } = manifest;
  const before = await runBefore(dirname(directory), manifest);
  const same = before && unchangedFiles(files, before.manifest.files);
  const tables = Object.entries(manifest.rows).map(([table, rows]) => {
    const ofTable = files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
    return { table, rows, parquet_bytes: ofTable.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
  return {
    lead: "",
    facts: figuresOf(found, same),
    sections: [
      aboutSection(found, same),
      ...(connection === undefined ? [tablesSection(tables)] : await readRunSections(connection, tables)),
    ],
  };
}

/** Facts of the run for programs. `same`: files as in the run before, if that is kept. */
function figuresOf(
  { run, manifest, current }: ReadableRun,
  same: ReturnType<typeof unchangedFiles> | undefined,
): Answer["facts"] {
  const { sequence, asked, found, instance, verdict, endedAt, versions } = manifest;
  const { items, changes, mappedValues, previousRun, replayOf, files } = manifest;
  const { policy, keyId } = asked.personalData;
  const { took_ms, size_bytes } = runListRow({ run, sequence }, manifest, "");
  return {
    run,
    sequence,
    current,
    pipeline: asked.pipeline.name,
    service: { url: instance.origin, instance: instance.id },
    startedAt: found.startedAt,
    endedAt,
    milliseconds: took_ms,
    verdict,
    items,
    changes,
    mappedValues:
      mappedValues === null
        ? null
        : Object.assign({ mapped: 0, withoutExternalValue: countWithoutValue(mappedValues) }, mappedValues),
    previousRun,
    replayOf,
    personalData: { policy, keyId },
    versions,
    bytes: size_bytes,
    files: files.length,
    unchanged: same === undefined ? null : { ...same },
  };
}

function aboutSection(
  { run, directory, manifest, current }: ReadableRun,
  same: ReturnType<typeof unchangedFiles> | undefined,
): Section {
  const { asked, found, instance, verdict, versions, previousRun } = manifest;
  const { items, mappedValues, mappedChanges, replayOf } = manifest;
  const { outages } = found;
  const page = manifest.files.find(({ path }) => path.endsWith(".html"));
  const { policy, keyId } = asked.personalData;
  const { change, took_ms, size_bytes } = runListRow({ run, sequence: manifest.sequence }, manifest, "");
  const took = duration((took_ms ?? 0) / 1000);
  const { listed, loaded, rejected, vanished, unread } = items;
  const rest = [vanished > 0 && `${count(vanished)} vanished`, unread > 0 && `${count(unread)} unread`];
  const counts = [
    `${count(listed)} listed`,
    `${count(loaded)} loaded`,
    `${count(rejected)} rejected`,
    ...rest,
  ];
  const unchanged =
    same === undefined ? "" : `; ${count(same.files)} of them, ${fileSize(same.bytes)}, as in the run before`;
  const size = `${fileSize(size_bytes ?? 0)} in ${pluralize(manifest.files.length, "file")}${unchanged}`;
  const lines: ([string, string] | false)[] = [
    ["Run", current ? `${run} (current)` : run],
    ["Pipeline", asked.pipeline.name],
    ["Service", instance.id === null ? instance.origin : `${instance.origin}, instance ${instance.id}`],
    ["Started", `${minuteOf(new Date(found.startedAt))} UTC, took ${took}`],
    ["Folder", directory],
    ["Verdict", [verdict, ...manifest.reasons].join("; ")],
    ["Evidence", evidenceText(manifest)],
    ["Items", counts.filter((text) => text !== false).join(", ")],
    change !== null && ["Change", change],
    mappedValues !== null && ["Values", valuesText(mappedValues)],
    mappedChanges !== null && [
      "Lost",
      `${pluralize(mappedChanges.lost, "value")}; ${count(mappedChanges.gained)} gained`,
    ],
    ["Rows", rowsText(manifest)],
    replayOf === null && ["Requests", requestsText(manifest)],
    found.resumedAt.length > 0 && ["Resumed", found.resumedAt.join(", ")],
    outages !== null && [
      "Outages",
      `${count(outages.count)}; the run waited ${duration(outages.seconds)} in all`,
    ],
    ["Before it", previousRun ?? "no run"],
    replayOf !== null && ["Replay of", replayOf],
    ["Personal data", policy + (keyId === null ? "" : `, key ${keyId}`)],
    ["Made by", `content-warehouse ${versions.package}, DuckDB ${versions.duckdb}, Node ${versions.node}`],
    ["Size", size],
    page !== undefined && ["Page", join(directory, page.path)],
    ...manifest.warnings.map((text): [string, string] => ["Warning", text]),
  ];
  const rows = lines.filter((line) => line !== false).map(([name, text]) => ({ name, text, notable: false }));
  return section({ key: "about", title: "Run", columns: FACT_COLUMNS, rows, isLines: true });
}

/** `two passes agree: dynamic 500 items, full 500 items; the service counts 500`. */
function evidenceText({ verdict, found: { passes, modesDiffer }, items }: Manifest): string {
  const complete = verdict === "complete";
  const agree = {
    complete: passes.length > 2 ? `of ${passes.length} passes the last two agree` : "two passes agree",
    unsettled: "the answers do not agree",
    limited: "not certified",
  }[verdict];
  const told = complete ? passes.slice(-2) : passes;
  const seen = told.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
  const times = complete && modesDiffer ? `; ${DIFFERENT_TIMES}` : "";
  return `${agree}: ${seen}; the service counts ${count(items.counted)}${times}`;
}

function rowsText({ rows }: Manifest): string {
  const data = Object.entries(rows)
    .filter(([table]) => !isRunTable(table))
    .toSorted(([, a], [, b]) => b - a);
  const total = data.reduce((sum, [, number]) => sum + number, 0);
  const named = data.slice(0, 3).map(([table, number]) => `${table} ${count(number)}`);
  return `${count(total)} in ${pluralize(data.length, "table")} of data; most in ${named.join(", ")}`;
}

function requestsText({ found: { requests, singleItems, throttled } }: Manifest): string {
  const refused = throttled === null ? "" : `, ${count(throttled.refused)} refused for their rate`;
  const received = `${count(requests.count)}${refused}, ${megabytes(requests.bytes)} received`;
  if (singleItems.reused === 0) return received;
  return `${received}; single items: ${count(singleItems.reused)} unchanged, not requested again, ${count(singleItems.requested)} requested`;
}

/** Sections of a run from its own tables, for `runs show` or for a page. */
export async function readRunSections(
  connection: DuckDBConnection,
  tables: readonly AnswerRow<typeof TABLES>[],
  isPage = false,
): Promise<Section[]> {
  const checks = await readChecks(connection);
  return [
    checksSection(checks),
    failingRowsSection(checks, isPage),
    await passesSection(connection),
    await requestsSection(connection),
    tablesSection(tables),
  ];
}

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

async function passesSection(connection: DuckDBConnection): Promise<Section> {
  return section({
    key: "passes",
    title: "Passes over the listing",
    columns: PASSES,
    rows: await readRows(connection, PASSES, "FROM run_passes ORDER BY pass"),
    limit: 100,
  });
}

/** A screen shows only checks that did not pass. */
function checksSection(checks: readonly RunCheck[]): Section {
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

/**
 * Up to three rows behind each check, in the order of the checks. A page has none of tests: a query may read personal
 * data, or data that only the run before has.
 */
function failingRowsSection(checks: readonly RunCheck[], isPage: boolean): Section {
  const shown = checks.filter(({ check_name: name }) => !isPage || !name.startsWith(TEST_PREFIX));
  const rows = shown.flatMap(({ check_name, figure, examples }) => {
    const some = parseExact(examples ?? "[]");
    return (Array.isArray(some) ? some : []).map((row) => ({
      check_name,
      counted: figure,
      row: JSON.stringify(row),
    }));
  });
  const elsewhere = isPage ? " Rows that tests count are only in the answer of runs show." : "";
  const lead = `Up to three of the rows behind each figure, by their keys or as the query of a test gives them; long texts are cut.${elsewhere}`;
  return section({
    key: "failing_rows",
    title: "Failing rows",
    lead: rows.length === 0 ? undefined : lead,
    none: isPage ? `none.${elsewhere}` : "",
    columns: FAILING_ROWS,
    rows,
    limit: rows.length,
  });
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

async function requestsSection(connection: DuckDBConnection): Promise<Section> {
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

function tablesSection(tables: readonly AnswerRow<typeof TABLES>[]): Section {
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
