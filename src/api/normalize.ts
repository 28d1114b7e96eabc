/** Gives documents the form of their schema, if nothing is lost by it. */
import { z } from "zod";

/** A value in another form than the specification's, for `run_drift`. */
export interface FormDrift {
  readonly path: string;
  readonly kind: "type" | "single_for_list";
  /** The value as sent; `undefined` for an object. */
  readonly value: unknown;
}

type JsonObject = Record<string, unknown>;

/** A text, or the JSON text of a number or boolean; `undefined` for other values. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const isPlain = typeof value === "number" || typeof value === "boolean" || JSON.isRawJSON(value);
  return isPlain ? JSON.stringify(value) : undefined;
}

/**
 * Changes a document to the form of its schema. A number or boolean becomes its JSON text if a text is expected; `"true"`
 * becomes a boolean; `null` is removed; a single value becomes a list of one. Other values stay as they are.
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
    const isFlag = value === "true" || value === "false";
    const settled = schema instanceof z.ZodString ? scalarText(value) : isFlag ? value === "true" : value;
    if (settled !== undefined && settled !== value) odd.push({ path, kind: "type", value });
    return settled ?? value;
  }
  if (typeof value === "object" && !Array.isArray(value) && !JSON.isRawJSON(value))
    normalizeForm(schema, value as JsonObject, odd, path);
  return value;
}

function settledList(element: z.core.$ZodType, value: unknown, odd: FormDrift[], path: string): unknown {
  if (!Array.isArray(value)) odd.push({ path, kind: "single_for_list", value: undefined });
  const elements: readonly unknown[] = Array.isArray(value) ? value : [value];
  return elements.map((each) => settledValue(element, each, odd, `${path}[]`) ?? null);
}
