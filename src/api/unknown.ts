import { z } from "zod";

/**
 * A field that the contract does not know, as drift is reported: its path in segments, `[]` for the elements of a
 * list and `{}` for the keys of a record (`["custom_field_values", "{}", "checksum"]`). The path is a copy: keep it.
 * `parent` is the object that has the key, the last segment of the path.
 */
export type UnknownVisitor = (path: string[], value: unknown, parent: Record<string, unknown>) => void;

/** Calls `visit` for each key of `document` that the schema does not know; below an unknown key nothing is visited. */
export type UnknownWalker = (document: unknown, visit: UnknownVisitor) => void;

type JsonObject = Record<string, unknown>;

/** Known keys; `null` below a key means that any value is known there. */
type Fields = ReadonlyMap<string, Node | null>;

/** What a schema knows at one place, whichever of these the value turns out to be. */
interface Node {
  readonly fields: Fields | undefined;
  /** Below each key of a record. */
  readonly values: Node | undefined;
  /** Below each element of a list. */
  readonly elements: Node | undefined;
}

/**
 * Compiles a walker over documents of `schema`. It looks at shapes only: a value of another type than the schema says
 * is passed over, for that is the validation's business. Its depth is the schema's, never the document's.
 */
export function unknownFieldWalker(schema: z.ZodObject): UnknownWalker {
  const root = compile(schema);
  return (document, visit) => {
    if (root !== undefined) walk(root, document, [], visit);
  };
}

function walk(node: Node, value: unknown, path: string[], visit: UnknownVisitor): void {
  if (Array.isArray(value)) {
    if (node.elements !== undefined) walkElements(node.elements, value, path, visit);
  } else if (!isObject(value)) {
    return;
  } else if (node.fields !== undefined) {
    walkFields(node.fields, value, path, visit);
  } else if (node.values !== undefined) {
    walkValues(node.values, value, path, visit);
  }
}

/** `for in` over what JSON.parse made visits own keys only, and makes no list of them. */
function walkFields(fields: Fields, value: JsonObject, path: string[], visit: UnknownVisitor): void {
  for (const key in value) {
    const known = fields.get(key);
    if (known === null) continue;
    if (known === undefined) {
      visit([...path, key], value[key], value);
      continue;
    }
    const below = value[key];
    if (typeof below !== "object" || below === null) continue;
    path.push(key);
    walk(known, below, path, visit);
    path.pop();
  }
}

function walkElements(node: Node, elements: readonly unknown[], path: string[], visit: UnknownVisitor): void {
  path.push("[]");
  for (const element of elements) walk(node, element, path, visit);
  path.pop();
}

function walkValues(node: Node, value: JsonObject, path: string[], visit: UnknownVisitor): void {
  path.push("{}");
  for (const key in value) walk(node, value[key], path, visit);
  path.pop();
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null;
}

/** The node of a schema, or `undefined` where nothing below it can be unknown. */
function compile(schema: z.core.$ZodType): Node | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return compile(schema.unwrap());
  if (schema instanceof z.ZodObject) return compileObject(schema);
  if (schema instanceof z.ZodArray) return under("elements", compile(schema.element));
  if (schema instanceof z.ZodRecord) return under("values", compile(schema.valueType));
  if (schema instanceof z.ZodUnion) return schema.options.map(compile).reduce(merge, undefined);
  return undefined;
}

function compileObject(schema: z.ZodObject): Node {
  const fields = new Map(Object.entries(schema.shape).map(([key, value]) => [key, compile(value) ?? null]));
  return { fields, values: undefined, elements: undefined };
}

function under(place: "values" | "elements", child: Node | undefined): Node | undefined {
  if (child === undefined) return undefined;
  return { fields: undefined, values: undefined, elements: undefined, [place]: child };
}

/** Options of a union differ in kind (text, list, object), so at most one of them knows something of each. */
function merge(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    fields: left.fields ?? right.fields,
    values: left.values ?? right.values,
    elements: left.elements ?? right.elements,
  };
}
