/** API fields by resource and path, as a type and as a list: `dynamic:attachments[].url`. */
import { z } from "zod";
import { didYouMean } from "../common/nearest.ts";
import { basicItem } from "./basic.ts";
import { customFieldDefinition } from "./custom-field.ts";
import { destination } from "./destination.ts";
import { dynamicItem } from "./dynamic.ts";
import { listEnvelope } from "./envelope.ts";
import { fullItem } from "./full.ts";
import { schemaFields } from "./schema-fields.ts";

/** Schemas by resource of the specification. */
const DOCUMENTS = {
  destination,
  custom_field_definition: customFieldDefinition,
  envelope: listEnvelope(z.unknown()),
  basic: basicItem,
  full: fullItem,
  dynamic: dynamicItem,
};

export type Resource = keyof typeof DOCUMENTS;

/** An API field. `[]` stands for the elements of a list. Below a record, such as values by field ID, any path is allowed. */
export type ApiField = {
  [Each in Resource]: `${Each}:${PathIn<z.infer<(typeof DOCUMENTS)[Each]>>}`;
}[Resource];

/** An object without the index signature of loose objects. */
type DeclaredFields<Value> = { [Key in keyof Value as string extends Key ? never : Key]-?: Value[Key] };

type PathIn<Value> = {
  [Key in keyof DeclaredFields<Value> & string]: Key | `${Key}${PathBelow<Value[Key & keyof Value]>}`;
}[keyof DeclaredFields<Value> & string];

type PathBelow<Value> = unknown extends Value
  ? never
  : Value extends readonly (infer Element)[]
    ? `[]${PathBelow<Element>}`
    : Value extends object
      ? `.${[keyof DeclaredFields<Value>] extends [never] ? string : PathIn<Value>}`
      : never;

/** All API fields. A name that ends with `.` stands for any path below it. */
const API_FIELDS: ReadonlySet<string> = new Set(
  Object.entries(DOCUMENTS).flatMap(([resource, document]) =>
    schemaFields(document, (schema) => schema instanceof z.ZodRecord)
      .filter(({ path }) => path.length > 0 && path.at(-1) !== "[]")
      .flatMap(({ path, schema }) => {
        const field = `${resource}:${path.join(".").replaceAll(".[]", "[]")}`;
        return schema instanceof z.ZodRecord ? [field, `${field}.`] : [field];
      }),
  ),
);

/** Why a text is no API field; `null` if it is one. */
export function apiFieldProblem(text: string): string | null {
  const fields = [...API_FIELDS];
  const isBelow = fields.some((field) => field.endsWith(".") && text.startsWith(field) && text !== field);
  if (isBelow || (API_FIELDS.has(text) && !text.endsWith("."))) return null;
  const names = fields.filter((field) => !field.endsWith("."));
  return `"${text}" is no API field${didYouMean(text, names)}`;
}
