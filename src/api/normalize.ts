import { z } from "zod";

/** What a service writes in another form than the specification's: its path, as the drift has it. */
export interface FormDrift {
  readonly path: string;
  readonly kind: "type" | "single_for_list";
  /** What was sent, where it is no object. */
  readonly value: unknown;
}

type JsonObject = Record<string, unknown>;

/** A text, or the JSON text of a number or boolean in its place. Undefined: it is neither. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const isPlain = typeof value === "number" || typeof value === "boolean" || JSON.isRawJSON(value);
  return isPlain ? JSON.stringify(value) : undefined;
}

/**
 * Gives a document the form of its schema where that takes nothing from it: a number or boolean in the place of a text is
 * its JSON text, `"true"` a boolean, `null` absent, and one value in the place of a list a list of one. What fits nowhere
 * stays as it is.
 */
export function normalizeForm(
  schema: z.core.$ZodType,
  document: JsonObject,
  odd: FormDrift[],
  path = "",
): void {
  if (!(schema instanceof z.ZodObject)) return;
  for (const [key, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(document, key)) continue;
    const value = settledValue(field, document[key], odd, path === "" ? key : `${path}.${key}`);
    if (value === undefined) delete document[key];
    else document[key] = value;
  }
}

function settledValue(schema: z.core.$ZodType, value: unknown, odd: FormDrift[], path: string): unknown {
  if (schema instanceof z.ZodOptional) return settledValue(schema.unwrap(), value, odd, path);
  if (schema instanceof z.ZodNullable)
    return value === null ? null : settledValue(schema.unwrap(), value, odd, path);
  if (value === null) return undefined;
  if (schema instanceof z.ZodArray) return settledList(schema.element, value, odd, path);
  if (schema instanceof z.ZodString || schema instanceof z.ZodBoolean) {
    const settled = schema instanceof z.ZodString ? scalarText(value) : (FLAGS.get(value) ?? value);
    if (settled !== undefined && settled !== value) odd.push({ path, kind: "type", value });
    return settled ?? value;
  }
  if (typeof value === "object" && !Array.isArray(value) && !JSON.isRawJSON(value))
    normalizeForm(schema, value as JsonObject, odd, path);
  return value;
}

const FLAGS: ReadonlyMap<unknown, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function settledList(element: z.core.$ZodType, value: unknown, odd: FormDrift[], path: string): unknown {
  if (!Array.isArray(value)) odd.push({ path, kind: "single_for_list", value: undefined });
  const elements: readonly unknown[] = Array.isArray(value) ? value : [value];
  return elements.map((each) => settledValue(element, each, odd, `${path}[]`) ?? null);
}
