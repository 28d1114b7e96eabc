/** Keys in `extra` of values that their columns cannot hold. The transform writes them, and checks count them. */
import type { Column, Origin, Table } from "../tables/declare.ts";

/** Path of an entity's attribute that a column is read from. Only the ID, the instance and options have other names. */
export function attributePath(table: Table, { name }: Column): string[] {
  if (table.key.includes(name)) return ["id"];
  if (name === "instance_id") return ["newsroom_id"];
  if (name.startsWith("option_")) return ["options", name.slice("option_".length)];
  return [name];
}

/**
 * The path of an API field below the item, object or list element that a row is made from. It is also the key. Empty if the
 * field is that object or element itself; `undefined` if the field stands elsewhere.
 */
export function pathInRow({ rows }: Table, column: Column, { path }: Origin): string | undefined {
  if (rows.kind === "program") return undefined;
  if (rows.kind === "item") return path;
  const containers = rows.at.map((origin) => origin.path);
  if (containers.includes(path)) {
    return column.origins.some((origin) => !containers.includes(origin.path)) ? undefined : "";
  }
  const below = rows.kind === "list" ? "[]." : ".";
  const container = containers.find((each) => path.startsWith(each + below));
  return container === undefined ? undefined : path.slice(container.length + below.length);
}

/** All keys under which `extra` may have values of a column. */
export function extraKeys(table: Table, column: Column): string[] {
  // Lists of texts of an entity have rows of their own, which use the column's name.
  if (table.stage === "shared") return [column.name, [table.name, ...attributePath(table, column)].join(".")];
  return column.origins.flatMap((origin) => {
    const { path } = origin;
    // Rows made by a program use the whole path, or the name of the attribute.
    if (table.rows.kind === "program")
      return [path.replaceAll("[]", ""), path.slice(path.lastIndexOf(".") + 1)];
    return pathInRow(table, column, origin) || path;
  });
}
