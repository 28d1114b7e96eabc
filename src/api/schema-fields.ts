import type { z } from "zod";

/** A place in documents of a schema: `["acl", "user_ids", "[]"]`, `[]` for elements of a list, `{}` for keys of a record. */
export interface SchemaField {
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
}

/** All places of a schema, its own first; a place of a union once for each option. Below one that is whole there is none. */
export function schemaFields(
  schema: z.core.$ZodType,
  isWhole: (schema: z.core.$ZodType) => boolean,
  path: readonly string[] = [],
): SchemaField[] {
  const below = (inner: z.core.$ZodType, ...steps: string[]) =>
    schemaFields(inner, isWhole, [...path, ...steps]);
  const here = { path, schema };
  if (isWhole(schema)) return [here];
  // By the name of its type: an `instanceof` of zod takes ten times as long, and each thread asks for each field.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
      return below(def.innerType);
    case "union":
      return def.options.flatMap((option) => below(option));
    case "array":
      return [here, ...below(def.element, "[]")];
    case "record":
      return [here, ...below(def.valueType, "{}")];
    case "object":
      return [here, ...Object.entries(def.shape).flatMap(([name, field]) => below(field, name))];
    default:
      return [here];
  }
}
