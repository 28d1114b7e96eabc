/** The personal-data policy, applied as soon as a document is parsed: nothing later can hold what was dropped. */
import { createHmac } from "node:crypto";
import { isObject, type JsonObject, type UnknownField } from "../document.ts";
import type { Drift } from "../drift.ts";
import { treatAddresses } from "./addresses.ts";
import { FieldPolicy, type PersonalFields, type PersonalTreatment, setOrDelete } from "./fields.ts";
import { meaningOfName } from "./names.ts";
import {
  declaredAt,
  KEPT_ATTRIBUTES,
  PERSONAL_PLACES,
  type PersonalPlace,
  placeName,
  USER_PLACES,
  userPlaceAbove,
} from "./places.ts";

export const PERSONAL_POLICIES = ["drop", "hash", "keep"] as const;
export type PersonalPolicy = (typeof PERSONAL_POLICIES)[number];

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

function hashing(key: Uint8Array | undefined): PersonalTreatment {
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
function treatTexts(
  document: JsonObject,
  place: PersonalPlace,
  treat: PersonalTreatment,
  treated: () => void,
): void {
  const key = place.steps[0] ?? "";
  const value = document[key];
  if (!holdsText(value)) return;
  const inList = (element: unknown, depth: number): unknown => {
    if (typeof element === "string" || depth > MAX_DEPTH) return treat(key, element) ?? null;
    return Array.isArray(element) ? element.map((each) => inList(each, depth + 1)) : element;
  };
  setOrDelete(document, key, Array.isArray(value) ? value.map((each) => inList(each, 1)) : treat(key, value));
  treated();
}

/** Whether it is a text, or a list that holds one within lists; what is nested too deeply counts as one. */
function holdsText(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === "string";
  return value.flat(MAX_DEPTH).some((each) => typeof each === "string" || Array.isArray(each));
}

export interface PolicySettings {
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for `hash` only. */
  readonly hashKey: Uint8Array | undefined;
  readonly fields: PersonalFields;
}

/** What the drift calls what the policy treated. */
export function policyDriftKind({ policy }: PolicySettings): "personal_dropped" | "personal_hashed" {
  return policy === "hash" ? "personal_hashed" : "personal_dropped";
}

/** Applies the policy for the declared personal columns to a document in place; the drift counts what it treated. */
export function declaredPolicy(options: PolicySettings): (document: JsonObject, drift: Drift) => void {
  if (options.policy === "keep") return () => {};
  const treat = treatment(options);
  const kind = policyDriftKind(options);
  return (document, drift) => {
    for (const place of PERSONAL_PLACES) {
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

/** The policy for what the configuration calls personal; undefined where everything is kept. */
export function configuredPolicy(options: PolicySettings): FieldPolicy | undefined {
  const { policy, fields } = options;
  return policy === "keep" ? undefined : new FieldPolicy(fields, policy, treatment(options));
}

/** Gets the path of what was dropped or hashed. */
type Treated = (path: readonly string[]) => void;

/** Where a value stands that the contract does not know, and whether in the description of a person. */
interface Context {
  readonly path: readonly string[];
  readonly ofPerson: boolean;
  readonly treated: Treated;
}

/**
 * The policy for what the contract does not know: unknown fields and those within them, and whatever stands where the
 * contract has something else. Undefined where everything is kept. Paths are whole ones, as a walker gives them.
 */
export function unknownPolicy(options: PolicySettings) {
  const fields = configuredPolicy(options);
  if (fields === undefined) return undefined;
  const treat = treatment(options);

  const within = (value: unknown, context: Context): void => {
    for (const object of objectsIn(value)) {
      const names = Object.keys(object);
      const ofPerson = context.ofPerson || hasAddress(names, context.path);
      for (const name of names) apply(object, { ...context, ofPerson, path: [...context.path, name] });
    }
  };

  const apply = (parent: JsonObject, { path, ofPerson, treated }: Context): void => {
    const key = path.at(-1) ?? "";
    if (fields.covers(path)) {
      fields.unknown(parent, key);
      treated(path);
      return;
    }
    const value = parent[key];
    // What is true or false of somebody says who it is as little as an ID does.
    if (typeof value === "boolean") return;
    const place = placeName(path);
    if (USER_PLACES.has(place)) {
      strip(value, { path, treated, done: declaredAt(place) }, 0);
      return;
    }
    const name = meaningOfName(key);
    const isPerson = name.person === "named" && holdsText(value);
    if (name.personal || isPerson || (ofPerson && name.ofPerson) || path.length > MAX_DEPTH) {
      setOrDelete(parent, key, treat(key, value));
      treated(path);
    } else {
      within(value, { path, treated, ofPerson: ofPerson || name.person !== "no" });
    }
  };

  /** Leaves of descriptions of users what they keep, in place. `done`: was treated before. */
  const strip = (
    value: unknown,
    { path, treated, done }: Omit<Context, "ofPerson"> & { readonly done: ReadonlySet<string> },
    depth: number,
  ): void => {
    if (Array.isArray(value)) {
      for (const [at, element] of value.entries()) {
        if (depth < MAX_DEPTH) strip(element, { path, treated, done }, depth + 1);
        else value[at] = treat(path.at(-1) ?? "", element) ?? null;
      }
    }
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      if (done.has(name)) continue;
      const inner = [...path, name];
      if (KEPT_ATTRIBUTES.has(name) && depth < MAX_DEPTH) {
        strip(value[name], { path: inner, treated, done: NOTHING_DONE }, depth + 1);
      } else {
        setOrDelete(value, name, treat(name, value[name]));
        treated(inner);
      }
    }
  };

  return {
    /** For what is personal wherever it stands; comes before all else of this policy. */
    anywhere: (document: JsonObject, members: Iterable<string>, treated: Treated): void =>
      treatAddresses(document, members, treat, treated),
    /** For all fields of a document that the contract does not know. */
    fields: (unknown: readonly Pick<UnknownField, "parent" | "path">[], treated: Treated): void => {
      const isAddress = ({ path }: (typeof unknown)[number]) =>
        path.length > 1 && hasAddress(path.slice(-1), path.slice(0, -1));
      const persons = new Set(unknown.filter(isAddress).map(({ parent }) => parent));
      for (const { parent, path } of unknown) {
        const key = path.at(-1) ?? "";
        if (path.length === 1 || userPlaceAbove(path) === undefined) {
          apply(parent, { path, treated, ofPerson: persons.has(parent) });
        } else if (KEPT_ATTRIBUTES.has(key)) {
          strip(parent[key], { path, treated, done: NOTHING_DONE }, 0);
        } else {
          // In somebody's description: whatever it is called.
          setOrDelete(parent, key, treat(key, parent[key]));
          treated(path);
        }
      }
    },
    /** For what stands where the contract knows something else. */
    within: (value: unknown, path: readonly string[], treated: Treated): void => {
      const place = userPlaceAbove(path);
      if (place === undefined) within(value, { path, treated, ofPerson: false });
      else
        strip(
          value,
          { path, treated, done: place === placeName(path) ? declaredAt(place) : NOTHING_DONE },
          0,
        );
    },
  };
}

const NOTHING_DONE: ReadonlySet<string> = new Set();

/** Whether one of the names is an e-mail address's: what has one and is no thing is a person. */
function hasAddress(names: readonly string[], path: readonly string[]): boolean {
  return names.some((name) => meaningOfName(name).email) && !meaningOfName(path.at(-1) ?? "").thing;
}

/** What is nested deeper in an unknown field is not searched but taken for personal. */
const MAX_DEPTH = 20;

/** The object that a value is, or those in the list, or list of lists of any depth, that it is. */
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

function treatment({ policy, hashKey }: PolicySettings): PersonalTreatment {
  return policy === "hash" ? hashing(hashKey) : () => undefined;
}
