/** Rows of `content_files`: two wire objects in one table. */

import {
  Extra,
  fit,
  type Item,
  isObject,
  type JsonObject,
  misfit,
  misplace,
  type View,
} from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, Table } from "../tables/declare.ts";
import type { ItemRows } from "./rows.ts";

const ROLES = { content_file: "content_file", gallery_preview: "gallery_preview_revision" };

/** The latest view that has `key`. */
export function latestWith(item: Item, key: string): View | undefined {
  return item.views.find((view) => view.shape === "dynamic" && view.document[key] !== undefined);
}

/** The object at `key` in the latest view that has the key; anything else that stands there stays with the item. */
export function latestObject(item: Item, key: string): JsonObject | undefined {
  const view = latestWith(item, key);
  const value = view?.document[key];
  if (view === undefined || value === null || value === undefined) return undefined;
  if (isObject(value)) return value;
  misplace(item, view, key, value);
  return undefined;
}

export function fileRows(table: Table): ItemRows {
  const role = columnOf(table, "role");
  return (item, emit) => {
    for (const [name, key] of Object.entries(ROLES)) {
      const view = latestWith(item, key);
      const file = view?.document[key];
      if (view === undefined || file === null || file === undefined) continue;
      const extra = new Extra();
      if (!isObject(file)) misfit(item, role, key, file, extra);
      const fixed = { content_id: item.contentId, role: name };
      emit(fileRow({ table, item, views: [view], extra, fixed }, isObject(file) ? file : {}));
    }
  };
}

interface FileRow {
  readonly table: Table;
  readonly item: Item;
  /** Where the file is described. */
  readonly views: readonly View[];
  readonly extra: Extra;
  /** Cells that are no attributes, by column. */
  readonly fixed: Readonly<Record<string, Cell>>;
}

/** A row of a file: each column from the attribute of its name, `extra` at the end. */
export function fileRow({ table, item, views, extra, fixed }: FileRow, file: JsonObject): Cell[] {
  const row = table.columns.slice(0, -1).map((column): Cell => {
    const attribute = column.name === "file_id" ? "id" : column.name;
    return fixed[column.name] ?? fit(item, column, attribute, file[attribute], extra);
  });
  for (const view of views) extra.claim(view.unknown, file);
  return [...row, extra.cell()];
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new TypeError(`${table.name} has no column ${name}`);
  return column;
}
