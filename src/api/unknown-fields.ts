/** Finds fields of a document that the contract does not know. */
import { z } from "zod";
import type { JsonObject } from "../common/json.ts";

/** What a schema knows below a value, which may be an object, a record or a list. `null`: any value, without known fields. */
interface KnownFields {
  readonly fields?: ReadonlyMap<string, KnownFields | null>;
  /** Below each key of a record. */
  readonly values?: KnownFields | null;
  /** Below each element of a list. */
  readonly elements?: KnownFields | null;
}

/**
 * Compiles a walker over documents of a schema. It does not validate types. Its depth is limited by the schema.
 *
 * It visits each unknown key, and nothing below it. `visit` gets its path, such as `["custom_field_values", "{}", "checksum"]`
 * (`[]` for elements of a list, `{}` for keys of a record), its value, and the object that has it. An object instead of a
 * list counts as its only element. `unforeseen` gets a list or object where the contract has none, or allows any value, but no
 * lists of texts or numbers.
 */
export function unknownFieldWalker(schema: z.ZodObject) {
  const root = compile(schema) ?? null;
  return (
    document: unknown,
    visit: (path: string[], value: unknown, parent: JsonObject) => void,
    unforeseen?: (path: readonly string[], value: object) => void,
  ): void => {
    const path: string[] = [];
    const walkAll = (step: string, known: KnownFields | null, values: readonly unknown[]) => {
      path.push(step);
      for (const value of values) walk(known, value);
      path.pop();
    };
    const walk = (known: KnownFields | null, value: unknown): void => {
      if (!holdsFields(value)) return;
      if (known === null || (Array.isArray(value) && known.elements === undefined))
        unforeseen?.([...path], value);
      else if (Array.isArray(value)) walkAll("[]", known.elements ?? null, value);
      else if (known.fields !== undefined) walkFields(known.fields, value);
      else if (known.values !== undefined) walkAll("{}", known.values, Object.values(value));
      else walkAll("[]", known.elements ?? null, [value]);
    };
    // `for in` over parsed JSON visits own keys only, and makes no list of them.
    const walkFields = (fields: NonNullable<KnownFields["fields"]>, value: JsonObject) => {
      for (const key in value) {
        const known = fields.get(key);
        const inner = value[key];
        if (known === undefined) visit([...path, key], inner, value);
        else if (typeof inner === "object" && inner !== null) {
          path.push(key);
          walk(known, inner);
          path.pop();
        }
      }
    };
    walk(root, document);
  };
}

/** Texts, numbers and lists of these have no fields. */
function holdsFields(value: unknown): value is JsonObject {
  if (Array.isArray(value)) return value.some((element) => typeof element === "object" && element !== null);
  return typeof value === "object" && value !== null && !JSON.isRawJSON(value);
}

/** `undefined` unless the schema is an object, a record or a list. */
function compile(schema: z.core.$ZodType): KnownFields | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return compile(schema.unwrap());
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([key, field]) => [key, compile(field) ?? null] as const);
    return { fields: new Map(fields) };
  }
  if (schema instanceof z.ZodArray) return { elements: compile(schema.element) ?? null };
  if (schema instanceof z.ZodRecord) return { values: compile(schema.valueType) ?? null };
  if (!(schema instanceof z.ZodUnion)) return undefined;
  // Options differ in kind (text, list, object), so at most one of them knows each part.
  const options = schema.options.flatMap((option) => compile(option) ?? []);
  return options.length === 0 ? undefined : Object.assign({}, ...options);
}
