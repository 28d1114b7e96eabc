/** The personal-data policy for declared columns. It is applied right after a document is parsed. */
import { createHmac } from "node:crypto";
import { isObject, type JsonObject } from "../document.ts";
import type { Drift } from "../drift.ts";
import { FieldPolicy, type PersonalFields, type PersonalTreatment, setOrDelete } from "./fields.ts";
import { PERSONAL_PLACES, type PersonalPlace } from "./places.ts";

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
/** Values that are nested deeper are treated as personal. */
export const MAX_DEPTH = 20;

/**
 * Keyed hash of a value as 64 hex digits: HMAC-SHA-256 over the field's name, a NUL and the value in NFC, trimmed, e-mail
 * addresses in lower case. A person has one hash in each field.
 */
export function personalHash(key: Uint8Array, field: string, value: string): string {
  const trimmed = value.normalize("NFC").trim();
  const normal = /e_?mail/i.test(field) ? trimmed.toLowerCase() : trimmed;
  return createHmac("sha256", key).update(`${field}\u0000${normal}`).digest("hex");
}

/** What the policy does with a personal value. */
export function treatmentOf({ policy, hashKey }: PolicySettings): PersonalTreatment {
  return policy === "hash" ? hashing(hashKey) : () => undefined;
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

/** The drift that a treated value is counted as. */
export function policyDriftKind({ policy }: PolicySettings): "personal_dropped" | "personal_hashed" {
  return policy === "hash" ? "personal_hashed" : "personal_dropped";
}

/** The policy for `personalFields`; `undefined` if everything is kept. */
export function configuredPolicy(settings: PolicySettings): FieldPolicy | undefined {
  const { policy, fields } = settings;
  return policy === "keep" ? undefined : new FieldPolicy(fields, policy, treatmentOf(settings));
}

/** The policy for declared personal columns. Changes a document in place and counts what it treats. */
export function declaredPolicy(settings: PolicySettings): (document: JsonObject, drift: Drift) => void {
  if (settings.policy === "keep") return () => {};
  const treat = treatmentOf(settings);
  const kind = policyDriftKind(settings);
  return (document, drift) => {
    const note = (path: string) => drift.note(path, kind, 0, null);
    for (const place of PERSONAL_PLACES) {
      treatTexts(document, place, treat, note);
      replaceObjects(document, place.steps, 0, (object) =>
        treatAttributes(object, place.attributes, treat, note),
      );
    }
  };
}

/** Replaces the objects at the steps, alone or in lists. Returns the value. */
function replaceObjects(
  value: unknown,
  steps: readonly string[],
  at: number,
  replace: (object: JsonObject) => JsonObject,
): unknown {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries())
      value[index] = replaceObjects(element, steps, at, replace);
    return value;
  }
  if (!isObject(value)) return value;
  const step = steps[at];
  if (step === undefined) return replace(value);
  const inner = value[step];
  if (typeof inner === "object") value[step] = replaceObjects(inner, steps, at + 1, replace);
  return value;
}

/** Treats texts that stand in the place of a person's description, alone or in lists, as names. */
function treatTexts(
  document: JsonObject,
  { steps, path }: PersonalPlace,
  treat: PersonalTreatment,
  treated: (path: string) => void,
): void {
  const key = steps[0] ?? "";
  const value = document[key];
  if (!holdsText(value)) return;
  const inList = (element: unknown, depth: number): unknown => {
    if (typeof element === "string" || depth > MAX_DEPTH) return treat(key, element) ?? null;
    return Array.isArray(element) ? element.map((each) => inList(each, depth + 1)) : element;
  };
  setOrDelete(document, key, Array.isArray(value) ? value.map((each) => inList(each, 1)) : treat(key, value));
  treated(path);
}

/** Whether a value is a text, or a list that holds one. Lists nested too deeply count as texts. */
export function holdsText(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === "string";
  return value.flat(MAX_DEPTH).some((each) => typeof each === "string" || Array.isArray(each));
}

/** Returns a copy, because an object is slow to use after members were deleted from it. */
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
