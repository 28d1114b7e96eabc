/** The personal-data policy: what it does with a value, and with the columns that the tables declare as personal. */
import { createHmac } from "node:crypto";
import { isObject, type JsonObject } from "../document.ts";
import { FieldPolicy, type PersonalFields, type PersonalTreatment, setOrDelete } from "./fields.ts";
import { PERSONAL_PLACES } from "./places.ts";

export const PERSONAL_POLICIES = ["drop", "hash", "keep"] as const;
export type PersonalPolicy = (typeof PERSONAL_POLICIES)[number];

export interface PolicySettings {
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for `hash` only. */
  readonly hashKey: Uint8Array | undefined;
  readonly fields: PersonalFields;
}

const MIN_KEY_BYTES = 32;
/** Hashes to remember, about 2 MB: most documents name the same few people. */
const MAX_KNOWN_HASHES = 10_000;

/**
 * Keyed hash of a value as 64 hex digits: HMAC-SHA-256 over the field's name, a NUL and the value in NFC, trimmed, e-mail
 * addresses in lower case. A person has one hash in each field.
 */
export function personalHash(key: Uint8Array, field: string, value: string): string {
  const trimmed = value.normalize("NFC").trim();
  const normal = /e_?mail/i.test(field) ? trimmed.toLowerCase() : trimmed;
  return createHmac("sha256", key).update(`${field}\u0000${normal}`).digest("hex");
}

export type ActivePolicy = NonNullable<ReturnType<typeof activePolicy>>;

/** How personal values are treated; `undefined` if everything is kept. `kind`: the drift that a treated value counts as. */
export function activePolicy({ policy, hashKey, fields }: PolicySettings) {
  if (policy === "keep") return undefined;
  const [treat, kind] =
    policy === "hash"
      ? ([hashing(hashKey), "personal_hashed"] as const)
      : ([() => undefined, "personal_dropped"] as const);
  return { treat, kind, fields: new FieldPolicy(fields, policy, treat) };
}

function hashing(key: Uint8Array | undefined): PersonalTreatment {
  if (key === undefined || key.length < MIN_KEY_BYTES) throw new TypeError("a hash key has 32 bytes or more");
  const known = new Map<string, string>();
  return (field, value) => {
    if (value === null || value === "") return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const named = `${field}\u0000${text}`;
    let hash = known.get(named);
    if (hash === undefined) {
      if (known.size === MAX_KNOWN_HASHES) known.clear();
      hash = personalHash(key, field, text);
      known.set(named, hash);
    }
    return hash;
  };
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
