/** Transformer stages: tables from documents, and tables from tables. */
import { hint } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { isListOf, isText, type Options, optionFaults } from "../common/options.ts";
import { shown } from "../common/shown.ts";
import type { ItemDocuments, Row, RowOf, Transformer } from "../pipeline.ts";
import { CONTENT_TABLES, type ContentTableName, MAPPED_VALUE_TABLES } from "../tables/all.ts";
import { customTableFaults } from "../tables/custom-tables.ts";
import { type Column, contentId, type Table } from "../tables/declare.ts";
import { HISTORY_TABLES } from "../tables/history.ts";

export interface ContentTablesOptions {
  /** These tables, and no others. */
  readonly only?: readonly ContentTableName[];
  /** All but these. */
  readonly except?: readonly ContentTableName[];
}

/**
 * The tables that the specification's fields land in: all that the pipeline's extractors can fill, unless options say
 * which. Extraction asks only for what the tables need.
 */
export function contentTables(options: ContentTablesOptions = {}): Transformer {
  const faults = optionFaults("contentTables", options, { only: areTables, except: areTables });
  const { only, except }: ContentTablesOptions = options ?? {};
  if (only !== undefined && except !== undefined)
    faults.push("contentTables takes either only or except, not both");
  const isChosen = (name: ContentTableName) => only?.includes(name) ?? !except?.includes(name);
  return {
    name: "contentTables",
    tables: faults.length > 0 ? [] : CONTENT_TABLES.filter(({ name }) => isChosen(name)),
    reads: [],
    takesWhatThereIs: only === undefined,
    faults,
  };
}

const areTables: Options[string] = (value) => {
  if (!Array.isArray(value)) return "is not a list of tables";
  const names = CONTENT_TABLES.map(({ name }): string => name);
  const strangers = value.filter((name) => !names.includes(name));
  const named = strangers.map((name) => `${shown(name)}${isText(name) ? hint(name, names) : ""}`);
  return strangers.length === 0 || `names ${named.join(", ")}, which no content table is called`;
};

export interface MappedValuesOptions {
  /** Whether values of fields without value mappings are sent as they are; false unless given. */
  readonly passthrough?: boolean;
}

/** The external values that each item gives at each destination, and the payloads (rules 1 to 8 of the specification). */
export function mappedValues(options: MappedValuesOptions = {}): Transformer {
  const faults = optionFaults("mappedValues", options, {
    passthrough: (value) => typeof value === "boolean" || "is not true or false",
  });
  const passthrough = options?.passthrough === true;
  return { name: "mappedValues", tables: MAPPED_VALUE_TABLES, reads: MAPPED_FROM, passthrough, faults };
}

const MAPPED_FROM: readonly ContentTableName[] = [
  "content_custom_field_values",
  "custom_fields",
  "custom_field_select_values",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "destinations",
];

/** What mapped values and mappings were in each run, since when, and why they changed. */
export function history(): Transformer {
  const reads = ["content", "content_mapped_values", "content_external_payloads"];
  return { name: "history", tables: HISTORY_TABLES, reads };
}

interface TableOptions<Columns extends readonly Column[]> {
  /** Lower-case letters, digits and `_`; no name of a table, view or macro of the package, such as those with `run_`. */
  readonly name: string;
  /** One sentence. */
  readonly comment: string;
  readonly columns: readonly [...Columns];
}

export interface CustomTableOptions<Columns extends readonly Column[], Given> extends TableOptions<Columns> {
  /** Columns after `content_id`, which is always the first of the key; they are `required`. */
  readonly key?: readonly Columns[number]["name"][];
  /**
   * Rows of an item; `content_id` is filled in. Runs in worker threads, so it is a function of the item alone: text and
   * `json` as a string, instants as microseconds since 1970, dates as days since 1970.
   */
  readonly rows: (item: ItemDocuments) => Iterable<Exactly<Given, RowOf<Columns>>>;
}

/** A row without columns that the table has not; of several kinds of rows each by itself. */
type Exactly<Given, Allowed> = string extends keyof Given
  ? Given
  : Given extends Allowed
    ? Given & { readonly [Key in Exclude<keyof Given, keyof Allowed>]: never }
    : Allowed;

/**
 * A table of your own, with rows made from each item. With it all configured columns are asked for.
 *
 *     customTable({
 *       name: "content_titles",
 *       comment: "Titles.",
 *       columns: [text("title", { from: ["full:title"], comment: "Title.", required: true })],
 *       *rows({ full }) {
 *         if (full?.title) yield { title: full.title };
 *       },
 *     })
 */
export function customTable<const Columns extends readonly Column[], Given extends Row>(
  options: CustomTableOptions<Columns, Given>,
): Transformer {
  const { columns, key = [], rows } = objectOf(options);
  const declared = declaredTable("customTable", options, { rows: isFunction }, () => ({
    reads: [],
    stage: "item",
    key: ["content_id", ...key],
    references: [{ columns: ["content_id"], table: "content", to: ["content_id"] }],
    columns: [contentId, ...columns],
  }));
  return { ...declared, rows };
}

export interface SqlTableOptions<Columns extends readonly Column[]> extends TableOptions<Columns> {
  /** Columns of the key; they are `required`. */
  readonly key: readonly Columns[number]["name"][];
  /** Tables that the query reads. */
  readonly reads: readonly string[];
  /** A SELECT that gives the columns by their names, in any order. */
  readonly sql: string;
}

/**
 * A table of your own, with rows made by a query over other tables of the run.
 *
 *     sqlTable({
 *       name: "items_by_type",
 *       comment: "How many items each type has.",
 *       key: ["content_type_id"],
 *       columns: [
 *         text("content_type_id", { comment: "Type.", required: true }),
 *         bigint("items", { comment: "Items." }),
 *       ],
 *       reads: ["content"],
 *       sql: "SELECT content_type_id, count(*) AS items FROM content WHERE content_type_id IS NOT NULL GROUP BY ALL",
 *     })
 */
export function sqlTable<const Columns extends readonly Column[]>(
  options: SqlTableOptions<Columns>,
): Transformer {
  const { columns, key, reads, sql } = objectOf(options);
  const checks = { key: isKey, reads: isListOf("names of tables", isText), sql: isOneText };
  const declared = declaredTable("sqlTable", options, checks, () => ({
    reads,
    stage: "query",
    key,
    references: [],
    columns,
  }));
  return { ...declared, sql };
}

/** What was given in the place of options; of what is no object, nothing. */
function objectOf<Given extends object>(options: Given): Given {
  return isObject(options) ? options : ({} as Given);
}

const isOneText: Options[string] = (value) => isText(value) || "is not a text";
const isFunction: Options[string] = (value) => typeof value === "function" || "is not a function";
const isKey = isListOf("names of columns", isText);

/** Options that every table of the user's own must have. */
const NEEDED: Options = {
  name: isOneText,
  comment: isOneText,
  columns: (value) => Array.isArray(value) || "is not a list of columns",
};

/** A declared table of the user's own, or what is wrong with it. `checks`: of options that it must have besides. */
function declaredTable(
  factory: string,
  options: TableOptions<readonly Column[]>,
  checks: Options,
  declare: () => Pick<Table, "stage" | "key" | "references" | "columns"> & Pick<Transformer, "reads">,
): Transformer {
  const { name, comment } = objectOf(options);
  const stage = `${factory} ${shown(name)}`;
  const needed = { ...NEEDED, ...checks };
  const faults = optionFaults(stage, options, { key: isKey, ...needed }, Object.keys(needed));
  if (faults.length > 0) return { name: stage, tables: [], reads: [], faults };
  const { reads, ...declared } = declare();
  const table: Table = { name, comment, rows: { kind: "program" }, ...declared };
  const wrong = customTableFaults(table).map((fault) => `${stage}: ${fault}`);
  return { name: stage, tables: wrong.length > 0 ? [] : [table], reads, faults: wrong };
}
