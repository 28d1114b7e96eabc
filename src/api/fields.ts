/** Fields of the contract by resource and path, as a type and as a list: `dynamic:attachments[].url`. */
import { z } from "zod";
import { basicItem } from "./basic.ts";
import { customFieldDefinition } from "./custom-field.ts";
import { destination } from "./destination.ts";
import { dynamicItem } from "./dynamic.ts";
import { listEnvelope } from "./envelope.ts";
import { fullItem } from "./full.ts";

/** By resource of the specification. */
const DOCUMENTS = {
  destination,
  custom_field_definition: customFieldDefinition,
  envelope: listEnvelope(z.unknown()),
  basic: basicItem,
  full: fullItem,
  dynamic: dynamicItem,
};

export type Resource = keyof typeof DOCUMENTS;

/** A field of the contract: `[]` stands for elements of a list; below a field with keys of an instance's own, any path. */
export type ApiField = {
  [Each in Resource]: `${Each}:${PathIn<z.infer<(typeof DOCUMENTS)[Each]>>}`;
}[Resource];

/** Without the keys that a loose object may have besides. */
type Known<Value> = { [Key in keyof Value as string extends Key ? never : Key]-?: Value[Key] };

type PathIn<Value> = {
  [Key in keyof Known<Value> & string]: Key | `${Key}${Below<Value[Key & keyof Value]>}`;
}[keyof Known<Value> & string];

type Below<Value> = unknown extends Value
  ? never
  : Value extends readonly (infer Element)[]
    ? `[]${Below<Element>}`
    : Value extends object
      ? `.${[keyof Known<Value>] extends [never] ? string : PathIn<Value>}`
      : never;

/** All of them; one that ends with a point stands for any path below it. */
const API_FIELDS: ReadonlySet<string> = new Set(
  Object.entries(DOCUMENTS).flatMap(([resource, schema]) =>
    pathsBelow(schema).map((path) => `${resource}:${path.slice(1)}`),
  ),
);

/** Each begins with the point of the object that it is in, or with that of a list's elements. */
function pathsBelow(schema: z.core.$ZodType): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return pathsBelow(schema.unwrap());
  if (schema instanceof z.ZodArray) return pathsBelow(schema.element).map((path) => `[]${path}`);
  if (schema instanceof z.ZodRecord) return ["."];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(pathsBelow);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    ["", ...pathsBelow(field)].map((path) => `.${name}${path}`),
  );
}

/** Names of the fields that a text may stand for. */
export const API_FIELD_NAMES: readonly string[] = [...API_FIELDS].filter((field) => !field.endsWith("."));

export function isApiField(text: string): text is ApiField {
  if (API_FIELDS.has(text)) return !text.endsWith(".");
  return [...API_FIELDS].some((field) => field.endsWith(".") && text.startsWith(field));
}
