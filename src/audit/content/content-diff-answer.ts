/** What `diff --content` answers: items that were added, removed or changed, and each changed column before and after. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Answer, col, type RowOf, section } from "../../common/answer.ts";
import { count, counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import type { RunPair } from "../diff/diff-runs.ts";
import type { OpenedRun, Question } from "../open-run.ts";
import { listOf } from "../rows-listed.ts";
import { idOf, namedTable, tablesOf } from "./asked-tables.ts";
import { type ChosenRuns, chooseRuns } from "./compared-runs.ts";
import type { OneSided } from "./compared-tables.ts";
import { type ContentDiffRequest, diffContent } from "./content-diff.ts";

export interface ContentDiffAsked {
  /** Name or number of a run that is kept, `current` or `previous`. */
  readonly before: string;
  readonly after: string;
  /** The only table that is compared. */
  readonly table?: string | undefined;
  /** ID or slug of the only item that is compared, in either run. */
  readonly item?: string | undefined;
  /** Rows of each list; undefined: all. */
  readonly limit?: number | undefined;
}

export function contentDiffQuestion(asked: ContentDiffAsked): Question<ChosenRuns> {
  return {
    choose: (folder, temporaryDirectory) =>
      chooseRuns(folder, [asked.before, asked.after], temporaryDirectory),
    answer: (opened, { pair, before }) =>
      contentDiffAnswer(opened, { ...asked, pair, beside: before.manifest }),
  };
}

const required = { required: true } as const;
const CHANGE = { of: ["added", "removed", "changed", "reordered"], required: true } as const;

const COLUMNS = {
  table: col.name(required),
  column: col.name({ head: "column" }),
  items: col.count({ required: true, chart: "length" }),
  changed: col.count(required),
  added: col.count(required),
  removed: col.count(required),
  reordered: col.count({ required: true, dispensable: 1 }),
} as const;

const CHANGES = {
  content_id: col.name({ required: true, head: "item" }),
  title: col.text({ dispensable: 1 }),
  table: col.name(required),
  row: col.text(),
  column: col.name(),
  change: col.text({ ...CHANGE, hidden: true }),
  before: col.text({ hidden: true }),
  after: col.text({ hidden: true }),
  words: col.text({ head: "change" }),
} as const;

const ITEMS = {
  content_id: col.name({ required: true, head: "item" }),
  title: col.text(),
  change: col.text(CHANGE),
  /** `content.title`, or the name of a table whose rows changed. */
  columns: col.list(),
} as const;

const ONE_SIDED = {
  table: col.name(required),
  column: col.name(),
  run: col.name({ required: true, head: "only in run" }),
} as const;

/** Two runs whose content is compared, and their statements. The connection has the tables of the first as `before_*`. */
export interface ContentPair {
  readonly pair: RunPair;
  readonly before: Stated;
  readonly after: Stated;
}

interface Stated extends Pick<Manifest, "rows"> {
  readonly personalData: { readonly policy: string };
}

/** Its lists are read as long as the run is open. */
async function contentDiffAnswer(
  opened: OpenedRun,
  {
    pair,
    beside,
    table,
    limit,
    ...asked
  }: ContentDiffAsked & { readonly pair: RunPair; readonly beside: Stated },
): Promise<Answer> {
  const { connection, manifest } = opened;
  const runs = { pair, before: beside, after: manifest };
  const { tables, oneSided } = await tablesOf(connection, [beside.rows, manifest.rows], pair);
  const compared = await compareContent(connection, runs, {
    tables: table === undefined ? tables : [await namedTable(connection, table, tables)],
    oneSided: table === undefined ? oneSided : oneSided.filter((each) => each.table === table),
    item: asked.item === undefined ? undefined : await idOf(opened, asked.item),
    withApart: table !== undefined,
  });
  const { columns, items, onlyInOne } = await contentLists(connection, compared, limit);
  const changes = section({
    key: "changes",
    none: "",
    title: "What changed",
    columns: CHANGES,
    ...(await listOf({ connection, limit }, CHANGES, changesSql(compared.withItems), (row) => row)),
  });
  return {
    lead: compared.lead,
    facts: {
      from: { ...pair.before },
      to: { ...pair.after },
      item: compared.item ?? null,
      ...compared.counts,
    },
    sections: [columns, changes, items, onlyInOne],
    next: compared.next,
  };
}

interface ContentRequest extends ContentDiffRequest {
  readonly oneSided: readonly OneSided[];
}

type Compared = Awaited<ReturnType<typeof compareContent>>;

/** Makes the tables of `diffContent`, and says what it came to. */
export async function compareContent(
  connection: DuckDBConnection,
  { pair, before, after }: ContentPair,
  request: ContentRequest,
) {
  await diffContent(connection, request);
  // Whether items that one run alone has are told.
  const withItems = request.tables.some(({ name }) => name === "content");
  const counts = await countsOf(connection, withItems);
  const lead = [...comparedWords(pair, before, after), cameTo(counts)].join(" ");
  return { ...request, pair, withItems, counts, lead, next: apartWords(counts) };
}

/** The lists that have no value of the content but titles. */
export async function contentLists(
  connection: DuckDBConnection,
  { pair, withItems, oneSided }: Compared,
  limit: number | undefined,
) {
  return {
    columns: section({
      key: "columns",
      none: "",
      title: "Changes by table and column",
      columns: COLUMNS,
      rows: await rowsBy(connection, COLUMNS, COLUMN_COUNTS),
      limit: 100,
    }),
    items: section({
      key: "items",
      none: "",
      title: "Items",
      columns: ITEMS,
      ...(await listOf({ connection, limit }, ITEMS, changedItemsSql(withItems), (row) => row)),
      limit: 0,
    }),
    onlyInOne: section({
      key: "only_in_one",
      none: "",
      title: "Not compared, because one run alone has it",
      columns: ONE_SIDED,
      rows: oneSided.map(({ table, column, side }) => ({ table, column, run: pair[side].run })),
    }),
  };
}

const COUNTS = {
  items_added: col.count(required),
  items_removed: col.count(required),
  items_changed: col.count(required),
  items_apart: col.count(required),
} as const;
type Counts = RowOf<typeof COUNTS>;

async function countsOf(connection: DuckDBConnection, withItems: boolean): Promise<Counts> {
  const alone = (change: string) =>
    withItems ? `(SELECT count(*) FROM made_alone WHERE change = '${change}')` : "0::BIGINT";
  const [counts] = await rowsBy(
    connection,
    COUNTS,
    `SELECT ${alone("added")} AS items_added, ${alone("removed")} AS items_removed,
       (SELECT count(DISTINCT content_id) FROM made_changes) AS items_changed,
       (SELECT count(DISTINCT content_id) FROM made_apart ANTI JOIN made_changes USING (content_id)) AS items_apart`,
  );
  if (counts === undefined) throw new TypeError("there are counts");
  return counts;
}

const COLUMN_COUNTS = `
  SELECT table_name AS "table", column_name AS "column", count(DISTINCT content_id) AS items,
    count(*) FILTER (change = 'changed') AS changed, count(*) FILTER (change = 'added') AS added,
    count(*) FILTER (change = 'removed') AS removed, count(*) FILTER (change = 'reordered') AS reordered
  FROM made_changes GROUP BY ALL ORDER BY min(place), min(column_place)`;

const TITLES = `
  titles AS (
    SELECT content_id, title FROM content
    UNION ALL
    SELECT content_id, title FROM before_content ANTI JOIN content USING (content_id)
  )`;

/** Items that one run alone has, then the changes item by item, in the order of tables and columns. */
function changesSql(withItems: boolean): string {
  const columns = `"table", "row", "column", change, before, after, words`;
  return `
    WITH ${TITLES},
    changes AS (
      SELECT content_id, 1 AS part, place, column_place, table_name AS "table", "row", column_name AS "column", change, before, after, words
      FROM made_changes
      UNION ALL
      SELECT content_id, 0, 0, 0, 'content', NULL, NULL, change, NULL, NULL, change FROM made_alone WHERE ${withItems}
    )
    SELECT content_id, title, ${columns}
    FROM changes LEFT JOIN titles USING (content_id)
    ORDER BY part, CASE WHEN part = 0 THEN change END, content_id, place, "row" NULLS FIRST, column_place, before, after`;
}

/** One row an item; of those that changed, by what. */
function changedItemsSql(withItems: boolean): string {
  return `
    WITH ${TITLES},
    items AS (
      SELECT content_id, 'changed' AS change,
        list(DISTINCT concat_ws('.', table_name, column_name) ORDER BY concat_ws('.', table_name, column_name)) AS columns
      FROM made_changes GROUP BY content_id
      UNION ALL
      SELECT content_id, change, NULL FROM made_alone WHERE ${withItems}
    )
    SELECT content_id, title, change, columns
    FROM items LEFT JOIN titles USING (content_id)
    ORDER BY change, content_id`;
}

/** What was compared, and how far it can be relied on: a sentence each. */
function comparedWords({ before, after }: RunPair, beside: Stated, stated: Stated): string[] {
  const unsettled = [before, after].filter(({ verdict }) => verdict === "unsettled").map(({ run }) => run);
  const are = unsettled.length === 1 ? `Run ${unsettled[0]} is` : `${listed(unsettled, "and")} are`;
  const [one, other] = [beside.personalData.policy, stated.personalData.policy];
  const sentences = [
    `Content of run ${before.run} and of run ${after.run}.`,
    unsettled.length > 0 && `${are} unsettled: items that it did not see count as not there.`,
    one !== other &&
      `Their policies for personal data differ (${one}, then ${other}): so do the columns that hold such.`,
  ];
  return sentences.filter((sentence) => sentence !== false);
}

function cameTo({ items_added, items_removed, items_changed }: Counts): string {
  if (items_added + items_removed + items_changed === 0) return "Nothing changed.";
  return `${counted(items_added, "item")} added, ${count(items_removed)} removed, ${count(items_changed)} changed.`;
}

function apartWords({ items_apart }: Counts): string[] {
  if (items_apart === 0) return [];
  const differ = items_apart === 1 ? "differs" : "differ";
  return [
    `${counted(items_apart, "more item")} ${differ} in volatile values alone: what depends on the moment or on who asks, what describes other things, and signatures of URLs.`,
  ];
}
