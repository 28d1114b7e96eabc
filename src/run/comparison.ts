/** A run that is about to be published, compared with the run before; no failure of it takes anything from the run. */
import { openViews, viewed } from "../audit/open-run.ts";
import { driftOf } from "../audit/questions/drift.ts";
import { readItemChanges, readMappedCounts } from "../audit/questions/run-changes.ts";
import { asWarehouseError } from "../common/errors.ts";
import { publishes } from "../pipeline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import type { RunContext } from "./context.ts";
import type { Result } from "./finalize.ts";
import type { RunSummary } from "./summary.ts";

export type Comparison = Pick<RunSummary, "previousRun" | "changes" | "mappedValues" | "drift" | "warnings">;

/** Compares the staged tables, which nobody has open. */
export async function compareWithPrevious(run: RunContext, result: Result): Promise<Comparison> {
  const { baseline } = run;
  const before = baseline.kind === "run" ? baseline : undefined;
  try {
    return await read(run, result, before);
  } catch (thrown) {
    if (before === undefined) return unread(thrown);
    // Without the run before there is still what this one says of itself.
    const alone = await read(run, result, undefined).catch(unread);
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
  { staging, pipeline }: RunContext,
  { statement }: Result,
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
  return {
    previousRun: before?.manifest.run ?? null,
    changes: (before && (await readItemChanges(connection, statement, before.manifest))) ?? null,
    mappedValues: (await readMappedCounts(connection, statement)) ?? null,
    drift: await driftOf({ connection, now: statement, before: before?.manifest }),
    warnings: [],
  };
}
