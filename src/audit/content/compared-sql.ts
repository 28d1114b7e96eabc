/** Texts of SQL over the columns that two runs have of a table. The earlier run's tables have names that begin with `before_`. */
import { SIGNED_URL_PATTERNS } from "../../api/signed-url.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { type ComparedColumn, type ComparedTable, isApart } from "./compared-tables.ts";

const [SIGNED_URL, PARAMETER] = [SIGNED_URL_PATTERNS.url, SIGNED_URL_PATTERNS.parameter].map((pattern) =>
  quoteLiteral(`(?i)${pattern}`),
);

/** A text without the parameters that sign the URLs in it. */
export const UNSIGNED = `CREATE OR REPLACE TEMP MACRO made_unsigned(given) AS CASE
  WHEN regexp_matches(given, ${SIGNED_URL}) THEN array_to_string(
    list_transform(
      list_zip(string_split_regex(given, ${SIGNED_URL}), regexp_extract_all(given, ${SIGNED_URL})),
      lambda part: concat(part[1], regexp_replace(part[2], ${PARAMETER}, '', 'g'))
    ),
    ''
  ) ELSE given END;`;

type Side = "before_" | "";

const identifiers = (names: readonly string[]) => names.map(quoteIdentifier).join(", ");

/** A column's value; NULL where an empty text means that. */
function cellOf({ name, isEmptyNull }: ComparedColumn): string {
  const column = `t.${quoteIdentifier(name)}`;
  return isEmptyNull ? `nullif(${column}, '')` : column;
}

/** A column's value as it is compared. */
function compared(column: ComparedColumn): string {
  const { kind, isSingly } = column;
  const cell = cellOf(column);
  const value = kind === "text" || kind === "json" ? `made_unsigned(${cell}::VARCHAR)` : cell;
  return isSingly ? `CASE WHEN unread.content_id IS NULL THEN ${value} END` : value;
}

function source({ name, columns }: ComparedTable, side: Side): string {
  const unread = columns.some(({ isSingly }) => isSingly)
    ? " LEFT JOIN made_unread AS unread USING (content_id)"
    : "";
  return `${quoteIdentifier(`${side}${name}`)} AS t${unread}`;
}

/** Digests of everything in a side's rows. */
export function rowDigests(table: ComparedTable, side: Side): string {
  const cells = table.columns.map((column) =>
    column.kind === "text" ? `${cellOf(column)}::VARCHAR` : cellOf(column),
  );
  return `SELECT content_id, ${digestOf(table, cells)} AS made_all FROM ${quoteIdentifier(`${side}${table.name}`)} AS t`;
}

/** Of the items in made_differing: digests of what counts in a side's rows, and bytes of their texts. */
export function countedDigests(table: ComparedTable, side: Side, isCompared: boolean): string {
  const counted = table.columns.filter((column) => !column.isApart || isApart(table)).map(compared);
  const bytes = table.columns.flatMap(({ name, kind }) =>
    kind === "text" || kind === "json" ? `coalesce(strlen(t.${quoteIdentifier(name)}::VARCHAR), 0)` : [],
  );
  return `SELECT content_id, ${isCompared ? digestOf(table, counted) : "0"} AS made_changed,
    ${["0", ...bytes].join(" + ")} AS made_bytes FROM ${source(table, side)} SEMI JOIN made_differing USING (content_id)`;
}

function digestOf({ key, orderedWithin }: ComparedTable, cells: readonly string[]): string {
  const place = orderedWithin === undefined ? [] : ["t.ordinal"];
  const own = [...key.slice(1).map((name) => `t.${quoteIdentifier(name)}`), ...place];
  // Not 0, whose hash is 0: a row without anything else would count for nothing.
  return `hash(${["1", ...own, ...cells].join(", ")})`;
}

/** Rows of the items of a range, with the columns that count. */
export function sideOf(table: ComparedTable, columns: readonly ComparedColumn[], side: Side): string {
  const cells = columns.map((column) => `${compared(column)} AS ${quoteIdentifier(column.name)}`);
  const own = table.key.map((name) => `t.${quoteIdentifier(name)}`);
  const digest = columns.length === 0 ? "0::UBIGINT" : `hash(${columns.map(compared).join(", ")})`;
  const hasField = table.key.includes("custom_field_id");
  return `SELECT ${side === ""} AS made_after, ${table.orderedWithin === undefined ? "0" : "t.ordinal"} AS made_ordinal,
    ${digest} AS made_same, ${rowName(table)} AS made_row, ${[...own, ...cells].join(", ")}
    FROM ${source(table, side)} ${hasField ? "LEFT JOIN made_fields AS field USING (custom_field_id)" : ""}
    SEMI JOIN made_range USING (content_id)`;
}

/** What tells a row of an item from others, for people. */
function rowName({ key }: ComparedTable): string {
  const names = key
    .slice(1)
    .map((name) =>
      name === "custom_field_id" ? "coalesce(field.name, t.custom_field_id)" : `t.${quoteIdentifier(name)}`,
    );
  return names.length === 0 ? "NULL::VARCHAR" : `concat_ws(' ', ${names.join(", ")})`;
}

interface ChangeCells {
  readonly id: string;
  readonly row: string;
  readonly column: string;
  /** Of the column, among those of its table. */
  readonly place: string;
  readonly change: "added" | "removed" | "changed" | "reordered";
  readonly kind: string;
  readonly before: string;
  readonly after: string;
}

/** What stands between SELECT and FROM for a change. */
function changeCells({ id, row, column, place, change, kind, before, after }: ChangeCells): string {
  return `${id} AS content_id, ${row} AS "row", ${column} AS "column", ${place} AS column_place,
    ${quoteLiteral(change)} AS change, ${kind} AS kind, ${before} AS before, ${after} AS after`;
}

const BOTH_SIDES = `JOIN made_sides AS before ON before.rowid = before_place
  JOIN made_sides AS after ON after.rowid = after_place`;

/** The changes of the matched rows, in any order: cells, rows that one side alone has, and lists in another order. */
export function changesSql(table: ComparedTable, columns: readonly ComparedColumn[]): string {
  const parts = [alone(table, columns, "removed"), alone(table, columns, "added"), ...reordered(table)];
  return [...(columns.length === 0 ? [] : [changedCells(table, columns)]), ...parts].join("\nUNION ALL\n");
}

/** One join for all columns: with one for each, the joins would take the memory of many ranges. */
function changedCells(table: ComparedTable, columns: readonly ComparedColumn[]): string {
  const cells = columns.map((column, place) => {
    const name = quoteIdentifier(column.name);
    const [before, after] = [cellText(`before.${name}`, column), cellText(`after.${name}`, column)];
    return `CASE WHEN before.${name} IS DISTINCT FROM after.${name} THEN {'name': ${quoteLiteral(column.name)}, 'place': ${place},
      'kind': ${quoteLiteral(column.kind)}, 'before': ${before}, 'after': ${after}} END`;
  });
  return `SELECT ${changeCells({
    id: "content_id",
    row: '"row"',
    column: "cell.name",
    place: "cell.place",
    change: "changed",
    kind: "cell.kind",
    before: "cell.before",
    after: "cell.after",
  })} FROM (
    SELECT before.content_id, ${rowOfPair(table)} AS "row", unnest([${cells.join(", ")}]) AS cell
    FROM made_matched ${BOTH_SIDES} WHERE NOT is_same
  ) WHERE cell IS NOT NULL`;
}

/** Rows that one side alone has. */
function alone(
  table: ComparedTable,
  columns: readonly ComparedColumn[],
  change: "added" | "removed",
): string {
  const text = rowText(table, columns);
  const [side, other] = change === "removed" ? ["before", "after"] : ["after", "before"];
  return `SELECT ${changeCells({
    id: "content_id",
    row: "made_row",
    column: "NULL",
    place: "-1",
    change,
    kind: "NULL",
    before: change === "removed" ? text : "NULL",
    after: change === "added" ? text : "NULL",
  })} FROM made_matched JOIN made_sides ON made_sides.rowid = ${side}_place WHERE ${other}_place IS NULL`;
}

/** Elements of a list have a name of their own where they have no other. */
function rowOfPair({ key, naming, columns }: ComparedTable): string {
  if (key.length > 1 || naming === undefined || columns.length <= 2) return "before.made_row";
  const name = quoteIdentifier(naming);
  return `CASE WHEN before.${name} = after.${name} THEN before.${name}::VARCHAR END`;
}

function cellText(value: string, { kind }: Pick<ComparedColumn, "kind">): string {
  if (kind === "instant") return `replace(strftime(${value}, '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')`;
  return `${value}::VARCHAR`;
}

/** Characters of a value among others of its row. */
const MAX_CELL = 100;

/** A row in words: what people know it by, else all of its values with their names. */
function rowText({ telling }: ComparedTable, columns: readonly ComparedColumn[]): string {
  const cell = (column: ComparedColumn) => cellText(quoteIdentifier(column.name), column);
  const told = columns.filter(({ name }) => name === telling).map(cell);
  const named = columns.map((column) => {
    const text = `${quoteLiteral(`${column.name}: `)} || left(${cell(column)}, ${MAX_CELL})`;
    return `CASE WHEN ${quoteIdentifier(column.name)} IS NOT NULL THEN ${text} END`;
  });
  return `coalesce(${[...told, `concat_ws(', ', ${["NULL", ...named].join(", ")})`].join(", ")})`;
}

/** Characters of a list that stands in another order. */
const MAX_LIST = 300;

/** Lists whose rows that are on both sides stand in another order. */
function reordered({ key, orderedWithin, telling, columns }: ComparedTable): string[] {
  if (orderedWithin === undefined) return [];
  const within = orderedWithin.map((name) => `before.${quoteIdentifier(name)}`);
  const isWhole = orderedWithin.length === key.length;
  const row = isWhole
    ? "any_value(made_row)"
    : orderedWithin.length > 1
      ? `nullif(concat_ws(' ', ${identifiers(orderedWithin.slice(1))}), '')`
      : "NULL::VARCHAR";
  const isTold = [...key, ...columns.map(({ name }) => name)].includes(telling ?? "");
  const text = (side: string) => (isTold ? `${side}.${quoteIdentifier(telling ?? "")}::VARCHAR` : "NULL");
  const list = (side: string) => `left(string_agg(${side}_text, ', ' ORDER BY ${side}_rank), ${MAX_LIST})`;
  const rank = (side: string) =>
    `row_number() OVER (PARTITION BY ${within.join(", ")} ORDER BY ${side}.made_ordinal, before_place) AS ${side}_rank`;
  return [
    `SELECT ${changeCells({
      id: "content_id",
      row,
      column: "'ordinal'",
      place: String(columns.length),
      change: "reordered",
      kind: "NULL",
      before: list("before"),
      after: list("after"),
    })} FROM (
      SELECT ${within.join(", ")}, before.made_row, ${text("before")} AS before_text, ${text("after")} AS after_text,
        ${rank("before")}, ${rank("after")}
      FROM made_matched ${BOTH_SIDES}
    )
    GROUP BY ${identifiers(orderedWithin)}
    HAVING bool_or(before_rank <> after_rank)`,
  ];
}
