/** The personal-data policy for fields and values that the contract does not know. */
import { isObject, type JsonObject, type UnknownField } from "../document.ts";
import { setOrDelete } from "./fields.ts";
import { meaningOfName } from "./names.ts";
import { declaredAt, KEPT_ATTRIBUTES, placeName, USER_PLACES, userPlaceAbove } from "./places.ts";
import type { ActivePolicy } from "./policy.ts";

type Path = readonly string[];

/** Values that are nested deeper are treated as personal. */
const MAX_DEPTH = 20;

/** Treats the unknown fields and values of a document in place. */
export class UnknownFieldTreatment {
  /** Paths of the treated values. */
  readonly treated: Path[] = [];
  readonly #policy: Pick<ActivePolicy, "fields" | "treat">;

  constructor(policy: Pick<ActivePolicy, "fields" | "treat">) {
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
    if (this.#policy.fields.covers(path)) {
      this.#policy.fields.unknown(parent, key);
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
