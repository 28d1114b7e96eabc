/**
 * From what landed to a run that can be published: tables, checks, statement and report, and nothing that a reader sees.
 * It knows no service and no checkpoint: whoever has the raw documents of a run builds it as it was built that night.
 */
import { earlierRuns } from "../audit/questions/earlier-runs.ts";
import { asWarehouseError } from "../common/errors.ts";
import { inStage } from "../common/run-events.ts";
import { publishes } from "../pipeline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { ManifestDraft } from "../warehouse/manifest.ts";
import { buildTables, type TablesBuilt } from "./build-tables.ts";
import type { Building } from "./building.ts";
import { type Comparison, compareWithPrevious } from "./comparison.ts";
import { transformRaw } from "./transform-raw.ts";

export interface Built extends Omit<Comparison, "warnings">, TablesBuilt {
  /** Name of the report in the run's folder; null: it has none. */
  readonly report: string | null;
}

/** Throws what forbids to publish, such as `verify.failed` and `guard.shrink`, and what a loader throws. */
export async function build(building: Building): Promise<Built> {
  const { staging, pipeline, signal, loads } = building;
  const transformed = await inStage(building, { stage: "transform" }, () => transformRaw(building));
  await building.measure();
  const made = await buildTables(building, transformed);
  const { tables, statement } = made;
  const { verdict } = statement;
  if (verdict !== "limited") await loads.stage({ staging, pipeline, signal, tables, verdict });
  signal.throwIfAborted();
  const comparison = await compareWithPrevious(building, statement);
  const { changes, mappedValues } = comparison;
  const { file, warnings } = await inStage(building, { stage: "report" }, () =>
    writeReportOf(building, statement),
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
async function writeReportOf({ runs, staging, log, pipeline }: Building, statement: ManifestDraft) {
  try {
    const { writeReport, REPORT_FILE } = await import("../show/page/report.ts");
    const isWritten = await writeReport({
      result: staging.result,
      database: databaseOf(staging, publishes(pipeline, "duckdb")),
      temporaryDirectory: staging.temporary,
      rows: statement.rows,
      emptyColumns: statement.emptyColumns,
      earlier: earlierRuns(await runs(), statement),
    });
    return { file: isWritten ? REPORT_FILE : null, warnings: [] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    log.warn(`The report of the run could not be made: ${message}`, { run: staging.run });
    const warning = `The run has no report: ${message} Make it with "content-warehouse report".`;
    return { file: null, warnings: [warning] };
  }
}
