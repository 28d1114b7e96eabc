/**
 * The documents of one item, and how a column is read from them. If several documents have a field, the latest one wins,
 * with all that stands below the field. A field that a document lacks is read from the others. Differences are counted as
 * drift.
 */
import { withoutSignature } from "../api/signed-url.ts";
import { isPrintOf } from "../common/json.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, Origin, Table } from "../tables/declare.ts";
import type { Drift } from "./drift.ts";
import { pathInRow } from "./extra-keys.ts";
import { finerInstant, hasSpecifiedForm, isSameSecond, truncateToSecond } from "./instant.ts";
import { exactNumber, toCell } from "./values.ts";

export type JsonObject = Record<string, unknown>;

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
  /** `Date` of the response, in microseconds since 1970 UTC. */
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
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

/** A path below the object that is read, where a column's value may stand. */
interface ColumnPath {
  readonly path: string;
  readonly steps: readonly string[];
  /** Whether another path of the column begins with this one: then an object here is not the value. */
  readonly container: boolean;
}

/** Where one column is read in the documents of either shape. */
export interface ColumnReader {
  readonly column: Column;
  /** Table and column, as drift names them. */
  readonly label: string;
  readonly places: Readonly<Record<Shape, readonly ColumnPath[]>>;
  /** Whether some path has more than one step. */
  readonly nested: boolean;
}

export function shapeOf(origin: Origin): Shape | undefined {
  if (origin.resource === "dynamic") return "dynamic";
  return origin.resource === "basic" || origin.resource === "full" ? "full" : undefined;
}

/** Finds the paths of a column below the object that a row of its table is made from. */
export function columnReader(table: Table, column: Column): ColumnReader {
  const places: Record<Shape, ColumnPath[]> = { dynamic: [], full: [] };
  for (const origin of column.origins) {
    const shape = shapeOf(origin);
    const path = pathInRow(table, column, origin);
    if (shape === undefined || path === undefined || places[shape].some((place) => place.path === path))
      continue;
    places[shape].push({ path, steps: path === "" ? [] : path.split("."), container: false });
  }
  return {
    column,
    label: `${table.name}.${column.name}`,
    nested: [...places.dynamic, ...places.full].some(({ steps }) => steps.length > 1),
    places: {
      dynamic: markContainers(places.dynamic, column),
      full: markContainers(places.full, column),
    },
  };
}

function markContainers(places: readonly ColumnPath[], column: Column): ColumnPath[] {
  const below = (outer: ColumnPath, inner: ColumnPath) =>
    inner !== outer && (outer.path === "" || inner.path.startsWith(`${outer.path}.`));
  if (column.type === "json") return places.filter((place) => !places.some((other) => below(other, place)));
  return places.map((place) => ({ ...place, container: places.some((other) => below(place, other)) }));
}

export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let value: unknown = root;
  for (const step of steps) {
    if (!isObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** Keeps a value in `extra` that its column cannot hold, and counts it as drift. Returns `null`, the cell. */
export function keepMisfit(
  subject: DriftSubject,
  column: Column,
  path: string,
  value: unknown,
  extra: ExtraFields,
): null {
  const unreadable = typeof value === "string" && (column.type === "timestamp" || column.type === "date");
  subject.drift.note(path, unreadable ? "unreadable" : "type", subject.order, subject.contentId, value);
  extra.set(path, value);
  return null;
}

/** Keeps the value of a top-level field in the item's `extra` if no rows can be made from it. */
export function keepMisplaced(item: RawItem, view: ItemDocument, key: string, value: unknown): void {
  item.drift.note(key, "type", view.order, item.contentId, value);
  view.unknown.push({ path: [key], parent: view.document, value, claimed: false });
}

/** The cell of an API value. Null and absent values are `null`, and so is an empty text if the column says so. */
export function readCell(
  subject: DriftSubject,
  column: Column,
  path: string,
  value: unknown,
  extra: ExtraFields,
): Cell {
  if (value === null || value === undefined) return null;
  if (value === "" && column.emptyDefault === "null") return null;
  const cell = toCell(column, value) ?? keepMisfit(subject, column, path, value, extra);
  if (column.type === "timestamp" && cell !== null && typeof value === "string" && !hasSpecifiedForm(value))
    subject.drift.note(path, "instant_form", subject.order, subject.contentId, value);
  if (column.type !== "double" || typeof cell !== "number") return cell;
  const digits = exactNumber(value);
  if (digits !== undefined && !isPrintOf(cell, digits)) {
    // The column has the nearest double.
    subject.drift.note(path, "rounded", subject.order, subject.contentId, value);
    extra.set(path, value);
  }
  return cell;
}

/**
 * Keys that a later document has and that lack a nested value: the value in an earlier document is outdated. Documents are
 * read from the latest on.
 */
export class EmptiedKeys {
  /** The latest document that has the key. */
  #keys: Map<string, JsonObject> | undefined;

  /** Notes that a path leads to no value. */
  note(document: JsonObject, steps: readonly string[]): void {
    const [key = ""] = steps;
    if (steps.length === 1 || document[key] === undefined || this.#keys?.has(key)) return;
    this.#keys ??= new Map();
    this.#keys.set(key, document);
  }

  /** Whether a later document has the key but no value below it. */
  has(document: JsonObject, [key = ""]: readonly string[]): boolean {
    const later = this.#keys?.get(key);
    return later !== undefined && later !== document;
  }

  get any(): boolean {
    return this.#keys !== undefined;
  }
}

/** Reads a column from all documents of an item; `undefined` if none has it. */
export function readColumn(item: RawItem, reader: ColumnReader, extra: ExtraFields): Cell | undefined {
  let found = false;
  let value: unknown;
  let path = "";
  const emptied = reader.nested ? new EmptiedKeys() : undefined;
  for (const view of item.views) {
    for (const place of reader.places[view.shape]) {
      const next = valueAt(view.document, place.steps);
      if (next === undefined) emptied?.note(view.document, place.steps);
      else if (place.container && isObject(next)) continue;
      else if (emptied?.has(view.document, place.steps))
        noteDifference(item, reader.label, found ? value : null, next);
      else if (!found) {
        found = true;
        value = next;
        path = place.path;
      } else if (next !== value) {
        value = reconcile(item, reader, value, next);
      }
    }
  }
  if (found) return readCell(item, reader.column, path, value, extra);
  return emptied?.any ? null : undefined;
}

/**
 * Counts a contradiction between two documents of an item. It is `versions_differ` if the documents have different times:
 * then the service answered from two states of the item.
 */
export function noteDifference(item: RawItem, path: string, later: unknown, earlier: unknown): void {
  if (sameJson(later, earlier) || isDescribed(later, earlier)) return;
  const kind =
    isOfTwoTimes(item.views) && !isOfTimes(path, later, earlier) ? "versions_differ" : "views_differ";
  item.drift.note(path, kind, item.order, item.contentId, [later, earlier]);
}

/** Whether one value is an ID, and the other an object with this ID. */
function isDescribed(one: unknown, other: unknown): boolean {
  const [id, described] = typeof one === "string" ? [one, other] : [other, one];
  return typeof id === "string" && isObject(described) && described.id === id;
}

/** Whether values differ only in `updated_at`, by which the modes may mean different times. */
function isOfTimes(path: string, later: unknown, earlier: unknown): boolean {
  return path.endsWith(".updated_at") || sameJson(withoutTimes(later), withoutTimes(earlier));
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isObject(value)) return value;
  const others = Object.entries(value).filter(([name]) => name !== "updated_at");
  return Object.fromEntries(others.map(([name, inner]) => [name, withoutTimes(inner)]));
}

/** Whether the documents have more than one `updated_at`, to the second. */
function isOfTwoTimes(views: readonly ItemDocument[]): boolean {
  const times = views.map(({ document }) => document.updated_at).filter((time) => typeof time === "string");
  return new Set(times.map(truncateToSecond)).size > 1;
}

/** The value to keep of two that are not identical. */
function reconcile(item: RawItem, reader: ColumnReader, later: unknown, earlier: unknown): unknown {
  const { type, emptyDefault } = reader.column;
  if (emptyDefault !== undefined && isEmpty(later) && isEmpty(earlier)) return null;
  if (type === "timestamp") {
    const finer = finerInstant(later, earlier);
    if (finer !== undefined) return finer;
  }
  noteDifference(item, reader.label, later, earlier);
  return later;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "";
}

/** Whether two API values are equal. Ignores the order of keys, fractions of seconds and the signatures of URLs. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "string" && typeof b === "string")
    return isSameSecond(a, b) || withoutSignature(a) === withoutSignature(b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, i) => sameJson(element, b[i]));
  }
  if (!isObject(a) || !isObject(b)) {
    return typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b);
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
