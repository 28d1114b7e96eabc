/**
 * Things that many items describe: users, content types, campaigns, instances, custom field definitions. A worker keeps
 * the newest description of each; the store puts those of all workers and lookups together, attribute by attribute, the
 * newest observation winning, and an attribute that a description lacks never overwriting one that another gave.
 */
import { Extra, type Item, isObject, type JsonObject, type View } from "./views.ts";

/** Tables whose rows come from described things, by the name of the thing's own table. */
export type SharedKind = "users" | "content_types" | "campaigns" | "instances" | "custom_fields";

/** One description: wire attributes of the thing, and what of it the contract does not know. */
export interface Sighting {
  readonly kind: SharedKind;
  readonly id: string;
  /** Position in the order of observation. */
  readonly order: number;
  readonly attributes: JsonObject;
}

interface Place {
  readonly kind: SharedKind;
  readonly shape: "dynamic" | "full";
  readonly key: string;
  readonly list: boolean;
  /** Places with one mark describe a thing with the same attributes: the newest stands for all. */
  readonly mark: string;
}

const PLACES: readonly Place[] = [
  { kind: "users", shape: "full", key: "last_updated_by", list: false, mark: "plain" },
  { kind: "users", shape: "full", key: "last_updated_by_details", list: false, mark: "extended" },
  { kind: "users", shape: "full", key: "owner_details", list: false, mark: "extended" },
  { kind: "users", shape: "dynamic", key: "author_details", list: false, mark: "plain" },
  { kind: "users", shape: "dynamic", key: "creator_details", list: false, mark: "plain" },
  { kind: "content_types", shape: "full", key: "content_type", list: false, mark: "" },
  { kind: "content_types", shape: "dynamic", key: "content_type_details", list: false, mark: "" },
  { kind: "content_types", shape: "dynamic", key: "full_content_type", list: false, mark: "" },
  { kind: "campaigns", shape: "dynamic", key: "campaign_details", list: true, mark: "" },
  { kind: "campaigns", shape: "dynamic", key: "initiatives_details", list: true, mark: "" },
  { kind: "instances", shape: "dynamic", key: "instance", list: false, mark: "" },
  { kind: "custom_fields", shape: "full", key: "custom_fields", list: true, mark: "full" },
  { kind: "custom_fields", shape: "dynamic", key: "custom_fields_details", list: true, mark: "detail" },
];

/** Attributes of a thing's description that belong to the item that carries it. */
const OF_THE_ITEM: Record<string, readonly string[]> = {
  full: ["value"],
  detail: ["value", "value_id", "updated_at"],
};

/** Objects within a description that have no row of their own. */
const NESTED = ["options"];

/** Where `extra` fields of a description travel among its attributes: no wire field can have this key. */
export const EXTRA_KEY = "\u0000extra";

interface Pointer {
  readonly place: Place;
  readonly view: View;
  readonly object: JsonObject;
  readonly extra: JsonObject | undefined;
}

/** Collects descriptions over many items; `take` gives the newest of each. */
export class SharedPool {
  readonly #newest = new Map<string, Map<string, Pointer>>();

  describe(item: Item): void {
    for (const view of item.views) {
      for (const place of PLACES) {
        if (place.shape === view.shape) this.#describePlace(item, view, place);
      }
      const instance = view.document.newsroom_id;
      if (view.shape === "dynamic" && typeof instance === "string") this.#see(INSTANCE_ID, view, { id: instance });
    }
  }

  #describePlace(item: Item, view: View, place: Place): void {
    const value = view.document[place.key];
    if (value === null || value === undefined) return;
    if (!place.list) {
      this.#describeOne(item, view, place, value);
    } else if (Array.isArray(value)) {
      for (const element of value) this.#describeOne(item, view, place, element);
    }
  }

  #describeOne(item: Item, view: View, place: Place, value: unknown): void {
    if (value === null) return;
    if (isObject(value) && typeof value.id === "string") this.#see(place, view, value);
    else if (!isContentTypeId(place, value)) this.#misplaced(item, view, place, value);
  }

  /** A description that is none (a text, no ID) stays with the item, as an unknown field of it. */
  #misplaced(item: Item, view: View, place: Place, value: unknown): void {
    item.drift.note(place.key, "type", view.order, item.contentId, value);
    view.unknown.push({ path: [place.key], parent: view.document, value, claimed: false });
  }

  #see(place: Place, view: View, object: JsonObject): void {
    const extra = claimed(view, object);
    const key = `${place.kind}\u0000${String(object.id)}`;
    let marks = this.#newest.get(key);
    if (marks === undefined) {
      marks = new Map();
      this.#newest.set(key, marks);
    }
    const known = marks.get(place.mark);
    if (known === undefined || known.view.order <= view.order) marks.set(place.mark, { place, view, object, extra });
  }

  /** The newest description of each thing since the last call, one per mark. */
  take(): Sighting[] {
    const sightings = [...this.#newest.values()].flatMap((marks) => [...marks.values()].map(sighting));
    this.#newest.clear();
    return sightings;
  }
}

const INSTANCE_ID: Place = { kind: "instances", shape: "dynamic", key: "newsroom_id", list: false, mark: "id" };

function isContentTypeId(place: Place, value: unknown): boolean {
  return place.kind === "content_types" && place.key === "content_type" && typeof value === "string";
}

function claimed(view: View, object: JsonObject): JsonObject | undefined {
  if (view.unknown.length === 0) return undefined;
  const extra = new Extra();
  extra.claim(view, object, NESTED);
  const cell = extra.cell();
  return typeof cell === "string" ? JSON.parse(cell) : undefined;
}

function sighting(pointer: Pointer): Sighting {
  const { place, view, object, extra } = pointer;
  const attributes: JsonObject = { ...object };
  for (const name of OF_THE_ITEM[place.mark] ?? []) delete attributes[name];
  for (const name of Object.keys(extra ?? {})) delete attributes[name];
  if (extra !== undefined) attributes[EXTRA_KEY] = extra;
  return { kind: place.kind, id: String(object.id), order: view.order, attributes };
}

interface Known {
  readonly order: number;
  readonly attributes: JsonObject;
}

/** All descriptions of a run. Memory grows with the number of distinct things, not with the items. */
export class SharedStore {
  readonly #things = new Map<SharedKind, Map<string, Known[]>>();

  add(sighting: Sighting): void {
    let things = this.#things.get(sighting.kind);
    if (things === undefined) {
      things = new Map();
      this.#things.set(sighting.kind, things);
    }
    const known = things.get(sighting.id) ?? [];
    const shape = Object.keys(sighting.attributes).join();
    const other = known.filter((one) => Object.keys(one.attributes).join() !== shape);
    const same = known.find((one) => !other.includes(one));
    const keep = same !== undefined && same.order > sighting.order ? same : sighting;
    things.set(sighting.id, [...other, { order: keep.order, attributes: keep.attributes }]);
  }

  /** The things of a kind in ascending order of ID, each with its attributes put together. */
  *of(kind: SharedKind): Generator<{ id: string; attributes: JsonObject }> {
    const things = [...(this.#things.get(kind) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [id, known] of things) {
      const oldestFirst = known.toSorted((a, b) => a.order - b.order);
      const attributes = new Map<string, unknown>();
      for (const one of oldestFirst) for (const key of Object.keys(one.attributes)) attributes.set(key, one.attributes[key]);
      yield { id, attributes: Object.fromEntries(attributes) };
    }
  }
}
