/** The personal-data policy for fields and values that the contract does not know. */
import { isObject, type JsonObject, type UnknownField } from "../document.ts";
import { treatAddresses } from "./addresses.ts";
import { type FieldPolicy, type PersonalTreatment, setOrDelete } from "./fields.ts";
import { meaningOfName } from "./names.ts";
import { declaredAt, KEPT_ATTRIBUTES, placeName, USER_PLACES, userPlaceAbove } from "./places.ts";
import { configuredPolicy, holdsText, MAX_DEPTH, type PolicySettings, treatmentOf } from "./policy.ts";

/** Receives the complete path of a treated value. */
type PathListener = (path: readonly string[]) => void;

/** Where a value stands. */
interface UnknownValue {
  readonly path: readonly string[];
  /** Whether the value is part of a person's description. */
  readonly ofPerson: boolean;
  readonly treated: PathListener;
}

/** A description of a user that is stripped. `done`: attributes that were treated before. */
interface UserValue extends Pick<UnknownValue, "path" | "treated"> {
  readonly done: ReadonlySet<string>;
}

const NOTHING_DONE: ReadonlySet<string> = new Set();

/** `undefined` if everything is kept. */
export function unknownFieldPolicy(settings: PolicySettings): UnknownFieldPolicy | undefined {
  const fields = configuredPolicy(settings);
  return fields && new UnknownFieldPolicy(fields, treatmentOf(settings));
}

/** Changes documents in place. */
export class UnknownFieldPolicy {
  readonly #fields: FieldPolicy;
  readonly #treat: PersonalTreatment;

  constructor(fields: FieldPolicy, treat: PersonalTreatment) {
    this.#fields = fields;
    this.#treat = treat;
  }

  /** Treats what is personal in any place. Must be called before the other methods. */
  treatAnywhere(document: JsonObject, members: Iterable<string>, treated: PathListener): void {
    treatAddresses(document, members, this.#treat, treated);
  }

  /** Treats the unknown fields of a document. */
  treatFields(unknown: readonly Pick<UnknownField, "parent" | "path">[], treated: PathListener): void {
    const persons = new Set<JsonObject>();
    for (const { path, parent } of unknown)
      if (path.length > 1 && hasEmailName(path.slice(-1), path.slice(0, -1))) persons.add(parent);
    for (const { parent, path } of unknown) {
      const key = path.at(-1) ?? "";
      if (path.length === 1 || userPlaceAbove(path) === undefined)
        this.#treatField(parent, { path, treated, ofPerson: persons.has(parent) });
      else if (KEPT_ATTRIBUTES.has(key)) this.#stripUser(parent[key], { path, treated, done: NOTHING_DONE });
      else this.#treatValue(parent, { path, treated });
    }
  }

  /** Treats a value that stands where the contract knows something else. */
  treatValue(value: unknown, path: readonly string[], treated: PathListener): void {
    const place = userPlaceAbove(path);
    if (place === undefined) {
      this.#treatWithin(value, { path, treated, ofPerson: false });
      return;
    }
    const done = place === placeName(path) ? declaredAt(place) : NOTHING_DONE;
    this.#stripUser(value, { path, treated, done });
  }

  #treatWithin(value: unknown, scope: UnknownValue): void {
    for (const object of objectsIn(value)) {
      const names = Object.keys(object);
      const ofPerson = scope.ofPerson || hasEmailName(names, scope.path);
      for (const name of names) this.#treatField(object, { ...scope, ofPerson, path: [...scope.path, name] });
    }
  }

  #treatField(parent: JsonObject, { path, ofPerson, treated }: UnknownValue): void {
    const key = path.at(-1) ?? "";
    if (this.#fields.covers(path)) {
      this.#fields.unknown(parent, key);
      treated(path);
      return;
    }
    const value = parent[key];
    // True and false identify nobody.
    if (typeof value === "boolean") return;
    const place = placeName(path);
    if (USER_PLACES.has(place)) {
      this.#stripUser(value, { path, treated, done: declaredAt(place) });
      return;
    }
    const name = meaningOfName(key);
    const isPersonsName = name.person === "named" && holdsText(value);
    if (name.personal || isPersonsName || (ofPerson && name.ofPerson) || path.length > MAX_DEPTH)
      this.#treatValue(parent, { path, treated });
    else this.#treatWithin(value, { path, treated, ofPerson: ofPerson || name.person !== "no" });
  }

  #treatValue(parent: JsonObject, { path, treated }: Pick<UnknownValue, "path" | "treated">): void {
    const key = path.at(-1) ?? "";
    setOrDelete(parent, key, this.#treat(key, parent[key]));
    treated(path);
  }

  /** Keeps only {@link KEPT_ATTRIBUTES} of descriptions of users, alone or in lists. */
  #stripUser(value: unknown, user: UserValue, depth = 0): void {
    const { path, treated, done } = user;
    if (Array.isArray(value)) {
      for (const [at, element] of value.entries()) {
        if (depth < MAX_DEPTH) this.#stripUser(element, user, depth + 1);
        else value[at] = this.#treat(path.at(-1) ?? "", element) ?? null;
      }
    }
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      if (done.has(name)) continue;
      const inner = { path: [...path, name], treated };
      if (KEPT_ATTRIBUTES.has(name) && depth < MAX_DEPTH)
        this.#stripUser(value[name], { ...inner, done: NOTHING_DONE }, depth + 1);
      else this.#treatValue(value, inner);
    }
  }
}

/** Whether one of the names is that of an e-mail address, so that its owner is a person, unless it is a thing. */
function hasEmailName(names: readonly string[], path: readonly string[]): boolean {
  return names.some((name) => meaningOfName(name).email) && !meaningOfName(path.at(-1) ?? "").thing;
}

/** The value if it is an object, or the objects in lists of any depth. */
function objectsIn(value: unknown): JsonObject[] {
  const found: JsonObject[] = [];
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (isObject(next)) found.push(next);
  }
  return found;
}
