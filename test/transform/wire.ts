import type { JsonObject } from "../../src/raw/document.ts";

/** API paths as `fields.json` writes them: `a.b`, `a[].b` for the elements of a list, `a.{file}.b` for file values. */

type Step = { readonly key: string } | "element" | "file";

function stepsOf(path: string): Step[] {
  return path.split(".").flatMap((part): Step[] => {
    if (part === "{file}") return ["file"];
    const key = part.replaceAll("[]", "");
    return [{ key }, ...Array<Step>((part.length - key.length) / 2).fill("element")];
  });
}

export interface Place {
  readonly parent: JsonObject;
  readonly key: string;
}

/** The places in a document where a path's value stands or could stand. */
export function placesOf(document: JsonObject, path: string): Place[] {
  const steps = stepsOf(path);
  const last = steps.at(-1);
  if (last === undefined || typeof last === "string") throw new RangeError(`${path} names no field`);
  const parents = steps.slice(0, -1).reduce(stepInto, [document]);
  return parents.filter(isObject).map((parent) => ({ parent, key: last.key }));
}

function stepInto(values: readonly unknown[], step: Step): unknown[] {
  if (step === "element") return values.flatMap((value) => (Array.isArray(value) ? value : []));
  if (step === "file") return values.filter(isObject).flatMap((value) => Object.values(value).filter(isFile));
  return values.filter(isObject).map((value) => value[step.key]);
}

function isFile(value: unknown): boolean {
  return isObject(value) && typeof value.file_name === "string";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Values that stand at a path. */
export function valuesAt(document: JsonObject, path: string): unknown[] {
  return placesOf(document, path)
    .filter(({ parent, key }) => Object.hasOwn(parent, key))
    .map(({ parent, key }) => parent[key]);
}

export function removeAt(document: JsonObject, path: string): void {
  for (const { parent, key } of placesOf(document, path)) delete parent[key];
}

/** The innermost list of objects that a path goes through: `a[].b[].c` gives `a[].b`; undefined where it is in none. */
export function innermostList(path: string): string | undefined {
  const at = path.lastIndexOf("[]");
  return at === -1 ? undefined : path.slice(0, at);
}

/** Whether the value at `outer` holds the one at `inner`. */
export function holds(outer: string, inner: string): boolean {
  return inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[]`);
}
