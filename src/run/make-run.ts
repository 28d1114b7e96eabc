/** Makes a run: lands its documents, builds and publishes it, removes old runs, and delivers it. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { changedPolicyWarnings } from "../audit/checks/changed-policy.ts";
import { type Check, sortChecks, warningCauses, warningText } from "../audit/checks/checks.ts";
import { asWarehouseError, type WarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { clauseOf } from "../common/printable.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import type { Config } from "../config/config.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import { type RunSummary, resumeCounts } from "../observe/run-summary.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import { type Delivery, deliver, deliveryWarnings, failedDeliveries } from "../targets/deliver.ts";
import { readDeliveredRun, readFolderRuns } from "../targets/published-run.ts";
import type { PeakUse } from "../warehouse/disk.ts";
import { runsIn } from "../warehouse/layout.ts";
import { runMs } from "../warehouse/manifest.ts";
import { publishRun, unchangedFiles } from "../warehouse/publish.ts";
import { findRun, prune } from "../warehouse/retention.ts";
import { build } from "./build.ts";
import { type NewRun, type Runtime, targetsOf } from "./inputs.ts";
import { StagedLoads } from "./stage-loads.ts";

export interface RunResult {
  readonly summary: RunSummary;
  /** Failure of a loader that could not make the run visible. */
  readonly failure: WarehouseError | null;
}

interface RunDocuments {
  /** Lands the documents in the staging folder. */
  readonly land: () => Promise<RawFolder>;
  /** Run that read the documents, in a replay; `null`: the run itself. */
  readonly replayOf: string | null;
  /** Answers from before the run was resumed. */
  readonly kept: ResumeState;
  readonly peak: PeakUse;
}

type PublishSettings = Pick<Config, "limit" | "targets" | "keepRuns">;

/** Throws what keeps the run from being published. */
export async function makeRun(
  run: NewRun,
  { land, replayOf, kept, peak }: RunDocuments,
  settings: PublishSettings,
  runtime: Runtime,
): Promise<RunResult> {
  const { folder, staging, pipeline, baseline } = run;
  const { signal, onProgress, clock, log } = runtime;
  await using loads = new StagedLoads(pipeline.loaders);
  const landAndBuild = async () => {
    const landed = await land();
    return { facts: landed.facts, built: await build(run, { landed, replayOf }, { loads, peak, runtime }) };
  };
  const { facts, built } = await landAndBuild().catch((thrown: unknown) => {
    // An abort surfaces as many errors; the signal's reason is the cause.
    throw signal.aborted ? signal.reason : thrown;
  });
  signal.throwIfAborted();
  const items = facts.items.count;
  const progress = (done: number) => onProgress({ stage: "publish", done, total: 1, items, bytes: 0 });
  progress(0);
  await peak.measure();
  const texts = built.warnings.map(warningText);
  const draft = { ...built.statement, warnings: texts, peakBytes: peak.bytes };
  const manifest = await publishRun(folder, staging, draft, clock);
  // Before the commits: a loader that fails for many nights must not fill the disk.
  const pruned = await prune(folder, settings.keepRuns).catch(asWarehouseError);
  const failure = await loads.commit();
  progress(1);
  const deliveries = await deliverPublished(run, settings, runtime, items);
  const warnings = [
    ...built.warnings,
    ...(Array.isArray(pruned) ? [] : [`Old runs could not be removed: ${pruned.message}`]),
    ...(await changedPolicyWarnings(run, facts.asked.personalData.policy)),
    ...deliveryWarnings(deliveries),
  ];
  const { causes, sentences } = warningCauses({ checks: built.checks, warnings });
  const newCauses = await newWarningCauses(run, manifest.previousRun, causes, log);
  const directory = join(folder.runs, staging.run);
  const {
    files,
    asked,
    columns: _columns,
    emptyColumns: _emptyColumns,
    ancestors: _ancestors,
    ...stated
  } = manifest;
  const summary = {
    ...stated,
    pipeline: asked.pipeline.name,
    warehouse: folder.root,
    directory,
    current: { run: staging.run, publishedAt: manifest.endedAt },
    bytesPublished: files.reduce((sum, file) => sum + file.bytes, 0),
    filesPublished: files.length,
    unchanged: baseline.kind === "run" ? unchangedFiles(files, baseline.manifest.files) : null,
    comparedWith: built.comparedWith,
    drift: built.drift,
    checks: summarizeChecks(built.checks),
    report: built.report === null ? null : join(directory, built.report),
    noMappedValues: built.noMappedValues,
    milliseconds: runMs(manifest),
    resumed: resumeCounts(kept),
    removedRuns: Array.isArray(pruned) ? pruned.map((old) => old.run) : [],
    // The failure of a loader is reported every night, so it is never new.
    warnings: [...warnings.map(warningText), ...(failure === null ? [] : [failure.message])],
    newWarnings: sentences(newCauses),
    knownWarnings: new Set(causes).size - newCauses.size,
    missingBefore: built.missingBefore,
    deliveries,
    loadFailure: failure && { code: failure.code, message: failure.message },
  };
  return { summary, failure };
}

/** Delivers the published run. Does not throw, because the run stays published: a delivery says how it failed. */
async function deliverPublished(
  { folder, staging }: NewRun,
  settings: PublishSettings,
  { clock, signal, onProgress }: Runtime,
  items: number,
): Promise<readonly Delivery[]> {
  const targets = targetsOf(settings);
  if (targets.length === 0) return [];
  try {
    const delivered = await readDeliveredRun(await findRun(folder, staging.run), {
      ...(await readFolderRuns(folder)),
      temporaryDirectory: staging.temporary,
      signal,
      onProgress: (done, total) => onProgress({ stage: "deliver", done, total, items, bytes: 0 }),
    });
    return await deliver(targets, delivered, { elapsedMs: () => clock.elapsedMs(), signal });
  } catch (thrown) {
    return failedDeliveries(targets, thrown);
  }
}

/** Digests of the causes of each run. */
const causesByRun = z.record(z.string(), z.array(z.string()));

/**
 * Returns the causes that the run before did not have, and stores those of this one. A cause is the name of a check, or a
 * sentence. If they cannot be stored, all are new.
 */
async function newWarningCauses(
  { folder, staging: { run } }: Pick<NewRun, "folder" | "staging">,
  previousRun: string | null,
  causes: readonly string[],
  log: Log,
): Promise<ReadonlySet<string>> {
  const file = join(folder.root, ".warnings.json");
  // A cause may name what is erased later.
  const digestOf = (cause: string) => hash("sha256", cause);
  try {
    const stored = await readSealed(file, causesByRun);
    const kept = (await runsIn(folder)).flatMap((each) => {
      const digests = stored?.[each.run];
      return digests === undefined ? [] : [[each.run, digests] as const];
    });
    await writeSealed(file, Object.fromEntries([...kept, [run, causes.map(digestOf)]]));
    const before = new Set(stored?.[previousRun ?? ""]);
    return new Set(causes.filter((cause) => !before.has(digestOf(cause))));
  } catch (thrown) {
    log.warn(`Cannot tell which warnings are new: ${clauseOf(thrown)}.`);
    return new Set(causes);
  }
}

function summarizeChecks(checks: readonly Check[]): RunSummary["checks"] {
  const warnings = sortChecks(
    checks.filter(({ verdict }) => verdict !== "passed"),
    (check) => check,
  ).map(({ examples: _, reads: __, ...shown }) => shown);
  return { passed: checks.length - warnings.length, warnings };
}
