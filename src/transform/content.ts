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

const ROLES = [
  { role: "content_file", key: "content_file" },
  { role: "gallery_preview", key: "gallery_preview_revision" },
] as const;

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
    for (const { role: name, key } of ROLES) {
      const view = latestWith(item, key);
      const file = view?.document[key];
      if (view === undefined || file === null || file === undefined) continue;
      const extra = new Extra();
      if (!isObject(file)) misfit(item, role, key, file, extra);
      emit(fileRow(table, item, view, { role: name, file, extra }));
    }
  };
}

function fileRow(
  table: Table,
  item: Item,
  view: View,
  found: { role: string; file: unknown; extra: Extra },
): Cell[] {
  const { role, file, extra } = found;
  const attributes = isObject(file) ? file : {};
  const row = table.columns.map((column): Cell => {
    if (column.name === "content_id") return item.contentId;
    if (column.name === "role") return role;
    if (column.name === "extra") return null;
    const attribute = column.name === "file_id" ? "id" : column.name;
    return fit(item, column, attribute, attributes[attribute], extra);
  });
  extra.claim(view.unknown, file);
  row[row.length - 1] = extra.cell();
  return row;
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new TypeError(`${table.name} has no column ${name}`);
  return column;
}
