/** Reads the row of the table `run`, and how many items changed. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { VERDICTS } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Manifest } from "../../warehouse/manifest.ts";

const required = { required: true } as const;

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
