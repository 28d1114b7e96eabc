/** Rows of things that are described many times over: a column from each attribute. */

import { Extra, fit, reach, type Subject } from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import { DATA_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import type { Entity } from "./entity-store.ts";

/** Takes a row of the table of this name. */
export type Put = (table: string, row: Cell[]) => void;

export function tableNamed(name: string): Table {
  const table = DATA_TABLES.find((each) => each.name === name);
  if (table === undefined) throw new TypeError(`no table ${name}`);
  return table;
}

/** The attribute of a column: its name, but for a thing's own ID, the instance and the options. */
function attributeOf(table: Table, name: string): string[] {
  if (table.key.includes(name)) return ["id"];
  if (name === "instance_id") return ["newsroom_id"];
  if (name.startsWith("option_")) return ["options", name.slice("option_".length)];
  return [name];
}

/** A row of a thing: each column from the attribute of its name. */
export function entityRow(
  table: Table,
  subject: Subject,
  { attributes, unknown }: Pick<Entity, "attributes" | "unknown">,
  fixed: Readonly<Record<string, Cell>> = {},
): Cell[] {
  const extra = new Extra();
  for (const [path, value] of Object.entries(unknown)) extra.set(path, value);
  const row = table.columns.map((column): Cell => {
    const given = fixed[column.name];
    if (given !== undefined) return given;
    if (column.name === "extra") return null;
    const path = attributeOf(table, column.name);
    return fit(subject, column, `${table.name}.${path.join(".")}`, reach(attributes, path), extra);
  });
  row[row.length - 1] = extra.cell();
  return row;
}
