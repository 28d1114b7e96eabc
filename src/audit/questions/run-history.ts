/** Reads the row of a run and its history, and finds the runs before it in the warehouse. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { VERDICTS } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { ancestorsOf, isReplaced, previousOf } from "../../warehouse/identity.ts";
import { type OutputFolder, parseRunName } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { findReadableRun, missingTables, type ReadableRun } from "../open-run.ts";
import { runListRow } from "./runs.ts";

const required = { required: true } as const;

const RUN_HISTORY_ROW = {
  run: col.text(required),
  sequence: col.count(required),
  /** ISO 8601, UTC. */
  startedAt: col.text(required),
  verdict: col.text({ ...required, of: VERDICTS }),
  /** Whether payloads of the run include values of fields without value mappings. */
  passthrough: col.flag(required),
  /** Run whose history it continued. */
  previousRun: col.text(),
} as const;
export type RunHistoryRow = AnswerRow<typeof RUN_HISTORY_ROW>;

export function hasHistory({ manifest }: Pick<PublishedRun, "manifest">): boolean {
  return !(manifest instanceof WarehouseError) && isHistoryIn(manifest);
}

export function isHistoryIn({ rows }: Pick<Manifest, "rows">): boolean {
  return HISTORY_TABLES.every(({ name }) => Object.hasOwn(rows, name));
}

/** Reads the history of an open run, the latest run first. */
export function readRunHistory(connection: DuckDBConnection): Promise<RunHistoryRow[]> {
  return readRows(
    connection,
    RUN_HISTORY_ROW,
    `SELECT run, sequence, verdict, passthrough, previous_run,
       strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at
     FROM run_history ORDER BY sequence DESC`,
  );
}

export type PreviousRun = Awaited<ReturnType<typeof findPreviousRun>>;

/**
 * Finds the run that another run was compared with. If it cannot be read, `missing` says why. Throws
 * `config.not_found` for a run that does not exist, `verify.failed` for one that cannot be read.
 */
export async function findPreviousRun(folder: OutputFolder, wanted: string) {
  const { run, manifest } = await findReadableRun(folder, wanted);
  const { previousRun } = manifest;
  if (previousRun === null) {
    const missing = `${run} is the first run of this warehouse, so there is nothing to compare it with.`;
    return { manifest: undefined, missing };
  }
  const before = previousOf(manifest, await listRuns(folder))?.manifest;
  const found = before instanceof WarehouseError ? undefined : before;
  const missing = `The run before it, ${previousRun}, was removed or cannot be read, so there is nothing to compare with; \`keepRuns\` says how many runs stay.`;
  return { manifest: found, missing: found === undefined ? missing : null };
}

export type EarlierRuns = ReturnType<typeof findEarlierRuns>;

/** Runs listed in a report, its own included. */
const RUNS_SHOWN = 30;

/** `published`: runs of the warehouse, the newest first. */
export function findEarlierRuns(
  published: readonly PublishedRun[],
  stated: Pick<Manifest, "sequence" | "verdict" | "previousRun" | "previousSha256">,
) {
  // Runs without a readable manifest are skipped.
  const runs = published.flatMap((run): ReadableRun[] => {
    const { manifest } = run;
    return manifest instanceof WarehouseError ? [] : [{ ...run, manifest }];
  });
  const before = previousOf(stated, runs);
  const past = ancestorsOf({ ...stated, run: "", manifest: stated }, runs);
  const shown = runs
    .filter((run) => run.sequence < stated.sequence && !isReplaced(run, past))
    // A limited run has no earlier runs.
    .slice(0, stated.verdict === "limited" ? 0 : RUNS_SHOWN - 1);
  const isComparable = before !== undefined && missingTables(before.manifest.rows).length === 0;
  const compared: Pick<ReadableRun, "run" | "sequence" | "directory" | "manifest"> | undefined = isComparable
    ? before
    : undefined;
  return {
    /** Number of the run that this one continues; null for the first run. */
    previous: parseRunName(stated.previousRun ?? "")?.sequence ?? null,
    /** That run; undefined if there is none, or it is not kept, cannot be read or has no mapped values. */
    before: compared,
    /** The newest first. */
    listed: shown.map((run) => runListRow(run, run.manifest, "")),
  };
}

/** Says which run the figures are compared with, or why with none. */
export function comparisonText({ previous, before }: EarlierRuns): string {
  if (before !== undefined) return `Compared with run ${before.sequence}.`;
  if (previous === null) return "This is the first run, so there is nothing to compare it with.";
  return `Run ${previous}, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it.`;
}

const RUN = {
  run: col.text(required),
  sequence: col.count(required),
  pipeline: col.text(required),
  instanceUrl: col.text(required),
  startedAt: col.instant(required),
  endedAt: col.instant(required),
  verdict: col.text({ ...required, of: VERDICTS }),
  reason: col.text(),
  itemsListed: col.count(required),
  itemsLoaded: col.count(required),
  itemsRejected: col.count(required),
  itemsRemoved: col.count(required),
  itemsUnread: col.count(required),
  personalData: col.text(required),
  packageVersion: col.text(required),
  duckdbVersion: col.text(required),
  nodeVersion: col.text(required),
} as const;
export type RunRow = AnswerRow<typeof RUN>;

/** `instance_url` of a run of the sample. */
export const SAMPLE_URL = "sample";

export async function readRunRow(connection: DuckDBConnection): Promise<RunRow> {
  const [run] = await readRows(connection, RUN, "FROM run");
  if (run === undefined) throw new TypeError("the run has no row in run");
  return run;
}

/** Name of the instance if all rows of `instances` agree, otherwise the host of the service. */
export async function instanceName(
  connection: DuckDBConnection,
  { instanceUrl }: Pick<RunRow, "instanceUrl">,
  tables: Iterable<string>,
): Promise<string> {
  const names = new Set(tables).has("instances")
    ? await readRows(connection, { name: col.text() }, "SELECT DISTINCT name FROM instances WHERE name <> ''")
    : [];
  const [only, ...others] = names;
  if (only?.name != null && others.length === 0) return only.name;
  return instanceUrl === SAMPLE_URL ? "The sample" : new URL(instanceUrl).host;
}

export type ItemChanges = NonNullable<Manifest["changes"]>;

const counted = col.count({ required: true });
const COUNTS = { new: counted, edited: counted, removed: counted } as const;

const ITEM_CHANGES = `
  SELECT
    count(*) FILTER (WHERE b.content_id IS NULL) AS new,
    count(*) FILTER (WHERE n.content_id IS NOT NULL AND b.content_id IS NOT NULL
      AND n.updated_at IS DISTINCT FROM b.updated_at) AS edited,
    count(*) FILTER (WHERE n.content_id IS NULL) AS removed
  FROM (SELECT content_id, updated_at FROM content) AS n
  FULL JOIN (SELECT content_id, updated_at FROM before_content) AS b ON n.content_id = b.content_id`;

/**
 * Counts items of `content` against `before_content`. Edited items have another `updated_at`; null if a run has
 * no such values. Returns undefined if a pipeline has no table `content`.
 */
export async function readItemChanges(
  connection: DuckDBConnection,
  now: Pick<Manifest, "rows" | "emptyColumns">,
  before: Pick<Manifest, "rows" | "emptyColumns">,
): Promise<ItemChanges | undefined> {
  if (now.rows.content === undefined || before.rows.content === undefined) return undefined;
  const [row] = await readRows(connection, COUNTS, ITEM_CHANGES);
  if (row === undefined) return undefined;
  const isDated = [now, before].every(({ emptyColumns }) => !emptyColumns.includes("content.updated_at"));
  return { ...row, edited: isDated ? row.edited : null };
}
