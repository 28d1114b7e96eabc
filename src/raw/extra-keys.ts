/**
 * Under which keys `extra` has the values that their columns cannot hold: the transform writes them by these, and the
 * contract counts them by these.
 */
import type { Column, Origin, Table } from "../tables/declare.ts";

/** The attribute of a described thing that a column has: its name, but for the thing's own ID, the instance and the options. */
export function attributePath(table: Table, { name }: Column): string[] {
  if (table.key.includes(name)) return ["id"];
  if (name === "instance_id") return ["newsroom_id"];
  if (name.startsWith("option_")) return ["options", name.slice("option_".length)];
  return [name];
}

/** The key of an attribute of a described thing. */
export function attributeKey(table: Table, column: Column): string {
  return `${table.name}.${attributePath(table, column).join(".")}`;
}

/**
 * The path of an API field below what a row is made of, an item, an object or an element of a list, which is also its key;
 * empty: it is that object or element itself, whose key is its own path; undefined: it is elsewhere.
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

/** All keys under which a value may lie that did not fit the column. */
export function extraKeys(table: Table, column: Column): string[] {
  // A list of texts of a described thing has rows of its own, and there the column's name.
  if (table.stage === "shared") return [column.name, attributeKey(table, column)];
  return column.origins.flatMap((origin) => {
    const { path } = origin;
    // Programs say the whole path or, of what has an object of its own, the attribute.
    if (table.rows.kind === "program")
      return [path.replaceAll("[]", ""), path.slice(path.lastIndexOf(".") + 1)];
    return pathInRow(table, column, origin) || path;
  });
}
