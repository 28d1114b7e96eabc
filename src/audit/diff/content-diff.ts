/**
 * Compares the content of two runs, table by table, with the same two SQL statements for each. Rows are matched by the
 * key of their table without its ordinal. Lists have no other key, so their rows are added or removed. The order of
 * rows is not compared.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { DYNAMIC_COLUMNS, type DynamicColumn, isDynamicColumn } from "../../api/dynamic.ts";
import { SIGNED_URL_PATTERNS } from "../../api/signed-url.ts";
import { all, execute, scalar } from "../../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { CONTENT_TABLES, isRunTable, MAPPED_VALUE_TABLES, TABLES } from "../../tables/all.ts";
import type { Column, Table } from "../../tables/declare.ts";
import { createTempTable, loadSql } from "../queries.ts";

interface ComparedColumn {
  readonly name: string;
  /** DuckDB type; `VARCHAR` if the runs differ. */
  readonly type: string;
  /** Whether the column can change while the item does not. */
  readonly isVolatile: boolean;
  /** Whether only single-item requests give the column. */
  readonly isSingly: boolean;
}

/** A table of items that both runs have, with the columns that both have. */
interface ComparedTable {
  readonly name: string;
  /** Columns of the key besides `content_id` and `ordinal`. */
  readonly key: readonly string[];
  /** Whether an item has several rows without another key. */
  readonly isList: boolean;
  readonly isOrdered: boolean;
  readonly columns: readonly ComparedColumn[];
}

type Types = ReadonlyMap<string, string>;
type Rows = Readonly<Record<string, number>>;

/**
 * Finds the tables of items that both runs have (`content` first), and what only one run has; `column` is null for a
 * whole table. `rowsBefore`, `rowsAfter`: rows by table. `wanted`: a table asked for by name, also one of mapped values.
 */
export async function comparedTables(
  connection: DuckDBConnection,
  rowsBefore: Rows,
  rowsAfter: Rows,
  wanted?: string,
) {
  const columns = await readColumns(connection);
  const tables: ComparedTable[] = [];
  const oneSided: { table: string; column: string | null; side: "before" | "after" }[] = [];
  for (const name of new Set(["content", ...Object.keys(rowsAfter), ...Object.keys(rowsBefore)])) {
    const before = Object.hasOwn(rowsBefore, name) ? columns.get(`before_${name}`) : undefined;
    const after = Object.hasOwn(rowsAfter, name) ? columns.get(name) : undefined;
    const isAsked = name === wanted && MAPPED_VALUE_TABLES.some((table) => table.name === name);
    if (!isAsked && !isOfContent(name, after ?? before)) continue;
    if (before !== undefined && after !== undefined) tables.push(comparedTable(name, before, after));
    for (const [side, own, other] of [
      ["before", before, after] as const,
      ["after", after, before] as const,
    ]) {
      if (own !== undefined && other === undefined) oneSided.push({ table: name, column: null, side });
      for (const column of own?.keys() ?? [])
        if (other?.has(column) === false) oneSided.push({ table: name, column, side });
    }
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

/** Whether a table holds what the service says of an item, rather than what is derived from it. */
function isOfContent(table: string, columns: Types | undefined): boolean {
  const isDerived =
    TABLES.some(({ name }) => name === table) && !CONTENT_TABLES.some(({ name }) => name === table);
  return columns?.has("content_id") === true && !isDerived && !isRunTable(table);
}

/** How an item was read; not part of its content. */
const READ = "single_item_read";

function comparedTable(name: string, before: Types, after: Types): ComparedTable {
  const declared: Table | undefined = [...CONTENT_TABLES, ...MAPPED_VALUE_TABLES].find(
    (table) => table.name === name,
  );
  const key = (declared?.key ?? []).filter((column) => column !== "content_id" && column !== "ordinal");
  // Derived columns of items, which come from no API field, change with their sources.
  const isDerived = (column: string) =>
    declared?.stage === "item" &&
    declared.columns.some((each) => each.name === column && each.origins.length === 0);
  const isKeyed = declared !== undefined && !declared.key.includes("ordinal");
  return {
    name,
    key,
    isList: !isKeyed && key.length === 0,
    isOrdered: before.has("ordinal") && after.has("ordinal"),
    columns: [...after]
      .filter(([column]) => before.has(column) && !["content_id", "ordinal", ...key].includes(column))
      .filter(([column]) => column === "extra" || !isDerived(column))
      .map(([column, type]) => {
        const origin = declared?.columns.find((each) => each.name === column);
        return {
          name: column,
          type: before.get(column) === type ? type : "VARCHAR",
          isVolatile:
            column === READ || isOf(origin, ({ changesWithoutEdit }) => changesWithoutEdit !== undefined),
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

/** Bytes compared at a time: texts of both runs, plus an allowance per item. */
const BYTES_PER_RANGE = 8_000_000;
const BYTES_PER_ITEM = 1000;

/**
 * Creates the temporary tables `diff_alone` (items that only one run has, if `content` is compared: `content_id`,
 * `change`) and `content_changes`. The connection has the earlier run's tables as `before_*`.
 */
export async function diffContent(
  connection: DuckDBConnection,
  {
    tables,
    item,
    withVolatile,
  }: {
    readonly tables: readonly ComparedTable[];
    /** ID of the only item to compare; undefined: all items. */
    readonly item: string | undefined;
    /** Whether volatile columns are compared too. */
    readonly withVolatile: boolean;
  },
): Promise<void> {
  await createTempTable(connection, "diff_names", await namesSql(connection));
  for (const macro of MACROS) await execute(connection, `CREATE OR REPLACE TEMP MACRO ${macro}`);
  const withItems = tables.some(({ name }) => name === "content");
  await createTempTable(connection, "diff_alone", ALONE, [item ?? null, withItems]);
  await createTempTable(connection, "diff_both", BOTH, [item ?? null]);
  const columns = await readColumns(connection);
  const saysHowRead = ["before_content", "content"].every((name) => columns.get(name)?.has(READ));
  await createTempTable(connection, "diff_unread", saysHowRead ? UNREAD : NONE);
  await execute(connection, NO_CHANGES);
  for (const [place, table] of tables.entries()) {
    const compared = table.columns.filter(({ isVolatile }) => withVolatile || !isVolatile);
    // If all columns of a table are volatile, only `extra` is left: skip it.
    if (compared.length < table.columns.length && compared.every(({ name }) => name === "extra")) continue;
    const marks = { ...marksOf({ ...table, columns: compared }), table_place: String(place) };
    // Most differing items differ only in signed URLs. Finding those takes longer, so it comes second.
    const step = loadSql("content_differing");
    await createTempTable(
      connection,
      "diff_raw",
      fillMarks(step, { ...marks, ids: "diff_both", hashed: marks.raw }),
    );
    if ((await scalar(connection, "SELECT count(*) FROM diff_raw")) === 0) continue;
    await createTempTable(connection, "diff_differing", fillMarks(step, { ...marks, ids: "diff_raw" }));
    await createTempTable(connection, "diff_ranges", RANGES);
    const changes = fillMarks(loadSql("content_changes"), marks);
    for (const { range } of await all(connection, "SELECT DISTINCT range FROM diff_ranges ORDER BY range")) {
      const items = `SELECT content_id FROM diff_ranges WHERE range = ${Number(range)}`;
      await createTempTable(connection, "diff_range", items);
      await execute(connection, `INSERT INTO content_changes BY NAME ${changes}`);
    }
  }
}

/** Replacements for the marks of both statements. */
function marksOf({ name, key, isList, isOrdered, columns }: ComparedTable) {
  const value = ({ name: column, type }: ComparedColumn) => `t.${quoteIdentifier(column)}::${type}`;
  const own = key.map((column) => `t.${quoteIdentifier(column)}`);
  const named = key.map((column) => `named(${quoteLiteral(column)}, t.${quoteIdentifier(column)}::VARCHAR)`);
  // Not 0, whose hash is 0: a row without other cells would not count.
  const listed = (cells: readonly string[]) => ["1", ...own, ...cells].join(", ");
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
    names: columns.map(({ name: column }) => quoteLiteral(column)).join(", "),
    raw: listed(columns.map(value)),
    hashed: listed(cells),
    cells: `[${cells.join(", ")}]::VARCHAR[]`,
    key: `[${named.join(", ")}]::VARCHAR[]`,
    place: isOrdered ? "t.ordinal" : "0",
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
  // Start of the first of 64 parts in which two texts differ. 'start' and 'size' are those of the parts.
  `differing_part(own, other, start, size) AS start + size * (
    coalesce(
      list_position(
        list_transform(
          range(0, 64),
          lambda part: substr(own, start + part * size, size) <> substr(other, start + part * size, size)
        ),
        true
      ),
      1
    ) - 1
  )`,
  `difference(own, other) AS differing_part(
    own,
    other,
    differing_part(own, other, 1::BIGINT, greatest(length(own), length(other)) // 64 + 1),
    greatest(length(own), length(other)) // 4096 + 1
  )`,
  // A short text, or the part of a long text around the first difference.
  `excerpt(own, other) AS CASE
    WHEN length(own) <= ${TEXT_LENGTH} THEN own
    WHEN other IS NULL OR difference(own, other) <= ${LENGTH_BEFORE} THEN left(own, ${TEXT_LENGTH}) || '…'
    ELSE '…' || substr(own, difference(own, other) - ${LENGTH_BEFORE}, ${TEXT_LENGTH}) || '…'
  END`,
];

const NO_CHANGES = `
  CREATE OR REPLACE TEMP TABLE content_changes (
    content_id VARCHAR, table_place INTEGER, "table" VARCHAR, "row" VARCHAR, row_place INTEGER, "column" VARCHAR,
    column_place INTEGER, change VARCHAR, before VARCHAR, after VARCHAR
  )`;

/** SQL: names of custom fields and destinations, from the later run if it has them. */
async function namesSql(connection: DuckDBConnection): Promise<string> {
  const views = await readColumns(connection);
  const sources = ["", "before_"].flatMap((prefix, turn) => [
    ...(views.has(`${prefix}custom_fields`)
      ? [`SELECT 'custom_field_id', custom_field_id, ${turn}, name FROM ${prefix}custom_fields`]
      : []),
    ...(views.has(`${prefix}destinations`)
      ? [`SELECT 'destination_id', destination_id, ${turn}, identification FROM ${prefix}destinations`]
      : []),
  ]);
  const rows = ["SELECT NULL::VARCHAR, NULL::VARCHAR, NULL::INTEGER, NULL::VARCHAR", ...sources];
  return `SELECT kind, id, arg_min(name, turn) AS name FROM (${rows.join(" UNION ALL ")}) AS names (kind, id, turn, name) GROUP BY kind, id`;
}

const NONE = "SELECT NULL::VARCHAR AS content_id LIMIT 0";

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

const RANGES = `
  SELECT content_id, (sum(bytes + ${BYTES_PER_ITEM}) OVER (ORDER BY content_id) // ${BYTES_PER_RANGE})::BIGINT AS range
  FROM diff_differing`;
