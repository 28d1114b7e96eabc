/** Builds a run that can be published from its raw documents: tables, checks, report. Nothing of it is visible yet. */
import { findEarlierRuns } from "../audit/questions/runs.ts";
import { asWarehouseError } from "../common/errors.ts";
import { publishes } from "../pipeline.ts";
import type { PeakUse } from "../warehouse/disk.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import { listRuns } from "../warehouse/retention.ts";
import { buildTables } from "./build-tables.ts";
import { compareWithPrevious } from "./compare.ts";
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
    // Both comparisons may fail, and say the same.
    warnings: [...new Set([...made.warnings, ...compared.warnings, ...warnings])],
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
