/**
 * Collects entities, which many items describe. Each worker keeps the newest descriptions of an entity; the store merges
 * those of all workers and lookups. Of each attribute, the newest value wins.
 */

import { isObject, type JsonObject, parseExact } from "../common/json.ts";
import { ExtraFields, type ItemDocument, keepMisplaced, type RawItem, type Shape } from "../raw/document.ts";
import { ListedFields } from "./listed-fields.ts";
import { toList } from "./rows.ts";

/** Entities by the name of their table. */
type EntityKind = "users" | "content_types" | "campaigns" | "instances" | "custom_fields";

/** A description of an entity. Its parts are JSON texts, since exact numbers cannot be sent between threads. */
export interface EntityVersion {
  readonly kind: EntityKind;
  readonly id: string;
  /** Position in the order of observation. */
  readonly order: number;
  /** JSON object of the known attributes. */
  readonly attributes: string;
  /** JSON object of unknown attributes by path. */
  readonly unknown: string;
}

/** `[]` after a key marks a list of descriptions. `ofTheItem`: attributes that belong to the item, not to the entity. */
function describes(kind: EntityKind, shape: Shape, key: string, ofTheItem: readonly string[] = []) {
  return { kind, shape, key: key.replace("[]", ""), list: key.endsWith("[]"), ofTheItem };
}
type DescriptionField = ReturnType<typeof describes>;

const DESCRIPTION_FIELDS = [
  describes("users", "full", "last_updated_by"),
  describes("users", "full", "last_updated_by_details"),
  describes("users", "full", "owner_details"),
  describes("users", "dynamic", "author_details"),
  describes("users", "dynamic", "creator_details"),
  describes("content_types", "full", "content_type"),
  describes("content_types", "dynamic", "content_type_details"),
  describes("content_types", "dynamic", "full_content_type"),
  describes("campaigns", "dynamic", "campaign_details[]"),
  describes("campaigns", "dynamic", "initiatives_details[]"),
  describes("instances", "dynamic", "instance"),
  describes("custom_fields", "full", "custom_fields[]", ["value"]),
  describes("custom_fields", "dynamic", "custom_fields_details[]", ["value", "value_id", "updated_at"]),
];
const INSTANCE_ID = describes("instances", "dynamic", "newsroom_id");

interface EntityDescription {
  readonly field: DescriptionField;
  readonly order: number;
  readonly object: JsonObject;
  /** Names of the attributes in their order. */
  readonly keys: readonly string[];
  /** JSON object of unknown attributes. */
  readonly unknown: string | undefined;
}

/** Keeps the newest description for each set of attributes, so that no attribute is lost. */
export class EntityPool {
  readonly listedFields = new ListedFields();
  /** By kind and ID. */
  readonly #newest = new Map<string, EntityDescription[]>();

  describe(item: RawItem): void {
    this.listedFields.count(item);
    for (const view of item.views) {
      for (const field of DESCRIPTION_FIELDS) {
        if (field.shape !== view.shape) continue;
        const value = view.document[field.key];
        const listed = value === null || value === undefined ? [] : [value];
        for (const each of field.list ? toList(item, field.key, value) : listed) {
          if (isObject(each) && typeof each.id === "string") this.#see(field, view, each);
          // A description without an ID is kept in the item's `extra`; a content type may be its ID.
          else if (each !== null && !(field.key === "content_type" && typeof each === "string"))
            keepMisplaced(item, view, field.key, each);
        }
      }
      const instance = view.document.newsroom_id;
      if (view.shape === "dynamic" && typeof instance === "string")
        this.#see(INSTANCE_ID, view, { id: instance });
    }
  }

  #see(field: DescriptionField, view: ItemDocument, object: JsonObject): void {
    const key = `${field.kind} ${object.id}`;
    const known = this.#newest.get(key) ?? [];
    this.#newest.set(key, known);
    const keys = Object.keys(object);
    const pointer = { field, order: view.order, object, keys, unknown: claimed(view, object) };
    const at = known.findIndex(
      (other) => other.keys.length === keys.length && other.keys.every((each, index) => each === keys[index]),
    );
    const other = known[at];
    if (other === undefined) known.push(pointer);
    else if (other.order <= pointer.order) known[at] = pointer;
  }

  /** The newest descriptions since the last call. */
  take(): EntityVersion[] {
    const versions = [...this.#newest.values()].flatMap((pointers) => pointers.map(version));
    this.#newest.clear();
    return versions;
  }
}

function claimed(view: ItemDocument, object: JsonObject): string | undefined {
  if (view.unknown.length === 0) return undefined;
  const extra = new ExtraFields();
  extra.claim(view.unknown, object);
  // Unknown fields of nested objects stay in their attribute.
  const offered = object.formatted_select_values;
  for (const inner of [object.options, ...(Array.isArray(offered) ? offered : [])]) {
    new ExtraFields().claim(view.unknown, inner);
  }
  const cell = extra.cell();
  return typeof cell === "string" ? cell : undefined;
}

function version({ field, order, object, unknown = "{}" }: EntityDescription): EntityVersion {
  const strange: object = JSON.parse(unknown);
  const attributes = Object.entries(object).filter(
    ([name]) => !Object.hasOwn(strange, name) && !field.ofTheItem.includes(name),
  );
  return {
    kind: field.kind,
    id: String(object.id),
    order,
    attributes: JSON.stringify(Object.fromEntries(attributes)),
    unknown,
  };
}

/** An entity, merged from its descriptions. */
export interface Entity {
  readonly id: string;
  readonly attributes: JsonObject;
  /** Unknown attributes by path. */
  readonly unknown: JsonObject;
}

type EntityPart = Omit<Entity, "id"> & { readonly order: number; readonly shape: string };

/** All descriptions of a run. Memory grows with the number of entities, not of items. */
export class EntityStore {
  readonly listedFields = new ListedFields();
  readonly #things = new Map<EntityKind, Map<string, EntityPart[]>>();

  add(version: EntityVersion): void {
    const things = this.#things.get(version.kind) ?? new Map<string, EntityPart[]>();
    this.#things.set(version.kind, things);
    // Numbers keep all digits.
    const attributes = parseExact(version.attributes) as JsonObject;
    const unknown = parseExact(version.unknown) as JsonObject;
    const shape = JSON.stringify([Object.keys(attributes), Object.keys(unknown)]);
    const known = things.get(version.id) ?? [];
    const same = known.find((one) => one.shape === shape);
    if (same !== undefined && same.order > version.order) return;
    const others = known.filter((one) => one !== same);
    things.set(version.id, [...others, { order: version.order, shape, attributes, unknown }]);
  }

  /** Entities of a kind, in ascending order of ID. */
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

/** An object with the last value of each key. */
function merged(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}
