import type { z } from "zod";

/** In the place of a default: the specification gives none, because every item has the field. */
export const NO_DEFAULT = Symbol("required");

/** What a field of an item is when the service has nothing for it: a JSON value. */
export type FieldDefault =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, never>>
  | typeof NO_DEFAULT;

export interface ItemField<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly default: FieldDefault;
}

export function field<Schema extends z.ZodType>(schema: Schema, fallback: FieldDefault): ItemField<Schema> {
  return { schema, default: fallback };
}

/** The shape of an object with these fields. */
export function schemasOf<Fields extends Readonly<Record<string, ItemField>>>(fields: Fields) {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [name, schema]);
  return Object.fromEntries(schemas) as { [Name in keyof Fields]: Fields[Name]["schema"] };
}

/** Channels that an item can be shared to unless its gallery settings say otherwise. */
export const SHARE_CHANNELS = [
  "published_url",
  "tracking_url",
  "email",
  "social_a",
  "social_b",
  "social_c",
] as const;
