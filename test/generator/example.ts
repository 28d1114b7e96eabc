/** Values for API fields that nobody has written a value for, made from their schemas. */
import { z } from "zod";

/** A value that fits a schema. `seed`: a text that tells values apart. */
export function exampleOf(schema: z.core.$ZodType, seed: string): unknown {
  if (
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional
  )
    return exampleOf(schema.unwrap(), seed);
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodNumber) return seed.length;
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element, seed)];
  if (schema instanceof z.ZodRecord) return { [seed]: exampleOf(schema.valueType, seed) };
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => [
      name,
      exampleOf(field, `${seed}-${name}`),
    ]);
    return Object.fromEntries(fields);
  }
  return seed;
}
