/** Fields of an item with their defaults. */
import type { z } from "zod";

/** Instead of a default: the specification has none, because every item has the field. */
export const NO_DEFAULT = Symbol("no default");

/** JSON value that the service sends if an item has no value for a field. */
export type FieldDefault = null | boolean | number | string | object | typeof NO_DEFAULT;

export interface ItemField<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly default: FieldDefault;
}

export function field<Schema extends z.ZodType>(schema: Schema, fallback: FieldDefault): ItemField<Schema> {
  return { schema, default: fallback };
}

/** Schemas of these fields, by name. */
export function schemasOf<Fields extends Readonly<Record<string, ItemField>>>(fields: Fields) {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [name, schema]);
  return Object.fromEntries(schemas) as { [Name in keyof Fields]: Fields[Name]["schema"] };
}

/** Default of `gallery_share_settings`. */
export const SHARE_CHANNELS = ["published_url", "tracking_url", "email", "social_a", "social_b", "social_c"];
