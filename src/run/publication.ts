/** From documents that land to a run that is published and delivered: it is built, and made visible. */

import { join } from "node:path";
import { checksWithoutWarning, newCheckWarnings, warningKey, warningText } from "../audit/checks/checks.ts";
import { asWarehouseError } from "../common/errors.ts";
import { collectGarbage } from "../common/gc.ts";
import { resumedOf, reusedOf, summaryOfChecks } from "../observe/run-summary.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { Landed } from "../raw/read-raw.ts";
import { deliveryWarnings } from "../targets/deliver.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { newCauses } from "../warehouse/new-warnings.ts";
import { publishRun } from "../warehouse/publish.ts";
import { prune } from "../warehouse/retention.ts";
import { unchangedSince } from "../warehouse/unchanged.ts";
import { type Built, build } from "./build.ts";
import { type PublishingRun, reportProgress } from "./context.ts";
import { deliverPublished, targetsOf, undeliveredWarnings } from "./delivery.ts";
import type { Exported } from "./observed.ts";
import { StagedLoads } from "./stage-loads.ts";

/** `land` has the documents land in the staging folder. `replayOf`: the run that read them; null: this one. */
export async function landAndPublish(
  run: PublishingRun,
  land: () => Promise<Landed>,
  replayOf: string | null,
): Promise<Exported> {
  const { folder, staging, options, pipeline, peak } = run;
  await using loads = new StagedLoads(pipeline.loaders);
  const { facts, built } = await land()
    .then(async (landed) => ({
      facts: landed.facts,
      built: await build({ ...run, landed, replayOf, loads }),
    }))
    .catch((thrown: unknown) => {
      // What was ended by the signal fails in many ways; the reason is the signal's.
      throw options.signal.aborted ? options.signal.reason : thrown;
    });
  collectGarbage();
  options.signal.throwIfAborted();
  reportProgress(run, "publish", 0, 1);
  await peak.measure();
  const stated = { ...built.statement, peakBytes: peak.bytes };
  const manifest = await publishRun(folder, staging, stated, run.clock);
  // Old runs go first: a loader that cannot commit for many nights must not fill the disk.
  const retired = await retire(run);
  const failure = await loads.commit();
  reportProgress(run, "publish", 1, 1);
  const deliveries = targetsOf(options.config).length === 0 ? [] : await deliverPublished(run);
  const { previousRun, changes, mappedValues, drift } = built;
  const warnings = [
    ...built.warnings,
    ...undeliveredWarnings(options.config, pipeline),
    ...retired.warnings,
    ...deliveryWarnings(deliveries),
  ];
  const untold = checksWithoutWarning(built);
  const found = [...warnings.map(warningKey), ...untold.map(({ name }) => name)];
  const causes = await newCauses(folder, found, options.log);
  const summary = {
    ...publishedFacts(run, facts, built, manifest),
    current: { run: manifest.run, publishedAt: manifest.endedAt },
    previousRun,
    changes,
    mappedValues,
    drift,
    report: built.report === null ? null : join(folder.runs, manifest.run, built.report),
    removedRuns: retired.removed,
    // A failure is told by itself, night after night.
    warnings: [...warnings.map(warningText), ...(failure === null ? [] : [failure.message])],
    newWarnings: [
      ...warnings.filter((each) => causes.has(warningKey(each))).map(warningText),
      ...newCheckWarnings(untold.filter(({ name }) => causes.has(name))),
    ],
    deliveries,
    loadFailure: failure && { code: failure.code, message: failure.message },
  };
  return { summary, failure };
}

/** What the summary says of the run itself. */
function publishedFacts(
  { folder, kept, baseline }: PublishingRun,
  facts: ExtractRecord,
  built: Built,
  manifest: Manifest,
) {
  return {
    run: manifest.run,
    sequence: manifest.sequence,
    pipeline: manifest.pipeline,
    replayOf: manifest.replayOf ?? null,
    verdict: manifest.verdict,
    reasons: manifest.reasons,
    modesDiffer: facts.modesDiffer,
    warehouse: folder.root,
    directory: join(folder.runs, manifest.run),
    accounting: built.accounting,
    tables: built.tables.map(({ table, rows }) => ({ name: table, rows })),
    passes: facts.passes,
    requests: facts.requests.count,
    throttled: facts.throttled,
    outages: facts.outages,
    reused: reusedOf(facts),
    resumed: resumedOf(kept),
    bytesReceived: facts.requests.bytes,
    bytesPublished: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    filesPublished: manifest.files.length,
    unchanged: baseline.kind === "run" ? unchangedSince(manifest.files, baseline.manifest.files) : null,
    checks: summaryOfChecks(built.checks),
    noMappedValues: built.noMappedValues,
    milliseconds: Date.parse(manifest.endedAt) - Date.parse(manifest.startedAt),
  };
}

/** Removes old runs. A failure to do so is told, and takes nothing from the run that was published. */
async function retire({ folder, options }: PublishingRun) {
  try {
    const removed = await prune(folder, options.config.keepRuns);
    return { removed: removed.map(({ run }) => run), warnings: [] };
  } catch (thrown) {
    return { removed: [], warnings: [`Old runs could not be removed: ${asWarehouseError(thrown).message}`] };
  }
}
