/** Lists the fields of a schema at any depth. */
import type { z } from "zod";

/** A field with its path: `["acl", "user_ids", "[]"]`, with `[]` for elements of a list and `{}` for keys of a record. */
interface SchemaField {
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
}

/** All fields, the schema itself first, and each option of a union. Fields of a schema that `isWhole` are left out. */
export function schemaFields(
  schema: z.core.$ZodType,
  isWhole: (schema: z.core.$ZodType) => boolean,
  path: readonly string[] = [],
): SchemaField[] {
  const below = (inner: z.core.$ZodType, ...steps: string[]) =>
    schemaFields(inner, isWhole, [...path, ...steps]);
  const here = { path, schema };
  if (isWhole(schema)) return [here];
  // Compares type names, since `instanceof` of zod takes ten times as long and each thread lists all fields.
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
