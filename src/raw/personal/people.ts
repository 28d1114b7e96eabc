/**
 * The personal-data policy for people: where the contract has them, which of their attributes are personal, and fields and
 * values that the contract does not know.
 */
import { dynamicItem } from "../../api/dynamic.ts";
import { fullItem } from "../../api/full.ts";
import { userFields } from "../../api/user.ts";
import { isObject, type JsonObject } from "../../common/json.ts";
import { DATA_TABLES } from "../../tables/all.ts";
import type { Origin } from "../../tables/declare.ts";
import type { UnknownField } from "../document.ts";
import { meaningOfName } from "./names.ts";
import { type ActivePolicy, type PersonalTreatment, setOrDelete } from "./policy.ts";

/** A path without list and map steps, because a service may send a list in place of an object. */
function placeName(path: readonly string[]): string {
  return path.filter(isName).join(".");
}

function isName(step: string): boolean {
  return step !== "[]" && step !== "{}";
}

/** Where users' IDs or descriptions stand in either shape of an item, by {@link placeName}. */
const USER_PLACES: ReadonlyMap<string, "id" | "description"> = new Map(
  [dynamicItem, fullItem]
    .flatMap((schema) => userFields(schema))
    .map(({ path, kind }) => [placeName(path), kind]),
);

/** The user place at or above a path. */
function userPlaceAbove(path: readonly string[]): string | undefined {
  let place = "";
  for (const step of path.filter(isName)) {
    place = place === "" ? step : `${place}.${step}`;
    if (USER_PLACES.has(place)) return place;
  }
  return undefined;
}

/** Whether a path is a user's ID or another attribute that is kept of a user. */
export function isUserId(path: readonly string[]): boolean {
  const place = userPlaceAbove(path);
  return (
    place !== undefined && (place === placeName(path) || KEPT_ATTRIBUTES.has(path.findLast(isName) ?? ""))
  );
}

/** Top-level members of an item that describe people. */
export const PERSON_FIELDS: ReadonlySet<string> = new Set(
  [...USER_PLACES].filter(([, kind]) => kind === "description").map(([name]) => name.split(".", 1)[0] ?? ""),
);

/** The object or list element that has the API field, and the field's name in it. */
function splitPath({ path }: Origin) {
  const dot = Math.max(path.lastIndexOf("."), 0);
  return { container: path.slice(0, dot), name: path.slice(dot + 1) };
}

/** The top-level members with personal attributes that the tables declare. `path`: as drift shows it. */
const PERSONAL_PLACES = DATA_TABLES.flatMap(({ columns }) => {
  const personal = columns
    .filter((column) => column.personal)
    .flatMap(({ origins }) => origins.map(splitPath));
  // An attribute that is personal in one place is personal in all: a service may send more of a user than is specified.
  const names = [...new Set(personal.map(({ name }) => name))];
  return [...new Set(personal.map(({ container }) => container))].map((path) => ({
    path,
    name: path.replaceAll("[]", ""),
    /** Path in the drift, by the attribute's name. */
    attributes: new Map(names.map((name) => [name, `${path}.${name}`])),
  }));
});

/** Attributes that are kept of a user: those that the contract knows and that are not personal. */
const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set([
  "user_id",
  ...DATA_TABLES.flatMap(({ columns }) => columns.flatMap(({ origins }) => origins.map(splitPath)))
    .filter(({ container }) => PERSONAL_PLACES.some(({ path }) => path === container))
    .map(({ name }) => name),
]).difference(new Set(PERSONAL_PLACES.flatMap(({ attributes }) => [...attributes.keys()])));

/** Declared personal attributes at a place. */
function declaredAt(place: string): Pick<ReadonlySet<string>, "has"> {
  return PERSONAL_PLACES.find(({ name }) => name === place)?.attributes ?? new Set();
}

/**
 * Treats the personal attributes of people in place, alone or in lists. A text in the place of a person is a name.
 * `treated` receives the path of each treated value.
 */
export function treatPeople(
  document: JsonObject,
  treat: PersonalTreatment,
  treated: (path: string) => void,
): void {
  for (const { name, path, attributes } of PERSONAL_PLACES) {
    const given = document[name];
    if (given === undefined || given === null) continue;
    let isNamed = false;
    const treatPerson = (value: unknown): unknown => {
      if (Array.isArray(value)) {
        for (const [at, each] of value.entries()) value[at] = treatPerson(each) ?? null;
        return value;
      }
      if (isObject(value)) return treatAttributes(value, attributes, treat, treated);
      if (typeof value !== "string") return value;
      isNamed = true;
      return treat(name, value);
    };
    setOrDelete(document, name, treatPerson(given));
    if (isNamed) treated(path);
  }
}

/** Returns a copy, because an object is slow to use after members were deleted from it. */
function treatAttributes(
  object: JsonObject,
  attributes: ReadonlyMap<string, string>,
  treat: PersonalTreatment,
  treated: (path: string) => void,
): JsonObject {
  const kept: [string, unknown][] = [];
  for (const name of Object.keys(object)) {
    const path = attributes.get(name);
    const value = path === undefined ? object[name] : treat(name, object[name]);
    if (path !== undefined) treated(path);
    if (value !== undefined) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

type Path = readonly string[];

/** Values that are nested deeper are treated as personal. */
const MAX_DEPTH = 20;

/** Treats the unknown fields and values of a document in place. */
export class UnknownFieldTreatment {
  /** Paths of the treated values. */
  readonly treated: Path[] = [];
  readonly #policy: ActivePolicy;

  constructor(policy: ActivePolicy) {
    this.#policy = policy;
  }

  fields(unknown: readonly Pick<UnknownField, "parent" | "path">[]): void {
    const persons = new Set<JsonObject>();
    for (const { path, parent } of unknown)
      if (path.length > 1 && hasEmailName(path.slice(-1), path.slice(0, -1))) persons.add(parent);
    for (const { parent, path } of unknown) {
      const key = path.at(-1) ?? "";
      if (path.length === 1 || userPlaceAbove(path) === undefined)
        this.#field(parent, path, persons.has(parent));
      else if (KEPT_ATTRIBUTES.has(key)) this.#stripUser(parent[key], path);
      else this.#treat(parent, path);
    }
  }

  /** Treats a value that stands where the contract knows something else. */
  value(value: unknown, path: Path): void {
    const place = userPlaceAbove(path);
    if (place === undefined) this.#within(value, path, false);
    else this.#stripUser(value, path, place === placeName(path) ? declaredAt(place) : undefined);
  }

  #within(value: unknown, path: Path, ofPerson: boolean): void {
    for (const object of flat(value).filter(isObject)) {
      const names = Object.keys(object);
      const isPerson = ofPerson || hasEmailName(names, path);
      for (const name of names) this.#field(object, [...path, name], isPerson);
    }
  }

  /** `ofPerson`: whether the field is part of a person's description. */
  #field(parent: JsonObject, path: Path, ofPerson: boolean): void {
    const key = path.at(-1) ?? "";
    if (this.#policy.fields.unknown(parent, path)) {
      this.treated.push(path);
      return;
    }
    const value = parent[key];
    // True and false identify nobody.
    if (typeof value === "boolean") return;
    const place = placeName(path);
    const { personal, person, ofPerson: isOfPerson } = meaningOfName(key);
    if (USER_PLACES.has(place)) this.#stripUser(value, path, declaredAt(place));
    else if (
      personal ||
      (person === "named" && flat(value).some((each) => typeof each === "string")) ||
      (ofPerson && isOfPerson) ||
      path.length > MAX_DEPTH
    )
      this.#treat(parent, path);
    else this.#within(value, path, ofPerson || person !== "no");
  }

  #treat(parent: JsonObject, path: Path): void {
    const key = path.at(-1) ?? "";
    setOrDelete(parent, key, this.#policy.treat(key, parent[key]));
    this.treated.push(path);
  }

  /** Keeps only {@link KEPT_ATTRIBUTES} of descriptions of users, alone or in lists. `done`: treated before. */
  #stripUser(value: unknown, path: Path, done?: ReturnType<typeof declaredAt>): void {
    if (Array.isArray(value)) for (const element of value) this.#stripUser(element, path, done);
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      if (done?.has(name)) continue;
      const inner = [...path, name];
      if (KEPT_ATTRIBUTES.has(name)) this.#stripUser(value[name], inner);
      else this.#treat(value, inner);
    }
  }
}

/** Whether one of the names is that of an e-mail address, so that its owner is a person, unless it is a thing. */
function hasEmailName(names: readonly string[], path: Path): boolean {
  return names.some((name) => meaningOfName(name).email) && !meaningOfName(path.at(-1) ?? "").thing;
}

/** The value, or the elements of lists of any depth. */
function flat(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value];
}
