/**
 * From what landed to a run that can be published: tables, checks, statement and report, and nothing that a reader sees.
 * It knows no service: whoever has the raw documents of a run builds it as it was built that night.
 */
import { readMappedCounts } from "../audit/mapping/value-counts.ts";
import { openViews, runTables } from "../audit/open-run.ts";
import { driftOf } from "../audit/questions/drift.ts";
import { findEarlierRuns } from "../audit/questions/run-history.ts";
import { readItemChanges } from "../audit/questions/run-row.ts";
import { asWarehouseError } from "../common/errors.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import { mayShow } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement, Manifest } from "../warehouse/manifest.ts";
import { listRuns } from "../warehouse/retention.ts";
import { buildTables } from "./build-tables.ts";
import type { Building } from "./context.ts";
import { transformRaw } from "./transform-raw.ts";

export type Built = Awaited<ReturnType<typeof build>>;

/** Throws what forbids to publish, such as `verify.failed` and `guard.shrink`, and what a loader throws. */
export async function build(building: Building) {
  const { loads, peak, options } = building;
  const transformed = await transformRaw(building);
  await peak.measure();
  const made = await buildTables(building, transformed);
  const { tables, statement } = made;
  const { verdict } = statement;
  if (verdict !== "limited") await loads.stage({ ...building, signal: options.signal }, tables, verdict);
  options.signal.throwIfAborted();
  const comparison = await compareWithPrevious(building, statement);
  const { changes, mappedValues } = comparison;
  const stated = { ...statement, ...(changes && { changes }), ...(mappedValues && { mappedValues }) };
  const { file, warnings } = await writeReportOf(building, stated);
  return {
    ...made,
    ...comparison,
    statement: stated,
    /** Name of the report in the run's folder; null: it has none. */
    report: file,
    warnings: [...made.warnings, ...comparison.warnings, ...warnings],
  };
}

/** Writes the report of the run. A failure is told, and takes nothing from the run. */
async function writeReportOf(
  { folder, staging, options: { log }, pipeline }: Building,
  statement: BuiltStatement,
) {
  try {
    const { writeReport, REPORT_FILE } = await import("../show/page/report.ts");
    const isWritten = await writeReport({
      result: staging.result,
      database: databaseOf(staging, publishes(pipeline, "duckdb")),
      temporaryDirectory: staging.temporary,
      manifest: statement,
      earlier: findEarlierRuns(await listRuns(folder), statement),
    });
    return { file: isWritten ? REPORT_FILE : null, warnings: [] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    log.warn(`The report of the run could not be made: ${message}`, { run: staging.run });
    const warning = `The run has no report: ${message} Make it with "content-warehouse report".`;
    return { file: null, warnings: [warning] };
  }
}

/** The run compared with the run before; no failure of that takes anything from the run. */
type Comparison = Pick<RunSummary, "previousRun" | "changes" | "mappedValues" | "drift" | "warnings">;

/** Compares the staged tables, which nobody has open. */
async function compareWithPrevious(run: Building, statement: BuiltStatement): Promise<Comparison> {
  const before = run.baseline.kind === "run" ? run.baseline : undefined;
  try {
    return await readComparison(run, statement, before);
  } catch (thrown) {
    if (before === undefined) return unread(thrown);
    // Without the run before there is still what this one says of itself.
    const alone = await readComparison(run, statement, undefined).catch(unread);
    const warning = `The run could not be compared with ${before.run}: ${asWarehouseError(thrown).message}`;
    return { ...alone, warnings: [warning, ...alone.warnings] };
  }
}

function unread(thrown: unknown): Comparison {
  const warning = `The drift of the run could not be read: ${asWarehouseError(thrown).message}`;
  return { previousRun: null, changes: null, mappedValues: null, drift: null, warnings: [warning] };
}

const MEMORY_LIMIT_MB = 128;

async function readComparison(
  { staging, pipeline }: Building,
  statement: BuiltStatement,
  before: { readonly directory: string; readonly manifest: Manifest } | undefined,
): Promise<Comparison> {
  const file = databaseOf(staging, publishes(pipeline, "duckdb"));
  await using database = await openViews({
    tables: Object.keys(statement.rows),
    source: { directory: staging.result, database: file, filesOf: () => [] },
    temporaryDirectory: staging.temporary,
    memoryLimitMb: MEMORY_LIMIT_MB,
    beside: before && runTables(before),
  });
  const { connection } = database;
  const showsBefore = before !== undefined && mayShow(before.manifest.personalData, statement.personalData);
  return {
    previousRun: before?.manifest.run ?? null,
    changes: (before && (await readItemChanges(connection, statement, before.manifest))) ?? null,
    mappedValues: (await readMappedCounts(connection, statement)) ?? null,
    drift: await driftOf({ connection, now: statement, before: before?.manifest, showsBefore }),
    warnings: [],
  };
}
