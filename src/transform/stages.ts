/** Transformer stages of a pipeline. */
import { z } from "zod";
import { didYouMean } from "../common/nearest.ts";
import { parseOptions } from "../common/parse-form.ts";
import { describeValue } from "../common/printable.ts";
import type { ItemDocuments, Row, RowOf, Transformer } from "../pipeline.ts";
import { CONTENT_TABLES, type ContentTableName, MAPPED_FROM, MAPPED_VALUE_TABLES } from "../tables/all.ts";
import { type Column, contentId, type Table } from "../tables/declare.ts";
import { HISTORY_TABLES } from "../tables/history.ts";

export interface ContentTablesOptions {
  /** Only these tables. */
  readonly only?: readonly ContentTableName[];
  /** All tables except these. */
  readonly except?: readonly ContentTableName[];
}

const tableNames = z
  .array(
    z.string().superRefine((name, { addIssue }) => {
      const names = CONTENT_TABLES.map((table): string => table.name);
      if (!names.includes(name)) addIssue(`no content table is called "${name}"${didYouMean(name, names)}`);
    }),
  )
  .optional();
const contentTablesOptions = z
  .strictObject({ only: tableNames, except: tableNames })
  .refine(({ only, except }) => only === undefined || except === undefined, "takes only or except, not both");

/**
 * The tables of content: by default all that the pipeline's extractors can fill. Extraction requests only the columns that
 * the tables need.
 */
export function contentTables(options: ContentTablesOptions = {}): Transformer {
  const { only, except } = parseOptions("contentTables", contentTablesOptions, options);
  return {
    name: "contentTables",
    tables: CONTENT_TABLES.filter(({ name }) => only?.includes(name) ?? !except?.includes(name)),
    reads: [],
    omitsUnfillableTables: only === undefined,
  };
}

export interface MappedValuesOptions {
  /** Whether values of fields without value mappings are sent as they are; false by default. */
  readonly passthrough?: boolean;
}

const mappedValuesOptions = z.strictObject({ passthrough: z.boolean().default(false) });

/** External values and payloads of each item and destination, by rules 1 to 8 of the specification. */
export function mappedValues(options: MappedValuesOptions = {}): Transformer {
  const { passthrough } = parseOptions("mappedValues", mappedValuesOptions, options);
  return { name: "mappedValues", tables: MAPPED_VALUE_TABLES, reads: MAPPED_FROM, passthrough };
}

/** History of mapped values and definitions: when each held, and why it changed. */
export function history(): Transformer {
  const reads = ["content", "content_mapped_values", "content_external_payloads"];
  return { name: "history", tables: HISTORY_TABLES, reads };
}

interface TableSettings<Columns extends readonly Column[]> {
  /** Lower-case letters, digits and `_`; not the name of a table, view or macro of the package. */
  readonly name: string;
  /** One sentence. */
  readonly comment: string;
  readonly columns: readonly [...Columns];
}

export interface CustomTableOptions<Columns extends readonly Column[], Given> extends TableSettings<Columns> {
  /** Key columns after `content_id`; they are `required`. */
  readonly key?: readonly Columns[number]["name"][];
  /**
   * Rows of an item, without `content_id`. Runs in worker threads, so it must depend only on the item. `json` cells are
   * strings, instants microseconds since 1970, dates days since 1970.
   */
  readonly rows: (item: ItemDocuments) => Iterable<ExactRow<Given, RowOf<Columns>>>;
}

/** A row type without unknown columns; each member of a union is checked by itself. */
type ExactRow<Given, Allowed> = string extends keyof Given
  ? Given
  : Given extends Allowed
    ? Given & { readonly [Key in Exclude<keyof Given, keyof Allowed>]: never }
    : Allowed;

/**
 * A custom table, with rows made from each item. With it, all configured columns are requested.
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
  const stage = `customTable ${describeValue(options?.name)}`;
  const { rows, ...given } = parseOptions(stage, customTableOptions, options);
  const table: Table = {
    ...given,
    rows: { kind: "program" },
    stage: "item",
    key: ["content_id", ...given.key],
    references: [{ columns: ["content_id"], table: "content", to: ["content_id"] }],
    columns: [contentId, ...given.columns],
  };
  return { name: stage, tables: [table], reads: [], rows };
}

export interface SqlTableOptions<Columns extends readonly Column[]> extends TableSettings<Columns> {
  /** Key columns; they are `required`. */
  readonly key: readonly Columns[number]["name"][];
  /** Tables that the query reads. */
  readonly reads: readonly string[];
  /** A SELECT with the columns by name, in any order. */
  readonly sql: string;
}

/**
 * A custom table, with rows of a query over other tables of the run.
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
  const stage = `sqlTable ${describeValue(options?.name)}`;
  const { reads, sql, ...given } = parseOptions(stage, sqlTableOptions, options);
  const table: Table = { ...given, rows: { kind: "program" }, stage: "query", references: [] };
  return { name: stage, tables: [table], reads, sql };
}

/** Options of a custom table. `definePipeline` checks columns and key. */
const tableOptions = {
  name: z.string(),
  comment: z.string(),
  columns: z.array(z.custom<Column>(() => true)),
  key: z.array(z.string()).default([]),
};
const customTableOptions = z.strictObject({
  ...tableOptions,
  rows: z.custom<NonNullable<Transformer["rows"]>>(
    (value) => typeof value === "function",
    "expected a function",
  ),
});
const sqlTableOptions = z.strictObject({ ...tableOptions, reads: z.array(z.string()), sql: z.string() });
