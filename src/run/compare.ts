/** Compares the staged tables of a run with the run before. A failure is a warning. */
import { hasAllMappedValues, lossText, readMappedChanges } from "../audit/mapping/lost-and-gained.ts";
import {
  countWithoutAtReceivers,
  mappedCounts,
  readDestinationCounts,
} from "../audit/mapping/value-counts.ts";
import { openViews, runTables } from "../audit/open-run.ts";
import { driftOf } from "../audit/questions/drift.ts";
import { readItemChanges } from "../audit/questions/run-history.ts";
import { asWarehouseError } from "../common/errors.ts";
import { TABLES_OF_VIEWS } from "../load/views.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import { mayShow, type PublishedBaseline } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import type { NewRun } from "./inputs.ts";

/**
 * Counts the mapped values that were lost and gained; null if there is nothing to compare with. `whileClosed`: lets the
 * staged database be read.
 */
export async function compareMappedValues(
  run: NewRun,
  { asked, items }: ExtractRecord,
  whileClosed: <Result>(read: () => Promise<Result>) => Promise<Result>,
): Promise<Pick<RunSummary, "mappedChanges" | "warnings">> {
  const { baseline: before, pipeline } = run;
  const tables = pipeline.tables.map(({ name }) => name);
  if (
    before.kind !== "run" ||
    !hasAllMappedValues(tables, { unread: items.unread.notAsked }) ||
    !hasAllMappedValues(Object.keys(before.manifest.rows), before.manifest.items)
  )
    return { mappedChanges: null, warnings: [] };
  return whileClosed(async () => {
    try {
      await using database = await openStaged(run, TABLES_OF_VIEWS, before);
      const showsTexts = mayShow(before.manifest.asked, asked);
      const request = { passthrough: pipeline.passthrough, showsTexts };
      const mappedChanges = await readMappedChanges(database.connection, request);
      // Each loss is new, so its warning names the run before.
      const text = `External values lost since run ${before.manifest.sequence}: ${lossText(mappedChanges)}.`;
      return { mappedChanges, warnings: mappedChanges.lost === 0 ? [] : [text] };
    } catch (thrown) {
      return { mappedChanges: null, warnings: [notComparedText(before.run, thrown)] };
    }
  });
}

export async function compareWithPrevious(
  run: NewRun,
  statement: Omit<BuiltStatement, "changes" | "mappedValues">,
): Promise<
  Pick<RunSummary, "comparedWith" | "changes" | "mappedValues" | "missingBefore" | "drift" | "warnings">
> {
  const before = run.baseline.kind === "run" ? run.baseline : undefined;
  try {
    await using database = await openStaged(run, Object.keys(statement.rows), before);
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
      missingBefore: manifest?.mappedValues ? countWithoutAtReceivers(manifest.mappedValues) : null,
      drift: { ...drift, policyFields: policy.length },
      warnings: [],
    };
  } catch (thrown) {
    const warnings = [notComparedText(before?.run ?? "the specification", thrown)];
    const none = { comparedWith: null, changes: null, mappedValues: null, missingBefore: null, drift: null };
    return { ...none, warnings };
  }
}

/** Opens staged tables as views, with those of the run before beside them. */
function openStaged(
  { staging, pipeline }: NewRun,
  tables: readonly string[],
  before: PublishedBaseline | undefined,
) {
  const database = databaseOf(staging, publishes(pipeline, "duckdb"));
  return openViews({
    tables,
    source: { directory: staging.result, database, filesOf: () => [] },
    temporaryDirectory: staging.temporary,
    memoryLimitMb: 128,
    beside: before && runTables(before),
  });
}

function notComparedText(other: string, thrown: unknown): string {
  return `The run could not be compared with ${other}: ${asWarehouseError(thrown).message}`;
}
