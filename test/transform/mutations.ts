import { isObject, type JsonObject, parseExact } from "../../src/common/json.ts";
import type { Origin } from "../../src/tables/declare.ts";
import type { World } from "./rich.ts";

/** A change of one API field. */
interface Mutation {
  /** The world after it. */
  readonly apply: (world: World) => World;
  /**
   * Whether it is another ID by which several views are put together: then rows come and go, with whatever the views
   * say of either ID.
   */
  readonly moves: boolean;
}

type Change = (value: unknown) => unknown;

/** Changes of a field; together they move every column that comes from it. */
export function mutationsOf(field: Origin): Mutation[] {
  const name = `${field.resource}:${field.path}`;
  const everywhere = EVERYWHERE[name];
  if (everywhere !== undefined) return [{ apply: replacing(everywhere), moves: false }];
  const plain = [another, ...(OTHER_CHANGES[name] ?? [])];
  return [
    ...plain.map((change) => ({ apply: changing(field, change), moves: JOINING.has(name) })),
    ...(MAPS.has(name) ? [{ apply: changing(field, withOtherKeys), moves: true }] : []),
  ];
}

/** IDs that stand in several views of one thing: alone in one of them they would name another thing. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  "basic:id": "item-1",
  "dynamic:id": "item-1",
  "dynamic:custom_field_values.{file}.id": "file-1",
};

/** IDs by which the descriptions that stand in several places are put together. */
const JOINING: ReadonlySet<string> = new Set([
  "full:custom_fields[].id",
  "full:custom_fields",
  "dynamic:custom_fields_details[].id",
  "dynamic:custom_fields_details",
]);

/** Objects whose keys are IDs. */
const MAPS: ReadonlySet<string> = new Set([
  "dynamic:added_to_collection_date",
  "dynamic:pinned_collection_rank",
  "dynamic:custom_fields",
  "dynamic:custom_field_values",
  "dynamic:custom_field_value_ids",
  "dynamic:previewable_custom_field_values",
  "full:custom_fields[].select_value_ids",
]);

const valueId: Change = () => "v-2";
const shape: Change = () => ({ odd: "other shape" });
const absent: Change = () => null;
/** Every value of a map turned into something else: which column has it depends on what it is. */
const inMap =
  (change: Change): Change =>
  (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]))
      : value;

/** Changes besides that of the value to another of its kind. */
const OTHER_CHANGES: Readonly<Record<string, readonly Change[]>> = {
  // The specification documents an ID, its examples show an object.
  "basic:content_type": [() => "type-2"],
  // A value ID is one of those that the definition knows; whatever is no text, number or ID is kept as JSON.
  "dynamic:custom_fields": [inMap(valueId), inMap(shape)],
  "dynamic:custom_field_values": [inMap(shape)],
  "full:custom_fields[].value": [valueId, shape],
  "dynamic:custom_fields_details[].value": [shape],
  // The column has the options that have no column of their own.
  "full:custom_fields[].options": [(value) => (isObject(value) ? { ...value, sparkling: true } : value)],
  // The role says which of the two files a row is of: it comes from the field's being there.
  "dynamic:content_file": [absent],
  "dynamic:gallery_preview_revision": [absent],
};

function changing({ resource, path }: Origin, change: Change): (world: World) => World {
  return (world) => {
    const after = structuredClone(world);
    if (resource === "envelope") return after;
    for (const { parent, key } of placesOf(after[resource === "basic" ? "full" : resource], path)) {
      if (parent[key] !== undefined) parent[key] = change(parent[key]);
    }
    return after;
  };
}

function replacing(id: string): (world: World) => World {
  const other = (document: JsonObject): JsonObject => {
    const changed = parseExact(JSON.stringify(document).replaceAll(`"${id}"`, `"another ${id}"`));
    return isObject(changed) ? changed : document;
  };
  return (world) => ({ ...world, dynamic: other(world.dynamic), full: other(world.full) });
}

/** Another value of the same kind. */
function another(value: unknown): unknown {
  if (typeof value === "string") return anotherText(value);
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.map(another);
  return inMap(another)(value);
}

/** Instants and dates stay what they are; every other text becomes one that nothing else has. */
function anotherText(text: string): string {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return text.replace(/^\d{4}/, (year) => String(Number(year) + 1));
  if (/^\d\d\/\d\d\/\d\d$/.test(text)) return text.replace(/\d\d$/, "27");
  return `another ${text}`;
}

function withOtherKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`another ${key}`, inner]));
}

/** API paths as `fields.json` writes them: `a.b`, `a[].b` for the elements of a list, `a.{file}.b` for file values. */

type Step = { readonly key: string } | "element" | "file";

function stepsOf(path: string): Step[] {
  return path.split(".").flatMap((part): Step[] => {
    if (part === "{file}") return ["file"];
    const key = part.replaceAll("[]", "");
    return [{ key }, ...Array<Step>((part.length - key.length) / 2).fill("element")];
  });
}

interface Place {
  readonly parent: JsonObject;
  readonly key: string;
}

/** The places in a document where a path's value stands or could stand. */
function placesOf(document: JsonObject, path: string): Place[] {
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
