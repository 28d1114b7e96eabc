/** What a page has of the answer of `diff --content`: how many changed by table and column, and which items. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Section } from "../../common/answer.ts";
import { tablesOf } from "./asked-tables.ts";
import { type ContentPair, compareContent, contentLists } from "./content-diff-answer.ts";

/**
 * Sections that say nothing but what the run itself has: of what only the run before has they give IDs and columns, no
 * value and no title, for that may hold a person whom the service, or the policy of this run, has taken. The
 * connection has the tables of the run before as `before_*`; both have `content`. `limit`: rows of the list of items.
 */
export async function contentForPage(
  connection: DuckDBConnection,
  runs: ContentPair,
  limit: number,
): Promise<Section[]> {
  const tables = await tablesOf(connection, [runs.before.rows, runs.after.rows], runs.pair);
  const compared = await compareContent(connection, runs, { ...tables, item: undefined, withApart: false });
  const { columns, items, onlyInOne } = await contentLists(connection, compared, limit);
  const lead = [compared.lead, ...compared.next].join(" ");
  const [before, after] = [runs.pair.before.sequence, runs.pair.after.sequence];
  return [
    { ...columns, key: "content", title: "Changes of content", lead, none: lead },
    {
      ...items,
      key: "content_items",
      title: "Items whose content changed",
      lead: `\`content-warehouse diff ${before} ${after} --content\` has each change, before and after.`,
      rows: items.rows.map((row) => (row.change === "removed" ? { ...row, title: null } : row)),
      all: "--content --format json",
    },
    { ...onlyInOne, key: "content_only_in_one" },
  ].filter(({ rows, none }) => rows.length > 0 || none !== "");
}
