/**
 * Things that many items describe: users, content types, campaigns, instances, custom field definitions. A worker keeps
 * the newest description of each; the store puts those of all workers and lookups together, attribute by attribute, the
 * newest observation winning, and an attribute that a description lacks never overwriting one that another gave.
 */

import { Extra, type Item, isObject, type JsonObject, misplace, type View } from "../raw/document.ts";
import { listOf } from "./rows.ts";

/** Tables whose rows come from described things, by the name of the thing's own table. */
export type EntityKind = "users" | "content_types" | "campaigns" | "instances" | "custom_fields";

/** One description of a thing. Its parts are JSON texts: numbers that were kept exactly do not survive a thread. */
export interface EntityVersion {
  readonly kind: EntityKind;
  readonly id: string;
  /** Position in the order of observation. */
  readonly order: number;
  /** API attributes that the contract knows; an object. */
  readonly attributes: string;
  /** Those that it does not know, by their path in the description; an object. */
  readonly unknown: string;
}

interface Place {
  readonly kind: EntityKind;
  readonly shape: "dynamic" | "full";
  readonly key: string;
  readonly list: boolean;
  /** Attributes that belong to the item that carries the description. */
  readonly ofTheItem: readonly string[];
}

const PLACES: readonly Place[] = [
  { kind: "users", shape: "full", key: "last_updated_by", list: false, ofTheItem: [] },
  { kind: "users", shape: "full", key: "last_updated_by_details", list: false, ofTheItem: [] },
  { kind: "users", shape: "full", key: "owner_details", list: false, ofTheItem: [] },
  { kind: "users", shape: "dynamic", key: "author_details", list: false, ofTheItem: [] },
  { kind: "users", shape: "dynamic", key: "creator_details", list: false, ofTheItem: [] },
  { kind: "content_types", shape: "full", key: "content_type", list: false, ofTheItem: [] },
  { kind: "content_types", shape: "dynamic", key: "content_type_details", list: false, ofTheItem: [] },
  { kind: "content_types", shape: "dynamic", key: "full_content_type", list: false, ofTheItem: [] },
  { kind: "campaigns", shape: "dynamic", key: "campaign_details", list: true, ofTheItem: [] },
  { kind: "campaigns", shape: "dynamic", key: "initiatives_details", list: true, ofTheItem: [] },
  { kind: "instances", shape: "dynamic", key: "instance", list: false, ofTheItem: [] },
  { kind: "custom_fields", shape: "full", key: "custom_fields", list: true, ofTheItem: ["value"] },
  {
    kind: "custom_fields",
    shape: "dynamic",
    key: "custom_fields_details",
    list: true,
    ofTheItem: ["value", "value_id", "updated_at"],
  },
];

interface Pointer {
  readonly place: Place;
  readonly order: number;
  readonly object: JsonObject;
  /** Names of the attributes, in the order of the wire. */
  readonly keys: readonly string[];
  /** Text of a JSON object; undefined: there is none. */
  readonly unknown: string | undefined;
}

/**
 * Collects descriptions over many items; `take` gives the newest of each. Descriptions with other attributes stand side
 * by side, so that none loses what only another says.
 */
export class EntityPool {
  readonly #newest = new Map<EntityKind, Map<string, Pointer[]>>();

  describe(item: Item): void {
    for (const view of item.views) {
      for (const place of PLACES) {
        if (place.shape === view.shape) this.#describePlace(item, view, place);
      }
      const instance = view.document.newsroom_id;
      if (view.shape === "dynamic" && typeof instance === "string")
        this.#see(INSTANCE_ID, view, { id: instance });
    }
  }

  #describePlace(item: Item, view: View, place: Place): void {
    const value = view.document[place.key];
    if (value === null || value === undefined) return;
    if (!place.list) {
      this.#describeOne(item, view, place, value);
    } else {
      for (const element of listOf(item, place.key, value)) this.#describeOne(item, view, place, element);
    }
  }

  /** A description that is none (a text, no ID) stays with the item. */
  #describeOne(item: Item, view: View, place: Place, value: unknown): void {
    if (value === null) return;
    if (isObject(value) && typeof value.id === "string") this.#see(place, view, value);
    else if (!isContentTypeId(place, value)) misplace(item, view, place.key, value);
  }

  #see(place: Place, view: View, object: JsonObject): void {
    const known = this.#known(place.kind, String(object.id));
    const pointer: Pointer = {
      place,
      order: view.order,
      object,
      keys: Object.keys(object),
      unknown: claimed(view, object),
    };
    const at = known.findIndex((other) => sameKeys(other.keys, pointer.keys));
    const other = known[at];
    if (other === undefined) known.push(pointer);
    else if (other.order <= pointer.order) known[at] = pointer;
  }

  #known(kind: EntityKind, id: string): Pointer[] {
    let things = this.#newest.get(kind);
    if (things === undefined) {
      things = new Map();
      this.#newest.set(kind, things);
    }
    let known = things.get(id);
    if (known === undefined) {
      known = [];
      things.set(id, known);
    }
    return known;
  }

  /** The newest description of each thing since the last call, one for each set of attributes. */
  take(): EntityVersion[] {
    const versions = [...this.#newest.values()].flatMap((things) =>
      [...things.values()].flatMap((pointers) => pointers.map(version)),
    );
    this.#newest.clear();
    return versions;
  }
}

const INSTANCE_ID: Place = {
  kind: "instances",
  shape: "dynamic",
  key: "newsroom_id",
  list: false,
  ofTheItem: [],
};

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function isContentTypeId(place: Place, value: unknown): boolean {
  return place.kind === "content_types" && place.key === "content_type" && typeof value === "string";
}

function claimed(view: View, object: JsonObject): string | undefined {
  if (view.unknown.length === 0) return undefined;
  const extra = new Extra();
  extra.claim(view.unknown, object);
  // What is deeper stays in the attribute that it is part of.
  const offered = object.formatted_select_values;
  for (const inner of [object.options, ...(Array.isArray(offered) ? offered : [])]) {
    new Extra().claim(view.unknown, inner);
  }
  const cell = extra.cell();
  return typeof cell === "string" ? cell : undefined;
}

function version({ place, order, object, unknown = "{}" }: Pointer): EntityVersion {
  const strange: object = JSON.parse(unknown);
  const attributes = Object.entries(object).filter(
    ([name]) => !Object.hasOwn(strange, name) && !place.ofTheItem.includes(name),
  );
  return {
    kind: place.kind,
    id: String(object.id),
    order,
    attributes: JSON.stringify(Object.fromEntries(attributes)),
    unknown,
  };
}

/** A description put together from many. */
export interface Entity {
  readonly id: string;
  readonly attributes: JsonObject;
  /** What the contract does not know, by its path in the description. */
  readonly unknown: JsonObject;
}

interface Known {
  readonly order: number;
  readonly shape: string;
  readonly attributes: JsonObject;
  readonly unknown: JsonObject;
}

/** All descriptions of a run. Memory grows with the number of distinct things, not with the items. */
export class EntityStore {
  readonly #parse: (json: string) => unknown;
  readonly #things = new Map<EntityKind, Map<string, Known[]>>();

  /** `parse` reads JSON without loss of digits. */
  constructor(parse: (json: string) => unknown) {
    this.#parse = parse;
  }

  add(version: EntityVersion): void {
    let things = this.#things.get(version.kind);
    if (things === undefined) {
      things = new Map();
      this.#things.set(version.kind, things);
    }
    const attributes = this.#object(version.attributes);
    const unknown = this.#object(version.unknown);
    const shape = JSON.stringify([Object.keys(attributes), Object.keys(unknown)]);
    const known = things.get(version.id) ?? [];
    const same = known.find((one) => one.shape === shape);
    if (same !== undefined && same.order > version.order) return;
    const others = known.filter((one) => one !== same);
    things.set(version.id, [...others, { order: version.order, shape, attributes, unknown }]);
  }

  #object(json: string): JsonObject {
    const value = this.#parse(json);
    return isObject(value) ? value : {};
  }

  /** The things of a kind in ascending order of ID, each with its attributes put together. */
  *of(kind: EntityKind): Generator<Entity> {
    const things = [...(this.#things.get(kind) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [id, known] of things) {
      const oldestFirst = known.toSorted((a, b) => a.order - b.order);
      yield {
        id,
        attributes: merged(oldestFirst.map((one) => one.attributes)),
        unknown: merged(oldestFirst.map((one) => one.unknown)),
      };
    }
  }
}

/** One object of all keys, the last value of each. */
function merged(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}
