/**
 * What of the content is another between two runs: items, and rows and columns of their tables. Set-based, a range of the
 * items that changed at a time, so that memory is bounded by neither the items nor their texts.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type RowOf } from "../../common/answer.ts";
import { all, execute, scalar } from "../../storage/duckdb.ts";
import { streamBy } from "../../storage/rows-by.ts";
import { fillMarks, quoteIdentifier } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";
import { keep } from "../rows.ts";
import { changesSql, countedDigests, rowDigests, sideOf, UNSIGNED } from "./compared-sql.ts";
import { type ComparedTable, isApart, READ } from "./compared-tables.ts";
import { changedWords, keptText } from "./words.ts";

/** Bytes of texts, both sides, and items that are compared at a time. */
const BYTES_PER_RANGE = 8_000_000;
const BYTES_PER_ITEM = 1000;

export interface ContentDiffRequest {
  readonly tables: readonly ComparedTable[];
  /** ID of the only item that is compared; undefined: all are. */
  readonly item: string | undefined;
  /** Whether a table that is apart as a whole is compared all the same: it was asked for. */
  readonly withApart: boolean;
}

const required = { required: true } as const;

const CELLS = {
  content_id: col.text(required),
  row: col.text(),
  column: col.text(),
  columnPlace: col.count(required),
  change: col.text(required),
  kind: col.text(),
  before: col.text(),
  after: col.text(),
} as const;

/**
 * Makes the temporary tables `made_alone` (items that one run alone has: content_id, change), `made_changes` (content_id,
 * place of the table, table_name, row, column_name, change, before, after, words) and `made_apart` (content_id of items
 * that differ in what is apart). The connection has the earlier run's tables as `before_*`. The tables have `content`.
 */
export async function diffContent(
  connection: DuckDBConnection,
  { tables, item, withApart }: ContentDiffRequest,
): Promise<void> {
  await execute(connection, UNSIGNED);
  await keep(connection, "made_alone", ALONE, [item ?? null]);
  await keep(connection, "made_unread", (await bothHave(connection, READ)) ? UNREAD : NONE);
  await keep(connection, "made_fields", await fieldNames(connection));
  await keep(connection, "made_apart", NONE);
  await execute(connection, CHANGES);
  for (const [place, table] of tables.entries()) {
    const every = { before: rowDigests(table, "before_"), after: rowDigests(table, "") };
    await keep(connection, "made_differing", fillMarks(loadSql("content_differing"), every), [item ?? null]);
    if ((await scalar(connection, "SELECT count(*) FROM made_differing")) === 0) continue;
    const isCompared = !isApart(table) || withApart;
    const sides = {
      before: countedDigests(table, "before_", isCompared),
      after: countedDigests(table, "", isCompared),
    };
    await keep(connection, "made_touched", fillMarks(loadSql("content_touched"), sides));
    await execute(connection, "INSERT INTO made_apart SELECT content_id FROM made_touched WHERE NOT changed");
    await keep(connection, "made_ranges", RANGES, [BYTES_PER_RANGE, BYTES_PER_ITEM]);
    const ranges = await scalar(connection, "SELECT coalesce(max(range) + 1, 0)::BIGINT FROM made_ranges");
    for (let range = 0; range < ranges; range += 1) {
      await keep(connection, "made_range", "SELECT content_id FROM made_ranges WHERE range = $1::BIGINT", [
        range,
      ]);
      await compareRange(connection, table, { place, withApart });
    }
  }
}

async function compareRange(
  connection: DuckDBConnection,
  table: ComparedTable,
  { place, withApart }: { readonly place: number; readonly withApart: boolean },
): Promise<void> {
  const columns = table.columns.filter((column) => !column.isApart || (withApart && isApart(table)));
  await keep(
    connection,
    "made_sides",
    `${sideOf(table, columns, "before_")} UNION ALL BY NAME ${sideOf(table, columns, "")}`,
  );
  const key = table.key.map(quoteIdentifier).join(", ");
  const naming = namingOf(table);
  await keep(connection, "made_matched", fillMarks(loadSql("content_matched"), { key, naming }));
  await insertChanges(connection, { table: table.name, place, sql: changesSql(table, columns) });
}

/** Digest of what tells a row of a list from others: rows without a name are matched where they are alike. */
function namingOf({ isUnique, naming }: ComparedTable): string {
  if (isUnique) return "0";
  return naming === undefined ? "made_same" : `hash(${quoteIdentifier(naming)})`;
}

/** The changes of a range with their words, written down some at a time. */
async function insertChanges(
  connection: DuckDBConnection,
  { table, place, sql }: { readonly table: string; readonly place: number; readonly sql: string },
): Promise<void> {
  const found: object[] = [];
  for await (const rows of streamBy(connection, CELLS, sql)) found.push(...rows.map(inWords));
  for (let start = 0; start < found.length; start += ROWS_INSERTED) {
    const rows = JSON.stringify(found.slice(start, start + ROWS_INSERTED));
    await execute(connection, INSERT, [place, table, rows]);
  }
}

const ROWS_INSERTED = 1000;

const INSERT = `
  INSERT INTO made_changes BY NAME
  SELECT $1::INTEGER AS place, $2::VARCHAR AS table_name, unnest(from_json($3::JSON, '[{"content_id": "VARCHAR", "row": "VARCHAR",
    "column_name": "VARCHAR", "column_place": "INTEGER", "change": "VARCHAR", "before": "VARCHAR", "after": "VARCHAR", "words": "VARCHAR"}]'), recursive := true)`;

const CHANGES = `
  CREATE OR REPLACE TEMP TABLE made_changes (
    content_id VARCHAR, place INTEGER, table_name VARCHAR, "row" VARCHAR, column_name VARCHAR, column_place INTEGER, change VARCHAR,
    before VARCHAR, after VARCHAR, words VARCHAR
  )`;

function inWords({ content_id, row, column, columnPlace, change, kind, before, after }: RowOf<typeof CELLS>) {
  return {
    content_id,
    row,
    column_name: column,
    column_place: columnPlace,
    change,
    before: keptText(before),
    after: keptText(after),
    words: wordsOf({ change, kind, before, after }),
  };
}

function wordsOf({
  change,
  kind,
  before,
  after,
}: Pick<RowOf<typeof CELLS>, "change" | "kind" | "before" | "after">): string {
  if (change === "added") return `{+${keptText(after) ?? ""}+}`;
  if (change === "removed") return `[-${keptText(before) ?? ""}-]`;
  if (change === "reordered" && before === null) return "in another order";
  if (kind === "text") return changedWords(before, after);
  return `${keptText(before) ?? "nothing"} -> ${keptText(after) ?? "nothing"}`;
}

/** Whether `content` has a column on both sides. */
async function bothHave(connection: DuckDBConnection, column: string): Promise<boolean> {
  const tables = await scalar(
    connection,
    "SELECT count(*) FROM duckdb_columns() WHERE column_name = $1 AND table_name IN ('content', 'before_content') AND schema_name = 'main' AND database_name = current_database()",
    [column],
  );
  return tables === 2;
}

const NONE = "SELECT NULL::VARCHAR AS content_id LIMIT 0";

const ALONE = `
  SELECT content_id, CASE WHEN before.content_id IS NULL THEN 'added' ELSE 'removed' END AS change
  FROM (SELECT content_id FROM before_content) AS before FULL JOIN (SELECT content_id FROM content) AS after USING (content_id)
  WHERE (before.content_id IS NULL OR after.content_id IS NULL) AND ($1::VARCHAR IS NULL OR content_id = $1::VARCHAR)`;

/** Items that one run read by themselves and the other did not: what only that gives says nothing of them. */
const UNREAD = `
  SELECT content_id FROM before_content AS before JOIN content AS after USING (content_id)
  WHERE before.${READ} IS DISTINCT FROM after.${READ}`;

const RANGES = `
  SELECT content_id, ((sum(bytes + $2::BIGINT) OVER (ORDER BY content_id) - 1) // $1::BIGINT)::BIGINT AS range
  FROM made_touched WHERE changed`;

/** Names of custom fields, the later ones first. */
async function fieldNames(connection: DuckDBConnection): Promise<string> {
  const views = await all(
    connection,
    "SELECT table_name FROM information_schema.tables WHERE table_name IN ('custom_fields', 'before_custom_fields') AND table_catalog = current_database() ORDER BY ALL",
  );
  const named = views.map(({ table_name }, index) => {
    const view = quoteIdentifier(String(table_name));
    return `SELECT custom_field_id, name, ${index} AS place FROM ${view} WHERE name IS NOT NULL`;
  });
  if (named.length === 0) return "SELECT NULL::VARCHAR AS custom_field_id, NULL::VARCHAR AS name LIMIT 0";
  return `SELECT custom_field_id, arg_max(name, place) AS name FROM (${named.join(" UNION ALL ")}) GROUP BY custom_field_id`;
}
