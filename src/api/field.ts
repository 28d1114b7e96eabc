/** Fields of an item with their defaults. */
import type { z } from "zod";

/** Instead of a default: the specification has none, because every item has the field. */
export const NO_DEFAULT = Symbol("no default");

export interface ItemField<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** JSON value that the service sends if an item has no value for the field. */
  readonly default: null | boolean | number | string | object | typeof NO_DEFAULT;
}

export function field<Schema extends z.ZodType>(
  schema: Schema,
  fallback: ItemField["default"],
): ItemField<Schema> {
  return { schema, default: fallback };
}

/** Schemas of these fields, by name. */
export function schemasOf<Fields extends Readonly<Record<string, ItemField>>>(fields: Fields) {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [name, schema]);
  return Object.fromEntries(schemas) as { [Name in keyof Fields]: Fields[Name]["schema"] };
}
