/** What a run is at a glance, beside the run before: items that came, were edited, and went. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../../common/answer.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Manifest } from "../../warehouse/manifest.ts";

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
 * Items of `content` and `before_content`; edited are those with another `updated_at`, and null says that one of the
 * runs has none. Undefined: a pipeline has no such table.
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
