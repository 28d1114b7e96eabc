/** Builds a run that can be published from its raw documents: tables, checks, report. Nothing of it is visible yet. */
import { mappedCounts, readDestinationCounts } from "../audit/mapping/value-counts.ts";
import { openViews, runTables } from "../audit/open-run.ts";
import { driftOf } from "../audit/questions/drift.ts";
import { readItemChanges } from "../audit/questions/run-history.ts";
import { findEarlierRuns } from "../audit/questions/runs.ts";
import { asWarehouseError } from "../common/errors.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import { mayShow } from "../warehouse/baseline.ts";
import type { PeakUse } from "../warehouse/disk.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import { listRuns } from "../warehouse/retention.ts";
import { buildTables } from "./build-tables.ts";
import type { BuildSource, NewRun, Runtime } from "./inputs.ts";
import type { StagedLoads } from "./stage-loads.ts";

/** Throws what forbids publication, such as `verify.failed` and `guard.shrink`, and what a loader throws. */
export async function build(
  run: NewRun,
  source: BuildSource,
  {
    loads,
    peak,
    runtime,
  }: { readonly loads: StagedLoads; readonly peak: PeakUse; readonly runtime: Runtime },
) {
  const { signal } = runtime;
  const made = await buildTables(run, source, peak, runtime);
  const { tables, statement } = made;
  const { verdict } = statement;
  if (verdict !== "limited") await loads.stage({ ...run, signal }, tables, verdict);
  signal.throwIfAborted();
  const { changes, mappedValues, ...compared } = await compareWithPrevious(run, statement);
  const stated = { ...statement, changes, mappedValues };
  const { file, warnings } = await makeReport(run, stated);
  return {
    ...made,
    ...compared,
    statement: stated,
    /** File name of the report; `null`: the run has none. */
    report: file,
    warnings: [...made.warnings, ...compared.warnings, ...warnings],
  };
}

async function makeReport({ folder, staging, pipeline }: NewRun, statement: BuiltStatement) {
  try {
    const { writeReport } = await import("../show/page/report.ts");
    const file = await writeReport({
      result: staging.result,
      database: databaseOf(staging, publishes(pipeline, "duckdb")),
      temporaryDirectory: staging.temporary,
      manifest: statement,
      earlier: findEarlierRuns(await listRuns(folder), statement),
    });
    return { file, warnings: [] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    const warning = `The run has no report: ${message} Make it with "content-warehouse report".`;
    return { file: null, warnings: [warning] };
  }
}

/** Compares the staged tables with the run before. A failure is a warning. */
async function compareWithPrevious(
  { staging, pipeline, baseline }: NewRun,
  statement: Awaited<ReturnType<typeof buildTables>>["statement"],
): Promise<Pick<RunSummary, "comparedWith" | "changes" | "mappedValues" | "drift" | "warnings">> {
  const before = baseline.kind === "run" ? baseline : undefined;
  try {
    const file = databaseOf(staging, publishes(pipeline, "duckdb"));
    await using database = await openViews({
      tables: Object.keys(statement.rows),
      source: { directory: staging.result, database: file, filesOf: () => [] },
      temporaryDirectory: staging.temporary,
      memoryLimitMb: 128,
      beside: before && runTables(before),
    });
    const { connection } = database;
    const { manifest } = before ?? {};
    const showsBefore = manifest !== undefined && mayShow(manifest.asked, statement.asked);
    const { policy, ...drift } = await driftOf({ connection, now: statement, before: manifest, showsBefore });
    return {
      comparedWith: manifest?.run ?? null,
      changes: manifest === undefined ? null : await readItemChanges(connection, statement, manifest),
      mappedValues:
        statement.rows.content_mapped_values === undefined
          ? null
          : mappedCounts(await readDestinationCounts(connection)),
      drift: { ...drift, policyFields: policy.length },
      warnings: [],
    };
  } catch (thrown) {
    const other = before === undefined ? "the specification" : before.run;
    const warning = `The run could not be compared with ${other}: ${asWarehouseError(thrown).message}`;
    return { comparedWith: null, changes: null, mappedValues: null, drift: null, warnings: [warning] };
  }
}
