/**
 * Compares the content of two runs, table by table, with the same two SQL statements for each. Rows are matched by the
 * key of their table without its ordinal. Lists have no other key, so their rows are added or removed. Another order of
 * the same rows is a change of its own.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { DYNAMIC_COLUMNS, type DynamicColumn, isDynamicColumn } from "../../api/dynamic.ts";
import { SIGNED_URL_PATTERNS } from "../../api/signed-url.ts";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import { all, execute, scalar } from "../../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { CONTENT_TABLES, isRunTable, MAPPED_VALUE_TABLES } from "../../tables/all.ts";
import type { Column, Table } from "../../tables/declare.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { createTempTable, loadSql } from "../queries.ts";
import { notFound } from "../scope.ts";

type Types = ReadonlyMap<string, string>;
type Rows = Readonly<Record<string, number>>;

/**
 * Finds the tables of items that both runs have (`content` first), and the tables and columns that only one run has.
 * `wanted`: a table asked for by name, also one of mapped values.
 */
function comparedTables(columns: ReadonlyMap<string, Types>, before: Rows, after: Rows, wanted?: string) {
  const tables: ComparedTable[] = [];
  const oneSided: { table: string; name: string }[] = [];
  for (const name of new Set(["content", ...Object.keys(after), ...Object.keys(before)])) {
    const was = Object.hasOwn(before, name) ? columns.get(`before_${name}`) : undefined;
    const is = Object.hasOwn(after, name) ? columns.get(name) : undefined;
    const isAsked = name === wanted && MAPPED_VALUE_TABLES.some((table) => table.name === name);
    if (!isAsked && (DERIVED.has(name) || isRunTable(name) || !(is ?? was)?.has("content_id"))) continue;
    if (was !== undefined && is !== undefined) tables.push(comparedTable(name, was, is));
    if (was === undefined || is === undefined) oneSided.push({ table: name, name });
    else
      for (const column of new Set([...was.keys(), ...is.keys()]))
        if (!was.has(column) || !is.has(column)) oneSided.push({ table: name, name: `${name}.${column}` });
  }
  return { tables, oneSided };
}

/** Names and types of the columns of each view, in their order. */
async function readColumns(connection: DuckDBConnection): Promise<ReadonlyMap<string, Types>> {
  const rows = await all(
    connection,
    `SELECT table_name, column_name, data_type FROM duckdb_columns()
     WHERE NOT internal AND database_name = current_database() ORDER BY table_name, column_index`,
  );
  const views = Map.groupBy(rows, ({ table_name }) => String(table_name));
  const types = (some: typeof rows) =>
    new Map(some.map(({ column_name, data_type }) => [String(column_name), String(data_type)]));
  return new Map([...views].map(([name, some]) => [name, types(some)]));
}

/** Tables of what is derived from what the service says of an item. */
const DERIVED = new Set([...MAPPED_VALUE_TABLES, ...HISTORY_TABLES].map(({ name }) => name));

/** How an item was read; not part of its content. */
const READ = "single_item_read";

type ComparedTable = ReturnType<typeof comparedTable>;
type ComparedColumn = ComparedTable["columns"][number];

/** A table of items that both runs have, with the columns that both have. */
function comparedTable(name: string, before: Types, after: Types) {
  const declared: Table | undefined = [...CONTENT_TABLES, ...MAPPED_VALUE_TABLES].find(
    (table) => table.name === name,
  );
  const key = (declared?.key ?? []).filter((column) => column !== "content_id" && column !== "ordinal");
  // Derived columns of items, which come from no API field, change with their sources.
  const isDerived = (column: string) =>
    declared?.stage === "item" &&
    declared.columns.some((each) => each.name === column && each.origins.length === 0);
  return {
    name,
    /** Columns of the key besides `content_id` and `ordinal`. */
    key,
    /** Whether an item has several rows without another key. */
    isList: key.length === 0 && declared?.key.includes("ordinal") !== false,
    isOrdered: before.has("ordinal") && after.has("ordinal"),
    columns: [...after]
      .filter(([column]) => before.has(column) && !["content_id", "ordinal", ...key].includes(column))
      .filter(([column]) => column === "extra" || !isDerived(column))
      .map(([column, type]) => {
        const origin = declared?.columns.find((each) => each.name === column);
        const isVolatile = isOf(origin, ({ changesWithoutEdit }) => changesWithoutEdit !== undefined);
        return {
          name: column,
          /** DuckDB type; `VARCHAR` if the runs differ. */
          type: before.get(column) === type ? type : "VARCHAR",
          /** Whether the column can change while the item does not. */
          isVolatile: column === READ || isVolatile,
          /** Whether only single-item requests give the column. */
          isSingly: isOf(origin, ({ singleItemOnly }) => singleItemOnly),
        };
      }),
  };
}

/** Whether a column comes from API fields, all of this kind. */
function isOf(column: Column | undefined, is: (field: DynamicColumn) => boolean): boolean {
  const origins = column?.origins ?? [];
  return (
    origins.length > 0 &&
    origins.every(({ resource, path }) => {
      const [field = ""] = path.split(/[.[]/, 1);
      return resource === "dynamic" && isDynamicColumn(field) && is(DYNAMIC_COLUMNS[field]);
    })
  );
}

/**
 * Creates the temporary tables `diff_alone` (items that only one run has, if `content` is compared: `content_id`,
 * `change`) and `content_changes`. The connection has the earlier run's tables as `before_*`; `before`, `after`: rows by
 * table. `table`: the only table to compare, then with its volatile columns; `item`: ID of the only item. Returns the
 * names of tables and columns that only one run has. Throws `config.not_found` if the runs do not both have the table.
 */
export async function diffContent(
  connection: DuckDBConnection,
  { before, after }: { readonly before: Rows; readonly after: Rows },
  { table: wanted, item }: { readonly table?: string | undefined; readonly item?: string | undefined },
) {
  const views = await readColumns(connection);
  const both = comparedTables(views, before, after, wanted);
  const isWanted = (name: string) => wanted === undefined || name === wanted;
  const tables = both.tables.filter(({ name }) => isWanted(name));
  if (wanted !== undefined && tables.length === 0) {
    const names = both.tables.map(({ name }) => name);
    const near = nearestSentence(wanted, names, `The compared tables are ${joinWords(names, "and")}.`);
    throw notFound(`There is no table "${wanted}" of items in both runs.${near}`);
  }
  await createTempTable(connection, "diff_names", namesSql(views));
  for (const macro of MACROS) await execute(connection, `CREATE OR REPLACE TEMP MACRO ${macro}`);
  await createTempTable(connection, "diff_alone", ALONE, [item ?? null, isWanted("content")]);
  await createTempTable(connection, "diff_both", BOTH, [item ?? null]);
  const saysHowRead = ["before_content", "content"].every((name) => views.get(name)?.has(READ));
  const unread = saysHowRead ? UNREAD : "SELECT content_id FROM content LIMIT 0";
  await createTempTable(connection, "diff_unread", unread);
  await execute(connection, NO_CHANGES);
  for (const [place, table] of tables.entries()) {
    const columns = table.columns.filter(({ isVolatile }) => wanted !== undefined || !isVolatile);
    // If all columns of a table are volatile, only `extra` is left: skip it.
    if (columns.length < table.columns.length && columns.every(({ name }) => name === "extra")) continue;
    await diffTable(connection, marksOf({ ...table, columns }, place));
  }
  return both.oneSided.filter((each) => isWanted(each.table)).map(({ name }) => name);
}

/** Adds the changes of a table to `content_changes`. */
async function diffTable(connection: DuckDBConnection, marks: ReturnType<typeof marksOf>): Promise<void> {
  // Most differing items differ only in signed URLs. Finding those takes longer, so it comes second.
  const step = loadSql("content_differing");
  const raw = fillMarks(step, { ...marks, ids: "diff_both", hashed: marks.raw });
  await createTempTable(connection, "diff_raw", raw);
  if ((await scalar(connection, "SELECT count(*) FROM diff_raw")) === 0) return;
  await createTempTable(connection, "diff_differing", fillMarks(step, { ...marks, ids: "diff_raw" }));
  await createTempTable(connection, "diff_ranges", RANGES);
  const changes = fillMarks(loadSql("content_changes"), marks);
  for (const { range } of await all(connection, "SELECT DISTINCT range FROM diff_ranges ORDER BY range")) {
    const items = `SELECT content_id FROM diff_ranges WHERE range = ${Number(range)}`;
    await createTempTable(connection, "diff_range", items);
    await execute(connection, `INSERT INTO content_changes BY NAME ${changes}`);
  }
}

/** Replacements for the marks of both statements. */
function marksOf({ name, key, isList, isOrdered, columns }: ComparedTable, place: number) {
  const value = ({ name: column, type }: ComparedColumn) => `t.${quoteIdentifier(column)}::${type}`;
  const own = key.map((column) => `t.${quoteIdentifier(column)}`);
  const named = key.map((column) => `named(${quoteLiteral(column)}, t.${quoteIdentifier(column)}::VARCHAR)`);
  // Not 0, whose hash is 0: a row without other cells would not count.
  const rowPlace = isOrdered ? "t.ordinal" : "0";
  const listed = (cells: readonly string[]) => ["1", rowPlace, ...own, ...cells].join(", ");
  const cells = columns.map((column) => {
    const text = `unsigned_text(${textOf(value(column), column)})`;
    return column.isSingly ? `CASE WHEN unread.content_id IS NULL THEN ${text} END` : text;
  });
  const bytes = columns.map((column) => `coalesce(strlen(${value(column)}::VARCHAR), 0)`);
  const unread = columns.some(({ isSingly }) => isSingly)
    ? " LEFT JOIN diff_unread AS unread USING (content_id)"
    : "";
  const rows = (prefix: string) => `${quoteIdentifier(`${prefix}${name}`)} AS t${unread}`;
  return {
    table: quoteLiteral(name),
    table_place: String(place),
    names: columns.map(({ name: column }) => quoteLiteral(column)).join(", "),
    raw: listed(columns.map(value)),
    hashed: listed(cells),
    cells: `[${cells.join(", ")}]::VARCHAR[]`,
    key: `[${named.join(", ")}]::VARCHAR[]`,
    place: rowPlace,
    is_list: String(isList),
    bytes: ["0", ...bytes].join(" + "),
    before: rows("before_"),
    after: rows(""),
  };
}

function textOf(value: string, { type }: ComparedColumn): string {
  if (type !== "TIMESTAMP WITH TIME ZONE") return `${value}::VARCHAR`;
  return `replace(strftime(${value}, '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')`;
}

const [SIGNED_URL, PARAMETER] = [SIGNED_URL_PATTERNS.url, SIGNED_URL_PATTERNS.parameter].map((pattern) =>
  quoteLiteral(`(?i)${pattern}`),
);

/** SQL macro: a text without the parameters that sign its URLs. */
export const UNSIGNED_TEXT = `unsigned_text(given) AS CASE
  WHEN regexp_matches(given, ${SIGNED_URL}) THEN array_to_string(
    list_transform(
      list_zip(string_split_regex(given, ${SIGNED_URL}), regexp_extract_all(given, ${SIGNED_URL})),
      lambda part: concat(part[1], regexp_replace(part[2], ${PARAMETER}, '', 'g'))
    ),
    ''
  ) ELSE given END`;

/** Characters shown: of one cell among others of its row; of a text; of a text before the first difference. */
const [CELL_LENGTH, TEXT_LENGTH, LENGTH_BEFORE] = [100, 300, 40];

/** Parts of the beginning of a text. */
const partsOf = (text: string) => `regexp_extract_all(left(${text}, 100000), '(?s).{1,100}')`;

const MACROS = [
  UNSIGNED_TEXT,
  // The name of an ID, or the ID itself.
  `named(given_kind, given_id) AS coalesce(
    (SELECT any_value(name) FROM diff_names WHERE kind = given_kind AND id = given_id),
    given_id
  )`,
  // Names and values of a row, without NULLs.
  `row_text(names, cells) AS CASE WHEN cells IS NOT NULL THEN array_to_string(
    list_transform(
      list_filter(list_zip(names, cells), lambda cell: cell[2] IS NOT NULL),
      lambda cell: concat(cell[1], ': ', left(cell[2], ${CELL_LENGTH}))
    ),
    ', '
  ) END`,
  // Characters before the first part of 100 in which two texts differ.
  `difference(own, other) AS 100 * (
    coalesce(
      list_position(
        list_transform(
          list_zip(${partsOf("own")}, ${partsOf("other")}),
          lambda part: part[1] IS DISTINCT FROM part[2]
        ),
        true
      ),
      1
    ) - 1
  )`,
  // A short text, or the part of a long text around the first difference.
  `excerpt(own, other) AS CASE
    WHEN length(own) <= ${TEXT_LENGTH} THEN own
    WHEN other IS NULL OR difference(own, other) = 0 THEN left(own, ${TEXT_LENGTH}) || '…'
    ELSE '…' || substr(own, difference(own, other) - ${LENGTH_BEFORE}, ${TEXT_LENGTH}) || '…'
  END`,
];

const NO_CHANGES = `
  CREATE OR REPLACE TEMP TABLE content_changes (
    content_id VARCHAR, table_place INTEGER, "table" VARCHAR, "row" VARCHAR, row_place INTEGER, "column" VARCHAR,
    column_place INTEGER, change VARCHAR, before VARCHAR, after VARCHAR
  )`;

const NAMED = [
  { table: "custom_fields", id: "custom_field_id", name: "name" },
  { table: "destinations", id: "destination_id", name: "identification" },
];

/** SQL: names of custom fields and destinations, from the later run if it has them. */
function namesSql(views: ReadonlyMap<string, Types>): string {
  const sources = ["", "before_"].flatMap((prefix, turn) =>
    NAMED.filter(({ table }) => views.has(`${prefix}${table}`)).map(
      ({ table, id, name }) => `SELECT '${id}', ${id}, ${turn}, ${name} FROM ${prefix}${table}`,
    ),
  );
  const rows = ["SELECT NULL::VARCHAR, NULL::VARCHAR, NULL::INTEGER, NULL::VARCHAR", ...sources];
  return `SELECT kind, id, arg_min(name, turn) AS name FROM (${rows.join(" UNION ALL ")}) AS names (kind, id, turn, name) GROUP BY kind, id`;
}

const ALONE = `
  SELECT content_id, CASE WHEN before.content_id IS NULL THEN 'added' ELSE 'removed' END AS change
  FROM (SELECT content_id FROM before_content) AS before FULL JOIN (SELECT content_id FROM content) AS after USING (content_id)
  WHERE $2::BOOLEAN AND (before.content_id IS NULL OR after.content_id IS NULL) AND ($1::VARCHAR IS NULL OR content_id = $1::VARCHAR)`;

const BOTH = `
  SELECT content_id FROM content SEMI JOIN before_content USING (content_id)
  WHERE $1::VARCHAR IS NULL OR content_id = $1::VARCHAR`;

/** Items that only one of the runs read singly: single-item columns of these are not compared. */
const UNREAD = `
  SELECT content_id FROM before_content AS before JOIN content AS after USING (content_id)
  WHERE before.${READ} IS DISTINCT FROM after.${READ}`;

/** Ranges of items with 8 MB of texts of both runs, and 1,000 bytes for each item. */
const RANGES = `
  SELECT content_id, (sum(bytes + 1000) OVER (ORDER BY content_id) // 8000000)::BIGINT AS range
  FROM diff_differing`;
