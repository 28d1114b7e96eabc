/**
 * The documents of one item, and how a column is read from them. If several documents have a field, the latest one wins,
 * with all that stands below the field. A field that a document lacks is read from the others. Differences are counted as
 * drift.
 */
import { isObject, type JsonObject } from "../common/json.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Origin } from "../tables/declare.ts";
import type { Drift } from "./drift.ts";

/** Shape of an item's document in the specification: dynamic, or full, which includes basic. */
export type Shape = "dynamic" | "full";

/** A field that the contract does not know. The row that it belongs to claims it. */
export interface UnknownField {
  readonly path: readonly string[];
  readonly parent: JsonObject;
  readonly value: unknown;
  claimed: boolean;
}

export interface ItemDocument {
  readonly shape: Shape;
  readonly document: JsonObject;
  /** `Date` of the response, or the clock where it has none, in microseconds since 1970 UTC. */
  readonly observedAt: number;
  /** Position in the order of observation; a later document has a larger one. */
  readonly order: number;
  readonly unknown: UnknownField[];
}

/** What drift is counted for. */
export interface DriftSubject {
  readonly contentId: string | null;
  /** Position in the order of observation. */
  readonly order: number;
  readonly drift: Drift;
}

export interface RawItem extends DriftSubject {
  readonly contentId: string;
  /** The latest first; at least one. */
  readonly views: readonly ItemDocument[];
}

/** Freezes a value with all that it holds. Returns the value. */
export function deeplyFrozen<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null && !Object.isFrozen(inner)) deeplyFrozen(inner);
  }
  return Object.freeze(value);
}

/** API fields of a row that have no column, by path. They make the JSON object in the column `extra`. */
export class ExtraFields {
  #fields: Map<string, unknown> | undefined;

  set(path: string, value: unknown): void {
    this.#fields ??= new Map();
    this.#fields.set(path, value);
  }

  /** Claims the unknown fields of `owner` and of the objects `nested` in it that have no rows of their own. */
  claim(unknown: readonly UnknownField[], owner: unknown, nested: readonly string[] = []): void {
    for (const field of unknown) {
      const path = field.claimed ? undefined : pathWithin(field, owner, nested);
      if (path === undefined) continue;
      field.claimed = true;
      this.set(path, field.value);
    }
  }

  /** Copies the unknown fields of `owner` without claiming them. */
  copy(unknown: readonly UnknownField[], owner: unknown): void {
    for (const field of unknown) {
      const path = pathWithin(field, owner, []);
      if (path !== undefined) this.set(path, field.value);
    }
  }

  cell(): Cell {
    if (this.#fields === undefined) return null;
    const parts = [...this.#fields].map(
      ([path, value]) => `${JSON.stringify(path)}:${JSON.stringify(value) ?? "null"}`,
    );
    return `{${parts.join(",")}}`;
  }
}

/** Path of an unknown field in its owner; `undefined` if the field belongs to something else. */
function pathWithin(field: UnknownField, owner: unknown, nested: readonly string[]): string | undefined {
  if (!isObject(owner)) return undefined;
  const key = field.path.at(-1) ?? "";
  if (field.parent === owner) return key;
  const within = nested.find((name) => field.parent === owner[name]);
  return within === undefined ? undefined : `${within}.${key}`;
}

export function shapeOf(origin: Origin): Shape | undefined {
  if (origin.resource === "dynamic") return "dynamic";
  return origin.resource === "basic" || origin.resource === "full" ? "full" : undefined;
}

export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let value: unknown = root;
  for (const step of steps) {
    if (!isObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** Keeps the value of a top-level field in the item's `extra` if no rows can be made from it. */
export function keepMisplaced(item: RawItem, view: ItemDocument, key: string, value: unknown): void {
  item.drift.note(key, "type", view.order, item.contentId, value);
  view.unknown.push({ path: [key], parent: view.document, value, claimed: false });
}

/** The latest dynamic document that has `key`. */
export function latestView(item: RawItem, key: string): ItemDocument | undefined {
  return item.views.find((view) => view.shape === "dynamic" && view.document[key] !== undefined);
}

/** The object at `key` in the latest dynamic document. Another value is kept in the item's `extra`. */
export function latestObject(item: RawItem, key: string): JsonObject | undefined {
  const view = latestView(item, key);
  const value = view?.document[key];
  if (view === undefined || value === null || value === undefined) return undefined;
  if (isObject(value)) return value;
  keepMisplaced(item, view, key, value);
  return undefined;
}
