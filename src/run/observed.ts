/** A run with its observers: what they are told of its start and its end. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import type { Config } from "../config/config.ts";
import type { PublishedContent, StartedRun } from "../observe/observer.ts";
import { type Observers, openObservers } from "../observe/observers.ts";
import { exitCodeOf } from "../observe/outcome.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import type { ObserveSettings } from "../observe/settings.ts";
import { RUN_TABLES } from "../tables/all.ts";
import { outputFolder } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { newCauses } from "../warehouse/new-warnings.ts";
import { listRuns } from "../warehouse/retention.ts";
import type { Built } from "./build.ts";
import type { RunContext, RunOptions } from "./context.ts";
import { originOf } from "./source.ts";

/** A run that is published. */
export interface Exported {
  readonly summary: RunSummary;
  /** Of a loader that could not make the run visible. */
  readonly failure: WarehouseError | null;
}

export interface Published extends Exported {
  readonly content: PublishedContent;
}

/** What watches the nights must not take a limited run for one of them. */
const UNOBSERVED: ObserveSettings = { onFinish: null, metricsFile: null, openLineage: null };

/**
 * Makes a run, and tells the observers that the configuration names how it ended, unless it is limited. Throws what the
 * run throws.
 */
export async function observed(
  { config, clock, log, signal, outSince = null, isQuiet = false }: RunOptions,
  run: (observers: Observers) => Promise<Published>,
): Promise<Exported> {
  const { limit, observe, warehouse } = config;
  const settings = limit === null ? observe : UNOBSERVED;
  const observers = await openObservers({ settings, warehouse, clock, log, outSince });
  let published: Published;
  try {
    published = await run(observers);
  } catch (thrown) {
    const error = failureOf(thrown, { config, signal });
    for (const warning of await observers.failed(error, await shownIn(warehouse))) log.warn(warning);
    throw error;
  }
  const { summary, content, failure } = published;
  const warnings = await observers.published(summary, content, exitCodeOf(summary));
  const found = { of: "observers", causes: warnings } as const;
  const causes = limit === null ? await newCauses(outputFolder(warehouse), found, log) : new Set(warnings);
  for (const warning of warnings) if (!isQuiet || causes.has(warning)) log.warn(warning);
  return { summary, failure };
}

/** The run that readers see, whatever became of the one that failed. */
async function shownIn(warehouse: string): Promise<RunSummary["current"] | null> {
  // A folder that cannot be read is what the run failed by, or the next one does.
  const runs = await listRuns(outputFolder(warehouse)).catch(() => []);
  const shown = runs.find(({ current }) => current);
  if (shown === undefined) return null;
  const { run, manifest, pinnedSince } = shown;
  const publishedAt = manifest instanceof WarehouseError ? null : manifest.endedAt;
  return { run, publishedAt, pinnedSince: pinnedSince?.toISOString() ?? null };
}

/** What an ended run leaves behind, for its message. */
export function leftOf({ limit }: Pick<Config, "limit">): string {
  return limit === null
    ? "nothing was published, and a rerun goes on from what was read"
    : "nothing was published";
}

/** A run that was ended by its caller's signal says so, whatever the reason of the signal is. */
function failureOf(
  thrown: unknown,
  { config, signal }: Pick<RunOptions, "config" | "signal">,
): WarehouseError {
  const { reason } = signal;
  if (thrown !== reason || thrown instanceof WarehouseError) return asWarehouseError(thrown);
  return new WarehouseError("run.interrupted", `The run was ended by its caller; ${leftOf(config)}.`, {
    cause: thrown,
  });
}

export function startedRun({ staging, pipeline, options, folder, resumeRecord }: RunContext): StartedRun {
  return {
    run: staging.run,
    pipeline: pipeline.name,
    description: pipeline.description,
    instance: originOf(options.config),
    warehouse: folder.root,
    startedMs: resumeRecord.resumedMs.at(-1) ?? resumeRecord.startedMs,
    personalData: options.config.personalData.policy,
    publishes: pipeline.loaders.flatMap(({ publishes }) => publishes ?? []),
  };
}

export function publishedContent(
  { pipeline }: RunContext,
  { tables, checks }: Built,
  { files }: Manifest,
): PublishedContent {
  const bytesOf = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const declared = new Map([...pipeline.tables, ...RUN_TABLES].map((table) => [table.name, table]));
  const published = tables.flatMap(({ table: name, rows, files: own }) => {
    const table = declared.get(name);
    if (table === undefined) return [];
    const sizes = own.flatMap(({ path }) => bytesOf.get(path) ?? []);
    return [{ table, rows, files: sizes.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) }];
  });
  return { tables: published, checks };
}
