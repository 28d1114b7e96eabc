/** Makes rows of all item tables from the documents of an item. Pure: no clock, network or disk. */

import type { ItemDocuments, Row } from "../pipeline.ts";
import type { JsonObject, RawItem, Shape } from "../raw/document.ts";
import type { Table } from "../tables/declare.ts";
import { customFieldValueRows, fileValueRow } from "./custom-fields.ts";
import type { EntityPool } from "./entity-store.ts";
import { aclRows, collectionRows, favoriteRows, fileRows } from "./joined-rows.ts";
import { itemRows, listRows, objectRows, type RowMaker, type RowSink } from "./rows.ts";

export type RowFunction = (item: ItemDocuments) => Iterable<Row>;

interface TransformPlan {
  /** Tables of the pipeline; only those made from items are used. */
  readonly tables: readonly Table[];
  /** Functions of custom tables, by table name. */
  readonly rows: Readonly<Record<string, RowFunction>>;
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
      return listRows(table, rows.at);
    case "object":
      return objectRows(table, rows.at);
    case "program":
      return programOf(plan, table);
  }
}

function programOf(plan: TransformPlan, table: Table): RowMaker {
  const custom = plan.rows[table.name];
  if (custom !== undefined) return customRows(table, custom);
  const program = PROGRAMS[table.name];
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
  return (item, file) => emit(fileValueRow(files, item, file));
}

function customRows(table: Table, custom: RowFunction): RowMaker {
  return (item, emit) => {
    for (const row of custom(documentsOf(item)))
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
