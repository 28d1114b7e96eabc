/**
 * From what landed to a run that can be published: tables, checks, statement and report, and nothing that a reader sees.
 * It knows no service and no checkpoint: whoever has the raw documents of a run builds it as it was built that night.
 */
import type { GateSettings } from "../audit/checks/publish-gates.ts";
import { earlierRuns } from "../audit/report/earlier-runs.ts";
import { asWarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import { inStage, type Telling } from "../common/run-events.ts";
import type { PreviousHistory } from "../load/history-previous.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import type { Landed } from "../raw/read-raw.ts";
import type { Before } from "../warehouse/baseline.ts";
import { databaseOf, type OutputFolder, type StagingFolder } from "../warehouse/layout.ts";
import type { ManifestDraft } from "../warehouse/manifest.ts";
import { buildTables, type TablesBuilt } from "./build-tables.ts";
import { type Comparison, compareWithPrevious } from "./comparison.ts";
import type { StagedLoads } from "./stage-loads.ts";
import { transformRaw } from "./transform-raw.ts";

/** A run whose documents have landed. `onEvent` is told of the stages; the run ends by `clock`. */
export interface Building extends Telling {
  /** Whose the run is: only its other runs are looked at, for the report. */
  readonly folder: OutputFolder;
  /** Of the run, which its name is; holds its folder `raw`. */
  readonly staging: StagingFolder;
  readonly landed: Landed;
  readonly pipeline: Pipeline;
  /** Of its module; undefined: functions of its tables run on this thread. */
  readonly pipelineUrl: string | undefined;
  /** The run that this one is held against. */
  readonly before: Before;
  /** What is carried on of its history. */
  readonly history: PreviousHistory;
  /** What keeps the run from being published; the landed facts say what of it was accepted. */
  readonly gates: GateSettings;
  /** Of the loaders that are to stage the run. */
  readonly loads: StagedLoads;
  readonly threads: number;
  readonly nodeVersion: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  readonly log: Log;
  /** Called where the staging folder holds most. */
  readonly measure: () => Promise<void>;
}

export interface Built extends TablesBuilt, Comparison {
  /** Name of the report in the run's folder; null: it has none. */
  readonly report: string | null;
}

type ReportModule = typeof import("../audit/report/report.ts");

/** Throws what forbids to publish, such as `verify.failed` and `guard.shrink`, and what a loader throws. */
export async function build(building: Building): Promise<Built> {
  const { staging, pipeline, signal, loads } = building;
  const transformed = await inStage(building, { stage: "transform" }, () => transformRaw(building));
  await building.measure();
  // Loaded while the tables are: it takes a fifth of a second. Where that fails, it is told when it is waited for.
  const report = import("../audit/report/report.ts");
  report.catch(() => {});
  const made = await buildTables(building, transformed);
  const { tables, statement } = made;
  await loads.stage({ staging, pipeline, signal, tables, verdict: statement.verdict });
  signal.throwIfAborted();
  const comparison = await compareWithPrevious(building, statement);
  const { changes, mappedValues } = comparison;
  const { file, warnings } = await inStage(building, { stage: "report" }, () =>
    writeReportOf(building, statement, report),
  );
  return {
    ...made,
    ...comparison,
    statement: { ...statement, ...(changes && { changes }), ...(mappedValues && { mappedValues }) },
    report: file,
    warnings: [...made.warnings, ...comparison.warnings, ...warnings],
  };
}

/** Writes the report of the run. A failure is told, and takes nothing from the run. */
async function writeReportOf(
  { folder, staging, log, pipeline }: Building,
  statement: ManifestDraft,
  report: Promise<ReportModule>,
) {
  try {
    const { writeReport, REPORT_FILE } = await report;
    const isWritten = await writeReport({
      result: staging.result,
      database: databaseOf(staging, publishes(pipeline, "duckdb")),
      temporaryDirectory: staging.temporary,
      rows: statement.rows,
      emptyColumns: statement.emptyColumns,
      earlier: await earlierRuns(folder, statement),
    });
    return { file: isWritten ? REPORT_FILE : null, warnings: [] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    log.warn(`The report of the run could not be made: ${message}`, { run: staging.run });
    const warning = `The run has no report: ${message} Make it with "content-warehouse report".`;
    return { file: null, warnings: [warning] };
  }
}
