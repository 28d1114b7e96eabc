/** The transform: the views of one item in, rows of every item table out. Pure: no clock, network or disk. */
import type { Table } from "../tables/declare.ts";
import type { Cell } from "../storage/table-builder.ts";
import { fileRows } from "./content.ts";
import { customFieldValueRows, fileValueRow } from "./custom-fields.ts";
import { aclRows, collectionRows, favoriteRows } from "./lists.ts";
import { type Emit, type ItemRows, itemRows, listRows, objectRows } from "./rows.ts";
import type { SharedPool } from "./entity-store.ts";
import type { Item, JsonObject, Shape } from "../raw/document.ts";

/** Takes the rows of one table. */
export type Sink = (table: Table) => Emit;

/** A user's own table: rows by column name; a column that a row lacks is NULL. */
export type OwnRows = (item: OwnItem) => Iterable<Readonly<Record<string, Cell>>>;

/**
 * An item as a user's own table sees it: the latest document of either shape. Other tables are made from the same
 * documents, and parts of them are shared with other items: they cannot be changed.
 */
export interface OwnItem {
  readonly contentId: string;
  readonly dynamic: Readonly<JsonObject> | undefined;
  readonly full: Readonly<JsonObject> | undefined;
}

export interface TransformPlan {
  /** Tables of the pipeline; those that do not come from items are passed over. */
  readonly tables: readonly Table[];
  /** Programs of the user's own tables, by table name. */
  readonly own: Readonly<Record<string, OwnRows>>;
  readonly sink: Sink;
  readonly pool: SharedPool;
}

/**
 * Compiles the transform of one item. The row of `content` is made last: it takes what no other row has claimed of the
 * fields that the contract does not know.
 */
export function compileTransform(plan: TransformPlan): (item: Item) => void {
  const steps = plan.tables
    .filter((table) => table.stage === "item")
    .map((table) => ({ table, rows: rowsOf(plan, table), emit: plan.sink(table) }));
  steps.sort((a, b) => Number(a.table.name === "content") - Number(b.table.name === "content"));
  return (item) => {
    plan.pool.describe(item);
    for (const { rows, emit } of steps) rows(item, emit);
  };
}

function rowsOf(plan: TransformPlan, table: Table): ItemRows {
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

function programOf(plan: TransformPlan, table: Table): ItemRows {
  const own = plan.own[table.name];
  if (own !== undefined) return ownRows(table, own);
  switch (table.name) {
    case "content_files":
      return fileRows(table);
    case "content_favorites":
      return favoriteRows(table);
    case "content_collections":
      return collectionRows(table);
    case "content_acl_principals":
      return aclRows(table);
    case "content_custom_field_values":
      return customFieldValueRows(table, fileSink(plan));
    default:
      throw new TypeError(`no program for table ${table.name}`);
  }
}

function fileSink(plan: TransformPlan): (item: Item, file: JsonObject) => void {
  const files = plan.tables.find((table) => table.name === "custom_field_files");
  if (files === undefined) return () => {};
  const emit = plan.sink(files);
  return (item, file) => emit(fileValueRow(files, item, file));
}

function ownRows(table: Table, own: OwnRows): ItemRows {
  return (item, emit) => {
    const document = (shape: Shape) => item.views.find((view) => view.shape === shape)?.document;
    const rows = own({ contentId: item.contentId, dynamic: document("dynamic"), full: document("full") });
    for (const row of rows) emit(table.columns.map((column) => row[column.name] ?? null));
  };
}
