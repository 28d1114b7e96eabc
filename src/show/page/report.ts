/** The report of a run: answers to the questions that commands answer, in one page. The same runs give the same bytes. */
import { statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readChecks } from "../../audit/checks/checks.ts";
import { listFiles, missingTables, type OpenedRun, openViews, runTables } from "../../audit/open-run.ts";
import { readCoverage } from "../../audit/questions/coverage.ts";
import { driftOf } from "../../audit/questions/drift.ts";
import { type ReportLimits, readReportItems } from "../../audit/questions/items.ts";
import { type EarlierRuns, isHistoryIn } from "../../audit/questions/run-history.ts";
import { instanceName, type RunRow, readRunRow, SAMPLE_URL } from "../../audit/questions/run-row.ts";
import {
  checksSection,
  failingRowsOnPage,
  passesSection,
  readRejectsSection,
  requestsSection,
  type TableSize,
  tablesSection,
} from "../../audit/questions/run-sections.ts";
import { asWarehouseError } from "../../common/errors.ts";
import { duration, minuteOf } from "../../common/figures.ts";
import { awaitBoth } from "../../storage/parallel.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { changesOf } from "./changes.ts";
import { foreign, html, type Markup } from "./markup.ts";
import { overviewOf } from "./overview.ts";
import { type PagePart, pageMarkup } from "./page.ts";
import { coveragePart, driftPart, itemsPart, runsPart, SEARCH } from "./parts.ts";
import { ROWS_LIMIT } from "./table.ts";

/** Name of the report in the folder of a run. */
export const REPORT_FILE = "report.html";

/** A run whose tables are open, and those of the run before beside them, where there is one to compare with. */
export interface ReportedRun extends Pick<OpenedRun, "connection" | "connect"> {
  /** Has its Parquet files. */
  readonly directory: string;
  readonly manifest: Pick<Manifest, "rows" | "emptyColumns" | "changes">;
  readonly earlier: EarlierRuns;
}

/** The page, as HTML. Its two long parts are read beside each other: each makes tables on a connection of its own. */
export async function reportOf(run: ReportedRun, limits?: ReportLimits): Promise<string> {
  const { connection, manifest, earlier } = run;
  const account = await readRunRow(connection);
  const checks = await readChecks(connection);
  const checksBefore = earlier.before && (await readChecks(connection, "before_run_checks"));
  // The page outlives the run before, from which somebody may have been erased: it shows no value of that run.
  const before = earlier.before?.manifest;
  const drift = await driftOf({ connection, now: manifest, before, showsBefore: false });
  const other = await run.connect();
  const itemsOf = async () => {
    const changed = await changesOf(other, account, { manifest, earlier });
    return { changed, items: await readReportItems(other, isHistoryIn(manifest), limits) };
  };
  const [coverage, { changed, items }] = await awaitBoth(readCoverage(connection, {}), itemsOf());
  const { sequence, verdict, packageVersion } = account;
  const instance = await instanceName(connection, account, Object.keys(manifest.rows));
  return pageMarkup({
    name: `${instance}, run ${sequence}: ${verdict} · content-warehouse`,
    generator: `content-warehouse ${packageVersion}`,
    heading: foreign(instance),
    subtitle: subtitle(account),
    overview: overviewOf({
      account,
      checks,
      checksBefore,
      coverage,
      drift,
      changes: manifest.changes,
      changed: changed.compared,
      earlier,
      unsent: items.unsent,
    }),
    parts: [
      coveragePart(coverage, sequence),
      changed.part,
      driftPart(drift, earlier, sequence),
      await runPart(run, account, checks),
      runsPart(earlier),
      itemsPart(items),
    ],
    search: items.shown > 0 && SEARCH,
    items: items.packed,
    foot: foot(account),
  });
}

async function runPart(
  run: ReportedRun,
  account: RunRow,
  checks: Awaited<ReturnType<typeof readChecks>>,
): Promise<PagePart> {
  const { connection } = run;
  const rejects = await readRejectsSection(connection, ROWS_LIMIT);
  const sections = [
    checksSection(checks),
    failingRowsOnPage(checks, account.run),
    rejects,
    await passesSection(connection),
    await requestsSection(connection),
    tablesSection(tablesOf(run)),
  ];
  const next = rejects.rows.length === 0 ? [] : ["The next run asks the service for the rejects again."];
  return { id: "run", name: "Run", command: `runs show ${account.sequence}`, sections, next };
}

/** Beside the name of the instance; the script adds how long ago that was. */
function subtitle({ sequence, startedAt, endedAt }: RunRow): Markup {
  const took = duration((endedAt.getTime() - startedAt.getTime()) / 1000);
  return html`Run ${sequence}, <time datetime="${startedAt.toISOString()}">${minuteOf(startedAt)} UTC</time>, ${took}<span id="age"></span>`;
}

function tablesOf({ directory, manifest }: Pick<ReportedRun, "directory" | "manifest">): TableSize[] {
  return Object.entries(manifest.rows).map(([table, rows]) => {
    const bytes = parquetFiles(directory, table).map((file) => statSync(file).size);
    return { table, rows, parquet_bytes: bytes.reduce((sum, size) => sum + size, 0) };
  });
}

/** None where the run is published as DuckDB alone. */
function parquetFiles(directory: string, table: string): string[] {
  return listFiles(join(directory, "parquet", table));
}

function foot(account: RunRow): Markup {
  const { run, instanceUrl, pipeline, packageVersion, duckdbVersion, nodeVersion, personalData } = account;
  const service = instanceUrl === SAMPLE_URL ? "the sample" : foreign(instanceUrl);
  return html`Run <code>${run}</code> of ${service}, read by the pipeline ${foreign(pipeline)}. Made by content-warehouse ${packageVersion} from the tables of the run, and those of the kept runs before it (DuckDB ${duckdbVersion}, Node ${nodeVersion}). Personal data: ${personalData}; the report shows no personal columns. Times are UTC.`;
}

/** Leaves the report without a comparison, and the page says so; any other error is thrown. */
function unreadableRun(thrown: unknown): undefined {
  if (asWarehouseError(thrown).code !== "verify.failed") throw thrown;
}

/** Of the database, while a run makes its report, for two statements at a time: as much as the load before it takes. */
const MEMORY_LIMIT_MB = 200;

interface ReportRequest extends Pick<ReportedRun, "manifest" | "earlier"> {
  /** Folder that becomes that of the run; gets the report. */
  readonly result: string;
  /** Closed database with all tables of the run; undefined: their Parquet files in the result are read. */
  readonly database: string | undefined;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
}

/**
 * Writes the report of a run that is about to be published. A run whose pipeline leaves the mapped values out has
 * none: false.
 */
export async function writeReport(request: ReportRequest): Promise<boolean> {
  const { result, manifest, database, temporaryDirectory } = request;
  const file = join(result, REPORT_FILE);
  // A run that was killed may have left a part of one.
  await rm(file, { force: true });
  if (missingTables(manifest.rows).length > 0) return false;
  const own = {
    tables: Object.keys(manifest.rows),
    source: { directory: result, database, filesOf: (table: string) => parquetFiles(result, table) },
    temporaryDirectory,
    memoryLimitMb: MEMORY_LIMIT_MB,
  };
  const { before } = request.earlier;
  const both = before && (await openViews({ ...own, beside: runTables(before) }).catch(unreadableRun));
  const earlier = both === undefined ? { ...request.earlier, before: undefined } : request.earlier;
  await using tables = both ?? (await openViews(own));
  const { connection } = tables;
  const page = await reportOf({
    connection,
    connect: () => tables.connect(),
    directory: result,
    manifest,
    earlier,
  });
  try {
    await writeFile(file, page, { mode: 0o600 });
  } catch (thrown) {
    // All that is in the folder is published, so an incomplete page must not stay.
    await rm(file, { force: true });
    throw thrown;
  }
  return true;
}
