import { z } from "zod";

/** A place in documents of a schema: `["acl", "user_ids", "[]"]`, `[]` for elements of a list, `{}` for keys of a record. */
export interface SchemaPlace {
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
}

/** All places of a schema, its own first; a place of a union once for each option. Below one that is whole there is none. */
export function placesIn(
  schema: z.core.$ZodType,
  isWhole: (schema: z.core.$ZodType) => boolean,
  path: readonly string[] = [],
): SchemaPlace[] {
  const below = (inner: z.core.$ZodType, ...steps: string[]) => placesIn(inner, isWhole, [...path, ...steps]);
  const here = { path, schema };
  if (isWhole(schema)) return [here];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return below(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => below(option));
  if (schema instanceof z.ZodArray) return [here, ...below(schema.element, "[]")];
  if (schema instanceof z.ZodRecord) return [here, ...below(schema.valueType, "{}")];
  if (!(schema instanceof z.ZodObject)) return [here];
  return [here, ...Object.entries(schema.shape).flatMap(([name, field]) => below(field, name))];
}
