/**
 * What is wrong with the form of settings, told by their declaration alone. Its JSON Schema says what is expected: of
 * numbers and choices by their bounds, of anything else by `.meta({ expected: "the path of a file" })`. With
 * `isSecret: true`, what is found there is not shown: somebody may have written a secret in its place.
 */
import { z } from "zod";
import { nearest } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { printable } from "../common/printable.ts";

export type Path = readonly PropertyKey[];
type Schema = z.core.JSONSchema.BaseSchema;
type SchemaOptions = z.core.ToJSONSchemaParams;

export interface ReadForm {
  readonly declared: z.ZodType;
  readonly value: unknown;
  /** What came of reading the value. */
  readonly issues: readonly z.core.$ZodIssue[];
  /** How a sentence goes on about a setting that is called as a credential is; unless given, it names the settings. */
  readonly credentials?: (path: Path) => string;
}

/** The setting `$schema`, which every file of settings may have. */
export const schemaAddress = z
  .string()
  .meta({ expected: "the address of a JSON Schema" })
  .optional()
  .describe("JSON Schema of this file, for editors. The program does not read it.");

/** A sentence for each issue: the setting, what was expected of it, what was found. */
export function formFaults(form: ReadForm): string[] {
  if (form.issues.length === 0) return [];
  const schema = schemaOf(form.declared);
  return form.issues.flatMap((issue) => {
    const said = formAt(schema, issue.path, form.value);
    const found = valueAt(form.value, issue.path);
    if (issue.code === "unrecognized_keys") {
      const known = Object.keys(formOf(said, found).properties ?? {});
      return issue.keys.map((key) => strangeFault([...issue.path, key], known, form));
    }
    const setting = issue.path.length === 0 ? "" : `\`${nameOf(issue.path)}\`: `;
    const shown = said.isSecret === true ? "something else" : described(found);
    return [`${setting}expected ${expectedOf(said)}, found ${shown}.`];
  });
}

/** Draft 7 is what editors know best. */
export function schemaOf(declared: z.ZodType, override: SchemaOptions["override"] = () => {}): Schema {
  return z.toJSONSchema(declared, { io: "input", target: "draft-7", override });
}

/** What is said of the value at a path. */
function formAt(schema: Schema, [key, ...rest]: Path, value: unknown): Schema {
  if (key === undefined) return schema;
  const { items, properties, additionalProperties } = formOf(schema, value);
  const inner = typeof key === "number" ? items : (properties?.[String(key)] ?? additionalProperties);
  return isForm(inner) ? formAt(inner, rest, valueAt(value, [key])) : {};
}

/** Of several forms, that of the list or of the object that the value is: the one of its `type`, or else the first. */
function formOf(schema: Schema, value: unknown): Schema {
  const forms = (schema.oneOf ?? schema.anyOf ?? []).filter(isForm);
  const type = valueAt(value, ["type"]);
  const own = forms.find(({ properties }) => isForm(properties?.type) && properties.type.const === type);
  return own ?? forms.find(({ items, properties }) => (Array.isArray(value) ? items : properties)) ?? schema;
}

function isForm(schema: unknown): schema is Schema {
  return isObject(schema);
}

/** As the end of a sentence. Throws a TypeError where neither form nor declaration says it. */
export function expectedOf(schema: Schema): string {
  const { expected, anyOf, type, const: only, enum: choices } = schema;
  if (typeof expected === "string") return expected;
  if (anyOf !== undefined) return anyOf.filter(isForm).map(expectedOf).join(", or ");
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(", ");
  if (only !== undefined) return JSON.stringify(only);
  if (type === "null") return "null";
  if (type === "boolean") return "true or false";
  if (type === "integer") return `a whole number ${boundsOf(schema)}`;
  if (type === "number") return `a number ${boundsOf(schema)}`;
  throw new TypeError("a setting does not declare what is expected of it");
}

function boundsOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  if (exclusiveMinimum !== undefined) return `above ${exclusiveMinimum}`;
  const isBound = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return isBound ? `from ${minimum} to ${maximum}` : `from ${minimum}`;
}

/** A name that looks like a credential's is no slip of the pen, unless it is a setting's in other letters. */
const CREDENTIAL = /token|password|secret|credential|authorization|api_?key/i;

function strangeFault(path: Path, names: readonly string[], { credentials }: ReadForm): string {
  const what = `\`${nameOf(path)}\` is not a setting`;
  const key = String(path.at(-1));
  const known = names.filter((name) => name !== "$schema");
  const isCredential = CREDENTIAL.test(key);
  const near = isCredential
    ? known.find((name) => name.toLowerCase() === key.replace(/[-_]/g, "").toLowerCase())
    : nearest(key, known)[0];
  if (near !== undefined) return `${what}; did you mean \`${near}\`?`;
  if (isCredential && credentials !== undefined) return `${what}: ${credentials(path)}.`;
  return `${what}; there are ${known.join(", ")}.`;
}

/** `destinations[0].name` */
function nameOf(path: Path): string {
  const steps = path.map((key, at) =>
    typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`,
  );
  return printable(steps.join(""));
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? `"${printable(value, 60)}"` : String(value);
}
