/** Which tables and columns of two runs are compared for changes of content, and what of them is apart. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { DYNAMIC_COLUMNS, type DynamicColumn, isDynamicColumn } from "../../api/dynamic.ts";
import { all } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { CONTENT_TABLES, isAboutTheRun, TABLES } from "../../tables/all.ts";
import type { Column, Table } from "../../tables/declare.ts";

export interface ComparedColumn {
  readonly name: string;
  /** Both runs have it; where their types differ, as `text`. */
  readonly kind: "text" | "json" | "instant" | "plain";
  /** An empty text is NULL, which runs of earlier versions may have as it was sent. */
  readonly isEmptyNull: boolean;
  /** It may change while nothing of the item does. */
  readonly isApart: boolean;
  /** It says something only of an item that was read by itself. */
  readonly isSingly: boolean;
}

/** A table of items that both runs have. */
export interface ComparedTable {
  readonly name: string;
  /** Columns that tell rows of an item apart, without the position in a list; `content_id` is the first. */
  readonly key: readonly string[];
  /** Whether no two rows have the same key. */
  readonly isUnique: boolean;
  /** Rows that have these alike are in an order, by the column `ordinal`; undefined: the table has no order. */
  readonly orderedWithin: readonly string[] | undefined;
  /** Column that says what an element of a list is; undefined: nothing but all of its columns does. */
  readonly naming: string | undefined;
  /** Column that people know a row of a list by, or an element of it; undefined or empty: all columns are told. */
  readonly telling: string | undefined;
  readonly columns: readonly ComparedColumn[];
}

/** What only one of two runs has; `column` is null for a whole table. */
export interface OneSided {
  readonly table: string;
  readonly column: string | null;
  readonly side: "before" | "after";
}

const ID = "content_id";
const ORDINAL = "ordinal";

/** Whether the rows of a table are what the service says of an item: all that have its ID but what is made of them. */
export function isOfContent(table: string, columns: ReadonlyMap<string, string>): boolean {
  const declared = TABLES.find(({ name }) => name === table);
  if (declared !== undefined && !CONTENT_TABLES.some(({ name }) => name === table)) return false;
  return columns.has(ID) && !isAboutTheRun(table);
}

/** Names and types of the columns of a table or view, in their order. */
export async function columnsOf(
  connection: DuckDBConnection,
  table: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await all(connection, `DESCRIBE FROM ${quoteIdentifier(table)}`);
  return new Map(rows.map((row) => [String(row.column_name), String(row.column_type)]));
}

/** A table with the columns that both runs have of it. */
export function comparedTable(
  name: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ComparedTable {
  const declared: Table | undefined = CONTENT_TABLES.find((table) => table.name === name);
  const key = declared?.key ?? [ID];
  const isList = declared === undefined || key.includes(ORDINAL);
  const own = key.filter((column) => column !== ORDINAL);
  const shared = [...after.keys()].filter(
    (column) => before.has(column) && column !== ORDINAL && !own.includes(column),
  );
  const hasOrder = before.has(ORDINAL) && after.has(ORDINAL);
  const naming = isList && declared !== undefined ? shared[0] : undefined;
  return {
    name,
    key: own,
    isUnique: !isList,
    orderedWithin: hasOrder ? (isList ? own : own.slice(0, -1)) : undefined,
    naming,
    telling: TELLING[name] ?? naming ?? own.slice(1).at(-1),
    columns: shared.map((column) => {
      const [one = "", other = ""] = [before.get(column), after.get(column)];
      const origin = declared?.columns.find((each) => each.name === column);
      return {
        name: column,
        kind: kindOf(one, other, origin),
        isEmptyNull: origin?.emptyDefault === "null",
        isApart: column === READ || isOf(origin, ({ apart }) => apart !== undefined),
        isSingly: isOf(origin, ({ singleItemOnly }) => singleItemOnly),
      };
    }),
  };
}

const TELLING: Readonly<Record<string, string>> = { content_custom_field_values: "value" };

/** How an item was read, which is not what it is. */
export const READ = "single_item_read";

/** All that is in the table may change while nothing of the item does; a table without columns is its rows. */
export function isApart({ columns }: Pick<ComparedTable, "columns">): boolean {
  const some = columns.filter(({ name }) => name !== "extra");
  return some.length > 0 && some.every((column) => column.isApart);
}

function kindOf(before: string, after: string, origin: Column | undefined): ComparedColumn["kind"] {
  if (origin?.type === "json" || before === "JSON" || after === "JSON") return "json";
  if (before !== after || after === "VARCHAR") return "text";
  return after === "TIMESTAMP WITH TIME ZONE" ? "instant" : "plain";
}

/** Whether all API fields that a column comes from are of this kind. */
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
