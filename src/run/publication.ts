/** From a run that has begun to one that is published: its tables, its report, and what it says of itself. */
import { join } from "node:path";
import { earlierRuns } from "../audit/questions/earlier-runs.ts";
import { asWarehouseError } from "../common/errors.ts";
import { collectGarbage } from "../common/gc.ts";
import { inStage } from "../common/run-events.ts";
import { publishes } from "../pipeline.ts";
import { deliveryWarnings } from "../targets/deliver.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { publishRun } from "../warehouse/publish.ts";
import { prune } from "../warehouse/retention.ts";
import { compareWithPrevious } from "./comparison.ts";
import { type RunContext, reportProgress } from "./context.ts";
import { deliverPublished } from "./delivery.ts";
import { buildResult, type Result } from "./finalize.ts";
import { type Published, publishedContent } from "./observed.ts";
import { runExtraction } from "./run-extraction.ts";
import { runTransform } from "./run-transform.ts";
import { StagedLoads } from "./stage-loads.ts";
import { resumedOf, summaryOfChecks } from "./summary.ts";

type ReportModule = typeof import("../show/page/report.ts");

export async function exportAndPublish(run: RunContext): Promise<Published> {
  const { folder, staging, options } = run;
  await using loads = new StagedLoads();
  const { result, report } = await buildAndStage(run, loads);
  const { warnings: uncompared, ...comparison } = await compareWithPrevious(run, result);
  const reported = await inStage(run, { stage: "report" }, () => writeReportOf(run, result, report));
  collectGarbage();
  options.signal.throwIfAborted();
  reportProgress(run, "publish", 0, 1);
  await run.peak.measure();
  const { changes, mappedValues } = comparison;
  const { bytes: peakBytes } = run.peak;
  const stated = {
    ...result.statement,
    peakBytes,
    ...(changes && { changes }),
    ...(mappedValues && { mappedValues }),
  };
  const { manifest, retired, failure } = await inStage(run, { stage: "publish" }, async () => {
    const published = await publishRun(folder, staging, stated, run.clock);
    // Old runs go first: a loader that cannot commit for many nights must not fill the disk.
    const removed = await retire(run);
    return { manifest: published, retired: removed, failure: await loads.commit() };
  });
  reportProgress(run, "publish", 1, 1);
  const deliveries =
    options.config.targets.length === 0 || failure !== null
      ? []
      : await inStage(run, { stage: "deliver" }, () => deliverPublished(run));
  const summary = {
    ...publishedFacts(run, result, manifest),
    ...comparison,
    report: reported.file === null ? null : join(folder.runs, manifest.run, reported.file),
    removedRuns: retired.removed,
    warnings: [
      ...result.warnings,
      ...uncompared,
      ...reported.warnings,
      ...retired.warnings,
      ...(failure === null ? [] : [failure.message]),
      ...deliveryWarnings(deliveries),
    ],
    deliveries,
  };
  return { summary, content: publishedContent(run, result, manifest), failure };
}

/** Makes the tables, and has the loaders stage them: nothing is visible yet. */
async function buildAndStage(
  run: RunContext,
  loads: StagedLoads,
): Promise<{ result: Result; report: Promise<ReportModule> }> {
  const { signal } = run.options;
  try {
    const extracted = await runExtraction(run);
    const transformed = await inStage(run, { stage: "transform" }, () => runTransform(run, extracted));
    await run.peak.measure();
    // Loaded while the tables are: it takes a fifth of a second. Where that fails, it is told when it is waited for.
    const report = import("../show/page/report.ts");
    report.catch(() => {});
    const result = await buildResult(run, extracted, transformed);
    await loads.stage(run, result.tables, result.statement.verdict);
    signal.throwIfAborted();
    return { result, report };
  } catch (thrown) {
    // What was ended by the signal fails in many ways; the reason is the signal's.
    throw signal.aborted ? signal.reason : thrown;
  }
}

/** What the summary says of the run itself. */
function publishedFacts(run: RunContext, result: Result, manifest: Manifest) {
  const { folder, journal, throttle, outage } = run;
  return {
    run: manifest.run,
    sequence: manifest.sequence,
    pipeline: manifest.pipeline,
    verdict: manifest.verdict,
    reasons: manifest.reasons,
    modesDiffer: result.modesDiffer,
    warehouse: folder.root,
    directory: join(folder.runs, manifest.run),
    accounting: result.accounting,
    tables: result.tables.map(({ table, rows }) => ({ name: table, rows })),
    passes: result.passes,
    requests: journal.requests.size,
    throttled: throttle.learned,
    outages: outage.totals,
    resumed: resumedOf(run.resumed),
    bytesReceived: journal.requests.bytes,
    bytesPublished: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    checks: summaryOfChecks(result.checks),
    noMappedValues: result.noMappedValues,
    namelessDestinations: result.namelessDestinations,
    milliseconds: Date.parse(manifest.endedAt) - Date.parse(manifest.startedAt),
  };
}

/** Writes the report of the run; `file`: its name, null without one. A failure is told, and takes nothing from the run. */
async function writeReportOf(
  { folder, staging, options, pipeline }: RunContext,
  { statement }: Result,
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
    options.log.warn(`The report of the run could not be made: ${message}`, { run: staging.run });
    const warning = `The run has no report: ${message} Make it with "content-warehouse report".`;
    return { file: null, warnings: [warning] };
  }
}

/** Removes old runs. A failure to do so is told, and takes nothing from the run that was published. */
async function retire({ folder, options }: RunContext) {
  try {
    const removed = await prune(folder, options.config.keepRuns);
    return { removed: removed.map(({ run }) => run), warnings: [] };
  } catch (thrown) {
    return { removed: [], warnings: [`Old runs could not be removed: ${asWarehouseError(thrown).message}`] };
  }
}
