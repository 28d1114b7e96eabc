import type { z } from "zod";

/** In the place of a default: the specification gives none, because every item has the field. */
export const required = Symbol("required");

/** What a field of an item is when the service has nothing for it: a JSON value. */
export type Default =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, never>>
  | typeof required;

export interface Field<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly default: Default;
}

export function field<Schema extends z.ZodType>(schema: Schema, fallback: Default): Field<Schema> {
  return { schema, default: fallback };
}

/** The shape of an object with these fields. */
export function shapeOf<Fields extends Readonly<Record<string, Field>>>(fields: Fields) {
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
