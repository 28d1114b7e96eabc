/** A document on its way in: aliases, the personal-data policy, and what the contract does not know. */
import { customFieldDefinition } from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import { dynamicItem } from "../api/dynamic.ts";
import { fullItem } from "../api/full.ts";
import type { Odd } from "../api/settle.ts";
import {
  type UnforeseenVisitor,
  type UnknownVisitor,
  type UnknownWalker,
  unknownFieldWalker,
} from "../api/unknown.ts";
import { isObject, type JsonObject, type Shape, type UnknownField, unknownFields } from "./document.ts";
import type { Drift } from "./drift.ts";
import { PERSON_FIELDS } from "./personal/places.ts";
import {
  fieldPolicy,
  type PolicyOptions,
  personalPolicy,
  treatedKind,
  unknownPolicy,
} from "./personal/policy.ts";
import { replaceLoneSurrogates } from "./well-formed.ts";

const WALKERS = {
  dynamic: unknownFieldWalker(dynamicItem),
  full: unknownFieldWalker(fullItem),
  destination: unknownFieldWalker(destination),
  custom_field_definition: unknownFieldWalker(customFieldDefinition),
} as const;

/** Lookups come after all items in the order of observation. */
export const LOOKUP_ORDER = Number.MAX_SAFE_INTEGER;

export type LookupResource = "destination" | "custom_field_definition";

export interface DocumentOptions extends PolicyOptions {
  /** API name to the specification's name, for top-level fields that an instance spells otherwise. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface Position {
  /** Place in the order of observation. */
  readonly order: number;
  readonly contentId: string | null;
}

interface SiftedAt extends Position {
  /** Stands before the paths that the drift names. */
  readonly prefix: string;
}

/**
 * Prepares documents in place. Gives what the contract does not know of one, and its members that may be gone or have
 * another value; undefined: some have other names.
 */
export function documentPreparer(options: DocumentOptions) {
  const applyPolicy = personalPolicy(options);
  const kind = treatedKind(options);
  const sift = sifter(options);
  const fields = fieldPolicy(options);
  const aliases = Object.entries(options.aliases);
  const ofPersons = fields === undefined ? new Set<string>() : PERSON_FIELDS.union(fields.members);
  return (shape: Shape, document: JsonObject, position: Position, drift: Drift) => {
    const renamed = rename(document, aliases);
    applyPolicy(document, drift);
    fields?.item(document, (path) => drift.note(path, kind, 0, null));
    const { unknown, treated } = sift(WALKERS[shape], document, { ...position, prefix: "" }, drift);
    const changed = treated.length === 0 ? ofPersons : new Set([...ofPersons, ...treated]);
    return { unknown, changed: renamed ? undefined : changed };
  };
}

export type Prepare = ReturnType<typeof documentPreparer>;

/**
 * Prepares a settled answer of a lookup in place: what the contract does not know of it, after the personal-data policy.
 * `odd`: what was settled.
 */
export function lookupPreparer(
  options: PolicyOptions,
): (resource: LookupResource, answer: JsonObject, odd: readonly Odd[], drift: Drift) => UnknownField[] {
  const sift = sifter(options);
  const fields = fieldPolicy(options);
  const kind = treatedKind(options);
  return (resource, answer, odd, drift) => {
    const at = { order: LOOKUP_ORDER, contentId: null, prefix: `${resource}.` };
    replaceLoneSurrogates(answer, (path) => drift.note(at.prefix + path, "unreadable", at.order, null));
    let isTreated = false;
    if (resource === "custom_field_definition") {
      fields?.definition(answer, (name) => {
        isTreated = true;
        drift.note(at.prefix + name, kind, 0, null);
      });
    }
    for (const { path, kind, value } of odd)
      drift.note(at.prefix + path, kind, at.order, null, isTreated ? undefined : value);
    return sift(WALKERS[resource], answer, at, drift).unknown;
  };
}

/** Finds, treats and counts unknown fields. Gives those that stay, and the members in which something was treated. */
function sifter(options: PolicyOptions) {
  const policy = unknownPolicy(options);
  const treated = treatedKind(options);
  return (walk: UnknownWalker, document: JsonObject, at: SiftedAt, drift: Drift) => {
    const { order, contentId, prefix } = at;
    const found: UnknownField[] = [];
    const members: string[] = [];
    const noteTreated = (path: readonly string[]) => {
      members.push(path[0] ?? "");
      drift.note(prefix + pathOf(path), treated, order, contentId);
    };
    const visit: UnknownVisitor = (path, _value, parent) => {
      const key = path.at(-1) ?? "";
      policy?.field(parent, path, noteTreated);
      const value = parent[key];
      drift.note(prefix + pathOf(path), "unknown_field", order, contentId, value);
      if (value !== undefined) found.push({ path, parent, value, claimed: false });
    };
    // Where the contract knows no fields, those that are there are unknown too; they stay in the value.
    const unforeseen: UnforeseenVisitor | undefined =
      policy && ((path, value) => policy.within(value, path, noteTreated));
    walk(document, visit, unforeseen);
    return { unknown: found, treated: members };
  };
}

/** Whether any field was. */
function rename(document: JsonObject, aliases: readonly [string, string][]): boolean {
  let renamed = false;
  for (const [wireName, name] of aliases) {
    if (!Object.hasOwn(document, wireName) || Object.hasOwn(document, name)) continue;
    document[name] = document[wireName];
    delete document[wireName];
    renamed = true;
  }
  return renamed;
}

export type RawShape = Shape | LookupResource;

/** Fields of a document that the contract does not know. */
export function fieldsUnknown(shape: RawShape, document: JsonObject): UnknownField[] {
  return unknownFields(WALKERS[shape], document);
}

/** Counts them, as {@link documentPreparer} does, in a document that was prepared before. */
export function noteUnknown(shape: Shape, document: JsonObject, at: Position, drift: Drift): UnknownField[] {
  const unknown = fieldsUnknown(shape, document);
  for (const { path, value } of unknown)
    drift.note(pathOf(path), "unknown_field", at.order, at.contentId, value);
  return unknown;
}

/** In the notation of the drift. */
export function pathOf(names: readonly string[]): string {
  return names.join(".").replaceAll(".[]", "[]");
}

/** The ID of a listed item: a text, not empty, without white space at its ends. Else why the document is rejected. */
export function itemId(document: unknown): { id: string } | { reason: string } {
  if (!isObject(document)) return { reason: "the listed item is not an object" };
  const { id } = document;
  if (id === undefined || id === null) return { reason: "the item has no id" };
  if (typeof id !== "string") return { reason: `the item's id is a ${typeof id}, not a text` };
  if (id === "" || id.trim() !== id)
    return { reason: "the item's id is empty or has white space at its ends" };
  return { id };
}
