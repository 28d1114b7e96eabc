/** Reads the row of a run, its history, and how many items changed since the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { VERDICTS } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { loadSql } from "../queries.ts";

const required = { required: true } as const;

const RUN_HISTORY_ROW = {
  run: col.text(required),
  sequence: col.count(required),
  verdict: col.text({ ...required, of: VERDICTS }),
  /** Run whose history it continued. */
  previousRun: col.text(),
} as const;
type RunHistoryRow = AnswerRow<typeof RUN_HISTORY_ROW>;

export function isHistoryIn({ rows }: Pick<Manifest, "rows">): boolean {
  return HISTORY_TABLES.every(({ name }) => Object.hasOwn(rows, name));
}

/** Reads the history of an open run, the latest run first. */
export function readRunHistory(connection: DuckDBConnection): Promise<RunHistoryRow[]> {
  return readRows(connection, RUN_HISTORY_ROW, "FROM run_history ORDER BY sequence DESC");
}

const RUN_SHARE = {
  destination_id: col.text(required),
  sequence: col.count(required),
  mapped: col.count(required),
  missing: col.count(required),
} as const;
export type RunShare = AnswerRow<typeof RUN_SHARE>;

/** Reads the mapped values of each destination in the latest 60 runs of the history in which it received any, oldest first. */
export function readRunShares(connection: DuckDBConnection): Promise<RunShare[]> {
  return readRows(connection, RUN_SHARE, loadSql("report_shares"), [60]);
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

export async function readRunRow(connection: DuckDBConnection): Promise<RunRow> {
  const [run] = await readRows(connection, RUN, "FROM run");
  if (run === undefined) throw new TypeError("the run has no row in run");
  return run;
}

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
 * no such values. Returns null if a pipeline has no table `content`.
 */
export async function readItemChanges(
  connection: DuckDBConnection,
  now: Pick<Manifest, "rows" | "emptyColumns">,
  before: Pick<Manifest, "rows" | "emptyColumns">,
): Promise<Manifest["changes"]> {
  if (now.rows.content === undefined || before.rows.content === undefined) return null;
  const [row] = await readRows(connection, COUNTS, ITEM_CHANGES);
  if (row === undefined) return null;
  const isDated = [now, before].every(({ emptyColumns }) => !emptyColumns.includes("content.updated_at"));
  return { ...row, edited: isDated ? row.edited : null };
}
