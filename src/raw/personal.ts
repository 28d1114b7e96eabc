/** The personal-data policy, applied as soon as a document is parsed: nothing later can hold what was dropped. */
import { createHmac } from "node:crypto";
import type { Table } from "../tables/declare.ts";
import { isObject, type JsonObject } from "./document.ts";
import type { Drift } from "./drift.ts";

export const PERSONAL_POLICIES = ["drop", "hash", "keep"] as const;
export type PersonalPolicy = (typeof PERSONAL_POLICIES)[number];

/** Names of unknown fields that look like personal data, in lower case and with an underscore between their words. */
const PERSONAL_NAMES: readonly RegExp[] = [
  /e_?mail/,
  /(^|_)(phone|mobile|fax|telephone|tel|cell)(_|$)/,
  /(^|_)(fullname|firstname|lastname|surname|nickname|username|forename|login|signature)(_|$)/,
  /(^|_)(avatar|portrait|headshot|gravatar)(_|$)/,
  /(^|_)(profile|user|author)_?(image|photo|picture)(_|$)/,
  /(^|_)(bio|biography|birthday|birthdate|date_of_birth|dob|ssn|passport)(_|$)/,
  /(^|_)(street|postal|home)_?address(_|$)/,
];

/** `reviewer_name`, `contact_name`: whatever has a name is taken for a person unless it is one of these things. */
const NAMED = /(?:^|_)([a-z0-9]+)_name(?:_|$)/;
const THINGS = new Set(
  (
    "app application brand bucket campaign category channel city class collection column company country database " +
    "department domain event field file folder font form format group host icon image instance key label " +
    "language list locale model node organization page place plan platform playlist product project property queue " +
    "region role segment server service site source space stage table tag task team template tenant theme timezone " +
    "topic type variable venue workflow zone"
  ).split(" "),
);

/** Names of a person: a text there, alone or in lists, is the person's name, and so is `name` in an object there. */
const PERSONS =
  /(^|_)(person|contact|manager|reviewer|approver|editor|author|owner|assignee|creator|speaker|customer|employee)s?$/;

function plainName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_");
}

export function looksPersonal(name: string): boolean {
  const plain = plainName(name);
  const named = NAMED.exec(plain)?.[1];
  return (named !== undefined && !THINGS.has(named)) || PERSONAL_NAMES.some((pattern) => pattern.test(plain));
}

/** What becomes of one personal value: `undefined` drops it. */
type Treatment = (field: string, value: unknown) => unknown;

const HASH_KEY_BYTES = 32;
/** A few people are in most documents: what was hashed last is looked up. About 2 MB. */
const KNOWN_HASHES = 10_000;

/**
 * Keyed hash of a value, as 64 hex digits: HMAC-SHA-256 over the field's name, a NUL and the value in NFC, trimmed,
 * e-mail addresses in lower case. One person has one hash in each field, and no guessing without the key.
 */
export function personalHash(key: Uint8Array, field: string, value: string): string {
  const trimmed = value.normalize("NFC").trim();
  const normal = /e_?mail/i.test(field) ? trimmed.toLowerCase() : trimmed;
  return createHmac("sha256", key).update(`${field}\u0000${normal}`).digest("hex");
}

function hashing(key: Uint8Array | undefined): Treatment {
  if (key === undefined || key.length < HASH_KEY_BYTES)
    throw new TypeError("a hash key has 32 bytes or more");
  const known = new Map<string, string>();
  return (field, value) => {
    if (value === null || value === "") return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const named = `${field}\u0000${text}`;
    let hash = known.get(named);
    if (hash === undefined) {
      if (known.size === KNOWN_HASHES) known.clear();
      hash = personalHash(key, field, text);
      known.set(named, hash);
    }
    return hash;
  };
}

/** Objects at `steps` of a document, and the attributes of each that are personal. */
interface PersonalPlace {
  readonly steps: readonly string[];
  readonly path: string;
  /** By name, with the path that the drift names. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** Those of both shapes of an item: a description may stand where the specification does not have it. */
function placesOf(tables: readonly Table[]): PersonalPlace[] {
  return tables.flatMap((table) => {
    const paths = table.columns.filter((column) => column.personal).flatMap((column) => column.origins);
    const dots = paths.map(({ path }) => ({ path, dot: path.lastIndexOf(".") }));
    // What is personal in one place of a kind is so in all: a service may send more of a user than is specified.
    const names = [...new Set(dots.map(({ path, dot }) => path.slice(dot + 1)))];
    const containers = new Set(dots.map(({ path, dot }) => path.slice(0, dot)));
    return [...containers].map((path) => ({
      path,
      // Lists count wherever they stand: a service may send one where a single object is specified.
      steps: path.replaceAll("[]", "").split("."),
      attributes: new Map(names.map((name) => [name, `${path}.${name}`])),
    }));
  });
}

/** The value with what `treated` gives in place of each object at the steps, in lists or alone; all else stays. */
function visit(
  value: unknown,
  steps: readonly string[],
  at: number,
  treated: (object: JsonObject) => JsonObject,
): unknown {
  if (Array.isArray(value)) {
    for (const [place, element] of value.entries()) value[place] = visit(element, steps, at, treated);
    return value;
  }
  if (!isObject(value)) return value;
  const step = steps[at];
  if (step === undefined) return treated(value);
  const inner = value[step];
  if (typeof inner === "object") value[step] = visit(inner, steps, at + 1, treated);
  return value;
}

/** A text where a person's description is specified, alone or in lists of any depth, is treated like a name. */
function treatTexts(document: JsonObject, place: PersonalPlace, treat: Treatment, treated: () => void): void {
  const key = place.steps[0] ?? "";
  const value = document[key];
  if (!holdsText(value)) return;
  const inList = (element: unknown, depth: number): unknown => {
    if (typeof element === "string" || depth > MAX_DEPTH) return treat(key, element) ?? null;
    return Array.isArray(element) ? element.map((each) => inList(each, depth + 1)) : element;
  };
  put(document, key, Array.isArray(value) ? value.map((each) => inList(each, 1)) : treat(key, value));
  treated();
}

/** Whether it is a text, or a list that holds one within lists; what is nested too deeply counts as one. */
function holdsText(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === "string";
  return value.flat(MAX_DEPTH).some((each) => typeof each === "string" || Array.isArray(each));
}

/** Fields of an item that describe people. */
export function personFields(tables: readonly Table[]): ReadonlySet<string> {
  return new Set(placesOf(tables).map((place) => place.steps[0] ?? ""));
}

export interface PolicyOptions {
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for `hash` only. */
  readonly hashKey: Uint8Array | undefined;
}

/** Applies the policy for the declared personal columns to a document in place; the drift counts what it treated. */
export function personalPolicy(
  tables: readonly Table[],
  options: PolicyOptions,
): (document: JsonObject, drift: Drift) => void {
  if (options.policy === "keep") return () => {};
  const treat = treatment(options);
  const places = placesOf(tables);
  const kind = options.policy === "drop" ? "personal_dropped" : "personal_hashed";
  return (document, drift) => {
    for (const place of places) {
      treatTexts(document, place, treat, () => drift.note(place.path, kind, 0, null));
      visit(document, place.steps, 0, (object) => {
        return treatAttributes(object, place.attributes, treat, (path) => drift.note(path, kind, 0, null));
      });
    }
  };
}

/** A copy without what is dropped: an object from which fields are deleted is slow in all that is done with it. */
function treatAttributes(
  object: JsonObject,
  attributes: PersonalPlace["attributes"],
  treat: Treatment,
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

/** Gets the names, from an unknown field on, of what was dropped or hashed. */
type Treated = (names: readonly string[]) => void;

/** The policy for unknown fields and those within them; undefined where everything is kept. */
export function unknownPolicy(options: PolicyOptions) {
  if (options.policy === "keep") return undefined;
  const treat = treatment(options);
  const within = (value: unknown, names: readonly string[], treated: Treated): void => {
    for (const object of objectsIn(value)) {
      for (const name of Object.keys(object)) apply(object, [...names, name], treated);
    }
  };
  const apply = (parent: JsonObject, names: readonly string[], treated: Treated): void => {
    const key = names.at(-1) ?? "";
    const ofPerson = key === "name" && PERSONS.test(plainName(names.at(-2) ?? ""));
    const isPerson = PERSONS.test(plainName(key)) && holdsText(parent[key]);
    if (looksPersonal(key) || ofPerson || isPerson || names.length > MAX_DEPTH) {
      put(parent, key, treat(key, parent[key]));
      treated(names);
    } else {
      within(parent[key], names, treated);
    }
  };
  return {
    field: (parent: JsonObject, key: string, treated: Treated) => apply(parent, [key], treated),
    /** For a field of somebody's description: whatever it is called. */
    ofPerson: (parent: JsonObject, key: string, treated: Treated) => {
      put(parent, key, treat(key, parent[key]));
      treated([key]);
    },
    /** For what is within a value, whatever the value's own name. */
    within: (value: unknown, treated: Treated) => within(value, [], treated),
  };
}

/** What is nested deeper in an unknown field is not searched but taken for personal. */
const MAX_DEPTH = 20;

/** The object that a value is, or those in the list, or list of lists, that it is. */
function objectsIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flat(MAX_DEPTH).filter(isObject);
  return isObject(value) ? [value] : [];
}

function treatment(options: PolicyOptions): Treatment {
  return options.policy === "hash" ? hashing(options.hashKey) : () => undefined;
}

function put(object: JsonObject, key: string, value: unknown): void {
  if (value === undefined) delete object[key];
  else object[key] = value;
}
