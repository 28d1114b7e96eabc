/** Finds fields of a document that the contract does not know. */
import { z } from "zod";

/**
 * Gets an unknown field: its path, such as `["custom_field_values", "{}", "checksum"]` (`[]` for elements of a list, `{}` for
 * keys of a record), its value, and the object that has it.
 */
export type UnknownFieldVisitor = (path: string[], value: unknown, parent: Record<string, unknown>) => void;

/** Gets a list or object where the contract has none, or allows any value. Lists of texts or numbers are not visited. */
export type UnknownObjectVisitor = (path: readonly string[], value: object) => void;

/** Visits each unknown key, and nothing below it. An object instead of a list counts as its only element. */
export type UnknownFieldWalker = (
  document: unknown,
  visit: UnknownFieldVisitor,
  unforeseen?: UnknownObjectVisitor,
) => void;

type JsonObject = Record<string, unknown>;

/** What a schema knows below a field; `null`: any value, without known fields. */
type Below = Node | null;
type Fields = ReadonlyMap<string, Below>;

/** What a schema knows of a value, which may be an object, a record or a list. */
interface Node {
  readonly fields: Fields | undefined;
  /** Below each key of a record. */
  readonly values: Below | undefined;
  /** Below each element of a list. */
  readonly elements: Below | undefined;
}

interface Visitors {
  readonly visit: UnknownFieldVisitor;
  readonly unforeseen: UnknownObjectVisitor | undefined;
}

/** Compiles a walker over documents of a schema. It does not validate types. Its depth is limited by the schema. */
export function unknownFieldWalker(schema: z.ZodObject): UnknownFieldWalker {
  const root = compile(schema) ?? null;
  return (document, visit, unforeseen) => below(root, document, [], { visit, unforeseen });
}

function below(known: Below, value: unknown, path: string[], visitors: Visitors): void {
  if (!holdsFields(value)) return;
  if (known === null) visitors.unforeseen?.([...path], value);
  else walk(known, value, path, visitors);
}

/** Texts, numbers and lists of these have no fields. */
function holdsFields(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) || value.some((element) => typeof element === "object" && element !== null);
}

function walk(node: Node, value: object, path: string[], visitors: Visitors): void {
  if (Array.isArray(value)) {
    if (node.elements === undefined) visitors.unforeseen?.([...path], value);
    else walkElements(node.elements, value, path, visitors);
  } else if (!isObject(value)) {
    return;
  } else if (node.fields !== undefined) {
    walkFields(node.fields, value, path, visitors);
  } else if (node.values !== undefined) {
    walkValues(node.values, value, path, visitors);
  } else if (node.elements !== undefined) {
    walkElements(node.elements, [value], path, visitors);
  }
}

/** `for in` over parsed JSON visits own keys only, and makes no list of them. */
function walkFields(fields: Fields, value: JsonObject, path: string[], visitors: Visitors): void {
  for (const key in value) {
    const known = fields.get(key);
    const inner = value[key];
    if (known === undefined) {
      visitors.visit([...path, key], inner, value);
    } else if (typeof inner === "object" && inner !== null) {
      path.push(key);
      below(known, inner, path, visitors);
      path.pop();
    }
  }
}

function walkElements(known: Below, elements: readonly unknown[], path: string[], visitors: Visitors): void {
  path.push("[]");
  for (const element of elements) below(known, element, path, visitors);
  path.pop();
}

function walkValues(known: Below, value: JsonObject, path: string[], visitors: Visitors): void {
  path.push("{}");
  for (const key in value) below(known, value[key], path, visitors);
  path.pop();
}

function isObject(value: object): value is JsonObject {
  return !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** The node of a schema; `undefined` unless it is an object, a record or a list. */
function compile(schema: z.core.$ZodType): Node | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return compile(schema.unwrap());
  if (schema instanceof z.ZodObject) return compileObject(schema);
  if (schema instanceof z.ZodArray) return under("elements", compile(schema.element) ?? null);
  if (schema instanceof z.ZodRecord) return under("values", compile(schema.valueType) ?? null);
  if (schema instanceof z.ZodUnion) return schema.options.map(compile).reduce(merge, undefined);
  return undefined;
}

function compileObject(schema: z.ZodObject): Node {
  const fields = new Map(Object.entries(schema.shape).map(([key, value]) => [key, compile(value) ?? null]));
  return { fields, values: undefined, elements: undefined };
}

function under(place: "values" | "elements", child: Below): Node {
  return { fields: undefined, values: undefined, elements: undefined, [place]: child };
}

/** Options of a union differ in kind (text, list, object), so at most one of them knows each part. */
function merge(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    fields: left.fields ?? right.fields,
    values: left.values === undefined ? right.values : left.values,
    elements: left.elements === undefined ? right.elements : left.elements,
  };
}
