/** Makes rows of all item tables from the documents of an item. Pure: no clock, network or disk. */

import type { ItemDocuments, Pipeline } from "../pipeline.ts";
import { ExtraFields, type JsonObject, type RawItem, type Shape } from "../raw/document.ts";
import type { Table } from "../tables/declare.ts";
import { customFieldValueRows } from "./custom-fields.ts";
import { checkedRows, type RowFunction } from "./custom-tables.ts";
import type { EntityPool } from "./entity-store.ts";
import { aclRows, collectionRows, favoriteRows, fileRow, fileRows } from "./joined-rows.ts";
import { containedRows, itemRows, type RowMaker, type RowSink } from "./rows.ts";

/** Only the tables made from items are used. */
interface TransformPlan extends Pick<Pipeline, "tables" | "rows"> {
  /** Returns the function that takes the rows of a table. */
  readonly sink: (table: Table) => RowSink;
  readonly pool: EntityPool;
}

/** Compiles the transform of an item. `content` comes last, because it takes the unknown fields that no row claimed. */
export function compileTransform(plan: TransformPlan): (item: RawItem) => void {
  const steps = plan.tables
    .filter((table) => table.stage === "item")
    .map((table) => ({ table, rows: rowsOf(plan, table), emit: plan.sink(table) }));
  steps.sort((a, b) => Number(a.table.name === "content") - Number(b.table.name === "content"));
  return (item) => {
    plan.pool.describe(item);
    for (const { rows, emit } of steps) rows(item, emit);
  };
}

function rowsOf(plan: TransformPlan, table: Table): RowMaker {
  const { rows } = table;
  switch (rows.kind) {
    case "item":
      return itemRows(table, rows.when);
    case "list":
    case "object":
      return containedRows(table, rows);
  }
  const custom = plan.rows[table.name];
  const program = PROGRAMS[table.name];
  if (custom !== undefined) return customRows(table, custom);
  if (program === undefined) throw new TypeError(`no program for table ${table.name}`);
  return program(table, plan);
}

const PROGRAMS: Readonly<Record<string, (table: Table, plan: TransformPlan) => RowMaker>> = {
  content_files: fileRows,
  content_favorites: favoriteRows,
  content_collections: collectionRows,
  content_acl_principals: aclRows,
  content_custom_field_values: (table, plan) => customFieldValueRows(table, fileSink(plan)),
};

function fileSink(plan: TransformPlan): (item: RawItem, file: JsonObject) => void {
  const files = plan.tables.find((table) => table.name === "custom_field_files");
  if (files === undefined) return () => {};
  const emit = plan.sink(files);
  return (item, file) => emit(fileRow({ table: files, item, extra: new ExtraFields(), fixed: {} }, file));
}

function customRows(table: Table, custom: RowFunction): RowMaker {
  return (item, emit) => {
    for (const row of checkedRows(table, custom, documentsOf(item)))
      emit(table.columns.map((column) => row[column.name] ?? null));
  };
}

/** The unchecked documents of an item. As in tables, a key that a later document lacks comes from an earlier one. */
function documentsOf({ contentId, views }: RawItem): ItemDocuments {
  const document = (shape: Shape) => {
    const [latest, ...earlier] = views.filter((view) => view.shape === shape).map((view) => view.document);
    if (latest === undefined || earlier.length === 0) return latest;
    return Object.fromEntries([...earlier.reverse(), latest].flatMap((each) => Object.entries(each)));
  };
  return { contentId, dynamic: document("dynamic"), full: document("full") } as ItemDocuments;
}
