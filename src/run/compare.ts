/** Compares the staged tables of a run with the run before. A failure is a warning. */
import { hasAllMappedValues, lossWarnings, readMappedChanges } from "../audit/mapping/lost-and-gained.ts";
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
import type { ExtractRecord, RunAsked } from "../raw/extract-record.ts";
import { mayShow, type PublishedBaseline } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import type { NewRun } from "./inputs.ts";

/** The run before, if the mapped values of both can be compared; `undefined` if not. */
export function runWithMappedValues(
  { baseline, pipeline }: NewRun,
  { asked: { limit }, items }: ExtractRecord,
): PublishedBaseline | undefined {
  const rows = Object.fromEntries(pipeline.tables.map(({ name }) => [name, 0]));
  const verdict = limit === null ? "complete" : "limited";
  const isComparable = hasAllMappedValues({ rows, verdict, items: { unread: items.unread.notAsked } });
  return isComparable && baseline.kind === "run" && hasAllMappedValues(baseline.manifest)
    ? baseline
    : undefined;
}

/** Counts the mapped values that were lost and gained. */
export async function compareMappedValues(
  run: NewRun,
  asked: RunAsked,
  before: PublishedBaseline,
): Promise<Pick<RunSummary, "mappedChanges" | "warnings">> {
  try {
    await using database = await openStaged(run, TABLES_OF_VIEWS, before);
    const showsTexts = mayShow(before.manifest.asked, asked);
    const request = { passthrough: run.pipeline.passthrough, showsTexts };
    const mappedChanges = await readMappedChanges(database.connection, request);
    return { mappedChanges, warnings: lossWarnings(mappedChanges, before.run) };
  } catch (thrown) {
    return { mappedChanges: null, warnings: [notComparedText(before.run, thrown)] };
  }
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
    return {
      comparedWith: null,
      changes: null,
      mappedValues: null,
      missingBefore: null,
      drift: null,
      warnings,
    };
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
