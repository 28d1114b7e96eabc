/** A run that is about to be published, compared with the run before; no failure of it takes anything from the run. */

import { readMappedCounts } from "../audit/mapping/value-counts.ts";
import { openViews, viewed } from "../audit/open-run.ts";
import { driftOf } from "../audit/questions/drift.ts";
import { readItemChanges } from "../audit/questions/run-changes.ts";
import { asWarehouseError } from "../common/errors.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import { type Before, mayShow } from "../warehouse/baseline.ts";
import { databaseOf, type StagingFolder } from "../warehouse/layout.ts";
import type { Manifest, ManifestDraft } from "../warehouse/manifest.ts";

export type Comparison = Pick<RunSummary, "previousRun" | "changes" | "mappedValues" | "drift" | "warnings">;

interface Compared {
  readonly staging: StagingFolder;
  readonly pipeline: Pipeline;
  readonly before: Before;
}

/** Compares the staged tables, which nobody has open. */
export async function compareWithPrevious(run: Compared, statement: ManifestDraft): Promise<Comparison> {
  const before = run.before.kind === "run" ? run.before : undefined;
  try {
    const compared = await read(run, statement, before);
    return run.before.kind === "pruned" ? { ...compared, changes: run.before.changes ?? null } : compared;
  } catch (thrown) {
    if (before === undefined) return unread(thrown);
    // Without the run before there is still what this one says of itself.
    const alone = await read(run, statement, undefined).catch(unread);
    const warning = `The run could not be compared with ${before.run}: ${asWarehouseError(thrown).message}`;
    return { ...alone, warnings: [warning, ...alone.warnings] };
  }
}

function unread(thrown: unknown): Comparison {
  const warning = `The drift of the run could not be read: ${asWarehouseError(thrown).message}`;
  return { previousRun: null, changes: null, mappedValues: null, drift: null, warnings: [warning] };
}

const MEMORY_LIMIT_MB = 128;

async function read(
  { staging, pipeline }: Compared,
  statement: ManifestDraft,
  before: { readonly directory: string; readonly manifest: Manifest } | undefined,
): Promise<Comparison> {
  const file = databaseOf(staging, publishes(pipeline, "duckdb"));
  await using database = await openViews({
    tables: Object.keys(statement.rows),
    source: { directory: staging.result, database: file, filesOf: () => [] },
    temporaryDirectory: staging.temporary,
    memoryLimitMb: MEMORY_LIMIT_MB,
    beside: before && viewed(before),
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
