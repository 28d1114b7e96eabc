/** The answer of `diff --content`: items that were added, removed or changed, and each changed column. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { ITEM } from "../mapping/columns.ts";
import type { RunQuestion } from "../open-run.ts";
import { readList } from "../queries.ts";
import { findItemId } from "../questions/find-item.ts";
import { notFound } from "../scope.ts";
import { diffContent } from "./content-diff.ts";
import { type PairSelection, type RunPair, selectContentRuns, unsettledSentence } from "./run-pair.ts";

export function contentDiffQuestion({
  table,
  item: wanted,
  ...asked
}: {
  /** Name or number of a kept run, `current` or `previous`. */
  readonly before: string;
  readonly after: string;
  /** Compare only this table. */
  readonly table?: string | undefined;
  /** Compare only this item: ID, or slug or title in either run. */
  readonly item?: string | undefined;
}): RunQuestion<PairSelection> {
  return {
    choose: (folder) => selectContentRuns(folder, [asked.before, asked.after]),
    async answer(opened, { pair }) {
      const { connection, manifest, before } = opened;
      if (before === undefined) throw new TypeError("two runs are open");
      const runs = { pair, before, after: manifest };
      const item = wanted === undefined ? undefined : await findItemId(opened, wanted, EITHER);
      const compared = await compareContent(connection, runs, { table, item });
      const { lead, counts, items } = compared;
      const isNarrow = item !== undefined || table !== undefined;
      const changes = section({
        key: "changes",
        none: "",
        title: "What changed in the content",
        columns: CHANGES,
        shows: ["title", "what", "before", "after"],
        ...(await readList(connection, CHANGES, ALL_CHANGES, (row) => row)),
        limit: isNarrow ? undefined : 0,
      });
      return {
        lead,
        facts: { from: { ...pair.before }, to: { ...pair.after }, item: item ?? null, ...counts },
        // The run stays open while the lists are read.
        sections: [changes, item === undefined ? items : { ...items, limit: 0 }],
      };
    },
  };
}

const EITHER =
  "FROM content SELECT content_id, slug, title UNION FROM before_content SELECT content_id, slug, title";

const required = { required: true } as const;
const CHANGE = { of: ["added", "removed", "changed", "reordered"], required: true } as const;

const CHANGES = {
  ...ITEM,
  table: col.text({ required: true }),
  row: col.text(),
  column: col.text(),
  change: col.text(CHANGE),
  /** The same in words: `content_custom_field_values region: value`. */
  what: col.text({ ...required, isWords: true }),
  before: col.text(),
  after: col.text(),
} as const;

const ITEMS = {
  ...ITEM,
  change: col.text(CHANGE),
  /** `content.title`, or the name of a table whose rows changed. */
  columns: col.list(),
  /** The same in words: `title: "Tents" -> "Tarps", custom field region`. */
  what: col.text({ isWords: true }),
} as const;

type ComparedManifest = Pick<Manifest, "rows" | "asked">;

/** Two runs whose content is compared. The connection has the tables of the first as `before_*`. */
interface ContentRuns extends Readonly<Record<"before" | "after", ComparedManifest>> {
  readonly pair: RunPair;
}

/**
 * Compares the content, summarizes it in sentences, and reads the lists that show no content but titles. `table`: the
 * only table to compare; `item`: ID of the only item. Throws `config.not_found` if a run has no table
 * `content`, or they do not both have the table.
 */
async function compareContent(
  connection: DuckDBConnection,
  { pair, before, after }: ContentRuns,
  { table, item }: { readonly table?: string | undefined; readonly item?: string | undefined } = {},
) {
  for (const [{ rows }, { run }] of [[before, pair.before] as const, [after, pair.after] as const])
    if (!Object.hasOwn(rows, "content"))
      throw notFound(`Run ${run} has no table content, so its items cannot be compared.`);
  const rows = { before: before.rows, after: after.rows };
  const oneSided = await diffContent(connection, rows, { table, item });
  const [counts] = await readRows(connection, COUNTS, COUNT);
  if (counts === undefined) throw new TypeError("there are counts");
  const policies = [before.asked.personalData.policy, after.asked.personalData.policy];
  const sentences = [
    `Content of run ${pair.before.run} and of run ${pair.after.run}.`,
    unsettledSentence([pair.before, pair.after], "items that it did not see count as absent"),
    policies[0] !== policies[1] &&
      `Their policies for personal data differ (${policies.join(", then ")}), and so do the columns with such data.`,
    changeSentence(counts, table ?? "content"),
    oneSided.length > 0 && `Not compared, because only one run has them: ${joinFirst(oneSided, 5)}.`,
  ];
  return {
    counts,
    lead: sentences.filter((sentence) => sentence !== false).join(" "),
    items: section({
      key: "content_items",
      none: "",
      title: "Items whose content changed",
      columns: ITEMS,
      shows: ["title", "change", "what"],
      ...(await readList(connection, ITEMS, CHANGED_ITEMS, (row) => row)),
    }),
  };
}

/** `table`: the items that came, went or were edited are known of `content` alone. */
function changeSentence(counts: AnswerRow<typeof COUNTS>, table: string): string {
  const { items_added: added, items_removed: removed, items_edited: edited } = counts;
  const changed = counts.items_with_changed_content;
  if (added + removed + changed === 0) return "Nothing changed.";
  if (table !== "content")
    return `${pluralize(changed, "item")} whose rows of ${table}, or their order, changed.`;
  const dated = edited === 0 ? "" : ` (${count(edited)} of them with a new \`updated_at\`)`;
  return `${pluralize(added, "item")} added, ${count(removed)} removed, ${count(changed)} changed${dated}.`;
}

const COUNTS = {
  items_added: col.count(required),
  items_removed: col.count(required),
  /** Items with another `updated_at`. */
  items_edited: col.count(required),
  items_with_changed_content: col.count(required),
} as const;

const COUNT = `
  SELECT (SELECT count(*) FROM diff_alone WHERE change = 'added') AS items_added,
    (SELECT count(*) FROM diff_alone WHERE change = 'removed') AS items_removed,
    count(DISTINCT content_id) FILTER ("table" = 'content' AND "column" = 'updated_at') AS items_edited,
    count(DISTINCT content_id) AS items_with_changed_content
  FROM content_changes`;

const TITLES = `
  titles AS (
    SELECT content_id, nullif(trim(title), '') AS title FROM content
    UNION ALL
    SELECT content_id, nullif(trim(title), '') FROM before_content ANTI JOIN content USING (content_id)
  )`;

/** Items that only one run has, then all changes by item, table and column. */
const ALL_CHANGES = `
  WITH ${TITLES},
  changes AS (
    SELECT 1 AS part, * FROM content_changes
    UNION ALL BY NAME
    SELECT 0 AS part, content_id, 'content' AS "table", change FROM diff_alone
  )
  SELECT content_id, title, "table", "row", "column", change, before, after,
    CASE WHEN part = 0 THEN 'item ' || change ELSE concat_ws(' ', "table", "row") || ': ' || coalesce("column", change) END
      AS what
  FROM changes LEFT JOIN titles USING (content_id)
  ORDER BY part, CASE WHEN part = 0 THEN change END, content_id, table_place, "row" NULLS FIRST, row_place, change, column_place, before, after`;

/** Columns that people look for first. */
const FOREMOST = `"table" = 'content' AND "column" IN ('title', 'state', 'progress_stage', 'published', 'archived')`;

/** Columns that change with others, and are not named. */
const FOLLOWING =
  "'content.updated', 'content.updated_at', 'content.preferred_title', 'content.preferred_title_sort'";

/** Both values of a column that people look for first, as part of a sentence. */
const VALUES_TOLD = `CASE WHEN ${FOREMOST} THEN concat(': ', coalesce(left(before, 60), 'none'), ' -> ', coalesce(left(after, 60), 'none')) END`;

/** One row per item. Removed items come first, then those with another title or state, then others, then added ones. */
const CHANGED_ITEMS = `
  WITH ${TITLES},
  changes AS (
    SELECT content_id, concat_ws('.', "table", "column") AS name, ${FOREMOST} AS is_foremost, table_place, column_place,
      concat(CASE "table"
        WHEN 'content' THEN replace("column", '_', ' ')
        WHEN 'content_custom_field_values' THEN concat('custom field ', "row")
        ELSE replace(regexp_replace("table", '^content_', ''), '_', ' ')
      END, CASE WHEN change = 'reordered' THEN ' (order)' END, ${VALUES_TOLD}) AS what
    FROM content_changes
  ),
  whats AS (
    SELECT content_id, what, min((NOT is_foremost, table_place, column_place)) AS place, bool_or(is_foremost) AS is_foremost
    FROM changes WHERE name NOT IN (${FOLLOWING}) GROUP BY content_id, what
  ),
  told AS (
    SELECT content_id, string_agg(what, ', ' ORDER BY place) AS what, bool_or(is_foremost) AS is_foremost
    FROM whats GROUP BY content_id
  ),
  items AS (
    SELECT content_id, 'changed' AS change, list(DISTINCT name ORDER BY name) AS columns FROM changes GROUP BY content_id
    UNION ALL
    SELECT content_id, change, NULL FROM diff_alone
  )
  SELECT content_id, title, change, columns, CASE WHEN change = 'changed' THEN coalesce(what, 'updated at') END AS what
  FROM items LEFT JOIN titles USING (content_id) LEFT JOIN told USING (content_id)
  ORDER BY list_position(['removed', 'changed', 'added'], change), NOT coalesce(is_foremost, false), content_id`;

/**
 * Changes of content for the report. Of content that only the earlier run has it shows IDs and columns, but no
 * value and no title: these may belong to a person who was erased since. The connection has the earlier tables
 * as `before_*`.
 */
export async function contentDiffForReport(
  connection: DuckDBConnection,
  runs: ContentRuns,
): Promise<Section[]> {
  const { lead, items } = await compareContent(connection, runs);
  const [before, after] = [runs.pair.before.sequence, runs.pair.after.sequence];
  const rows = items.rows.map((row) => ({
    ...row,
    ...(row.change === "removed" && { title: null }),
    what: null,
  }));
  const sections: Section[] = [
    {
      ...items,
      key: "content",
      lead: `${lead} \`content-warehouse diff ${before} ${after} --content\` has each change, before and after.`,
      none: lead,
      columns: { ...ITEMS, title: col.text() },
      shows: ["content_id", "title", "change", "columns"],
      rows,
      every: undefined,
      all: "--content --format json",
    },
  ];
  return sections.filter((each) => each.rows.length > 0 || each.none !== "");
}
