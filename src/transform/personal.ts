/**
 * The personal-data policy, applied to a document right after it is parsed, before anything else sees it: what comes
 * after (raw documents, tables, rejects, drift, logs) cannot hold what was dropped here.
 */
import { createHmac } from "node:crypto";
import type { Table } from "../tables/declare.ts";
import type { Drift } from "./drift.ts";
import { isObject, type JsonObject, type Shape, shapeOf } from "./views.ts";

export const PERSONAL_POLICIES = ["drop", "hash", "keep"] as const;
export type PersonalPolicy = (typeof PERSONAL_POLICIES)[number];

/**
 * Unknown fields whose name looks like personal data. A name is held against these in lower case, with anything that
 * is neither letter nor digit taken for an underscore.
 */
const PERSONAL_NAMES: readonly RegExp[] = [
  /e_?mail/,
  /(^|_)(phone|mobile|fax|telephone)(_|$)/,
  /(^|_)(first|last|full|given|family|middle|maiden|sur|user|display|author|contact|person)_?name(_|$)/,
  /(^|_)(avatar|portrait|headshot|gravatar)(_|$)/,
  /(^|_)(bio|biography|birthday|birthdate|date_of_birth|ssn|passport)(_|$)/,
  /(^|_)(street|postal|home)_?address(_|$)/,
];

export function looksPersonal(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_");
  return PERSONAL_NAMES.some((pattern) => pattern.test(plain));
}

/** What becomes of one personal value: `undefined` drops it. */
type Treatment = (field: string, value: unknown) => unknown;

const HASH_KEY_BYTES = 32;

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
  if (key === undefined || key.length < HASH_KEY_BYTES) throw new TypeError("a hash key has 32 bytes or more");
  return (field, value) => {
    if (value === null || value === "") return value;
    return personalHash(key, field, typeof value === "string" ? value : JSON.stringify(value));
  };
}

/** Objects at `steps` of a document (`[]`: each element of a list), and the attributes of each that are personal. */
interface PersonalPlace {
  readonly steps: readonly string[];
  readonly path: string;
  readonly attributes: readonly string[];
}

function placesOf(tables: readonly Table[], shape: Shape): PersonalPlace[] {
  const attributes = new Map<string, Set<string>>();
  const personal = tables.flatMap((table) => table.columns).filter((column) => column.personal);
  for (const origin of personal.flatMap((column) => column.origins)) {
    if (shapeOf(origin) !== shape) continue;
    const dot = origin.path.lastIndexOf(".");
    const container = origin.path.slice(0, dot);
    const known = attributes.get(container) ?? new Set();
    attributes.set(container, known.add(origin.path.slice(dot + 1)));
  }
  return [...attributes].map(([path, names]) => ({
    path,
    steps: path.replaceAll("[]", ".[]").split("."),
    attributes: [...names],
  }));
}

function visit(value: unknown, steps: readonly string[], at: number, take: (object: JsonObject) => void): void {
  const step = steps[at];
  if (step === undefined) {
    if (isObject(value)) take(value);
  } else if (step !== "[]") {
    if (isObject(value)) visit(value[step], steps, at + 1, take);
  } else if (Array.isArray(value)) {
    for (const element of value) visit(element, steps, at + 1, take);
  } else {
    visit(value, steps, at + 1, take);
  }
}

/** Applies the policy to one document in place; what it took away is counted in the drift. */
export type ApplyPolicy = (shape: Shape, document: JsonObject, drift: Drift) => void;

export interface PolicyOptions {
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for `hash` only. */
  readonly hashKey: Uint8Array | undefined;
}

/** The policy for the declared personal columns. */
export function personalPolicy(tables: readonly Table[], options: PolicyOptions): ApplyPolicy {
  if (options.policy === "keep") return () => {};
  const treat = treatment(options);
  const places = { dynamic: placesOf(tables, "dynamic"), full: placesOf(tables, "full") };
  const kind = options.policy === "drop" ? "personal_dropped" : "personal_hashed";
  return (shape, document, drift) => {
    for (const place of places[shape]) {
      visit(document, place.steps, 0, (object) => {
        for (const attribute of place.attributes) {
          if (object[attribute] === undefined) continue;
          put(object, attribute, treat(attribute, object[attribute]));
          drift.note(`${place.path}.${attribute}`, kind, 0, null);
        }
      });
    }
  };
}

/** The policy for a field that the contract does not know. True: the field was taken away or hashed. */
export function unknownPolicy(options: PolicyOptions): (parent: JsonObject, key: string) => boolean {
  if (options.policy === "keep") return () => false;
  const treat = treatment(options);
  return (parent, key) => {
    if (!holdsPersonal(key, parent[key], 0)) return false;
    put(parent, key, treat(key, parent[key]));
    return true;
  };
}

const MAX_DEPTH = 20;

/** Whether an unknown field's name, or that of any field within it, looks personal. */
function holdsPersonal(key: string, value: unknown, depth: number): boolean {
  if (looksPersonal(key) || depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) return value.some((element) => holdsPersonal("", element, depth + 1));
  return isObject(value) && Object.keys(value).some((name) => holdsPersonal(name, value[name], depth + 1));
}

function treatment(options: PolicyOptions): Treatment {
  return options.policy === "hash" ? hashing(options.hashKey) : () => undefined;
}

function put(object: JsonObject, key: string, value: unknown): void {
  if (value === undefined) delete object[key];
  else object[key] = value;
}
