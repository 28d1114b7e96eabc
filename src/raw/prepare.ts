/** A document on its way in: aliases, the personal-data policy, and what the contract does not know. */
import { customFieldDefinition } from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import { dynamicItem } from "../api/dynamic.ts";
import { fullItem } from "../api/full.ts";
import type { FormDrift } from "../api/normalize.ts";
import {
  type UnknownFieldWalker,
  type UnknownObjectVisitor,
  unknownFieldWalker,
} from "../api/unknown-fields.ts";
import { isObject, type JsonObject, type Shape, type UnknownField, unknownFields } from "./document.ts";
import type { Drift } from "./drift.ts";
import { ADDRESS_BYTES } from "./personal/addresses.ts";
import { PERSON_FIELDS } from "./personal/places.ts";
import {
  configuredPolicy,
  declaredPolicy,
  type PolicySettings,
  policyDriftKind,
  unknownPolicy,
} from "./personal/policy.ts";
import { membersContaining, type SourceText } from "./raw-json.ts";
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

export interface PrepareSettings extends PolicySettings {
  /** API name to the specification's name, for top-level fields that an instance spells otherwise. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface DocumentPosition {
  /** Place in the order of observation. */
  readonly order: number;
  readonly contentId: string | null;
}

interface SiftedAt extends DocumentPosition {
  /** Stands before the paths that the drift names. */
  readonly prefix: string;
  /** Members of the document in which addresses may stand; undefined: all. */
  readonly members: ReadonlySet<string> | undefined;
}

/**
 * Prepares documents in place. Gives what the contract does not know of one, and its members that may be gone or have
 * another value; undefined: some have other names. `sent`: its text.
 */
export function documentPreparer(options: PrepareSettings) {
  const applyPolicy = declaredPolicy(options);
  const kind = policyDriftKind(options);
  const sift = sifter(options);
  const fields = configuredPolicy(options);
  const aliases = Object.entries(options.aliases);
  const ofPersons = fields === undefined ? new Set<string>() : PERSON_FIELDS.union(fields.members);
  return (
    shape: Shape,
    document: JsonObject,
    position: DocumentPosition,
    drift: Drift,
    sent?: SourceText,
  ) => {
    const renamed = rename(document, aliases);
    applyPolicy(document, drift);
    fields?.item(document, (path) => drift.note(path, kind, 0, null));
    const isPlaced = fields !== undefined && sent !== undefined && !renamed;
    const members = isPlaced ? membersContaining(ADDRESS_BYTES, sent) : undefined;
    const at = { ...position, prefix: "", members };
    const { unknown, treated } = sift(WALKERS[shape], document, at, drift);
    const changed = treated.length === 0 ? ofPersons : new Set([...ofPersons, ...treated]);
    return { unknown, changed: renamed ? undefined : changed };
  };
}

export type DocumentPreparer = ReturnType<typeof documentPreparer>;

/**
 * Prepares a settled answer of a lookup in place: what the contract does not know of it, after the personal-data policy.
 * `odd`: what was settled.
 */
export function lookupPreparer(
  options: PolicySettings,
): (resource: LookupResource, answer: JsonObject, odd: readonly FormDrift[], drift: Drift) => UnknownField[] {
  const sift = sifter(options);
  const fields = configuredPolicy(options);
  const kind = policyDriftKind(options);
  return (resource, answer, odd, drift) => {
    const at = { order: LOOKUP_ORDER, contentId: null, prefix: `${resource}.`, members: undefined };
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
function sifter(options: PolicySettings) {
  const policy = unknownPolicy(options);
  const treated = policyDriftKind(options);
  return (walk: UnknownFieldWalker, document: JsonObject, at: SiftedAt, drift: Drift) => {
    const { order, contentId, prefix, members = Object.keys(document) } = at;
    const changed: string[] = [];
    const noteTreated = (path: readonly string[]) => {
      changed.push(path[0] ?? "");
      drift.note(prefix + pathOf(path), treated, order, contentId);
    };
    // What anybody may send anywhere is counted once for all documents that share it.
    policy?.anywhere(document, members, (path) => {
      changed.push(path[0] ?? "");
      drift.note(prefix + pathOf(path), treated, 0, null);
    });
    const met: Pick<UnknownField, "path" | "parent">[] = [];
    // Where the contract knows no fields, those that are there are unknown too; they stay in the value.
    const unforeseen: UnknownObjectVisitor | undefined =
      policy && ((path, value) => policy.within(value, path, noteTreated));
    walk(document, (path, _value, parent) => met.push({ path, parent }), unforeseen);
    policy?.fields(met, noteTreated);
    const found = met.map(({ path, parent }): UnknownField => {
      const value = parent[path.at(-1) ?? ""];
      drift.note(prefix + pathOf(path), "unknown_field", order, contentId, value);
      return { path, parent, value, claimed: false };
    });
    return { unknown: found.filter(({ value }) => value !== undefined), treated: changed };
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
export function noteUnknown(
  shape: Shape,
  document: JsonObject,
  at: DocumentPosition,
  drift: Drift,
): UnknownField[] {
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
export function readItemId(document: unknown): { id: string } | { reason: string } {
  if (!isObject(document)) return { reason: "the listed item is not an object" };
  const { id } = document;
  if (id === undefined || id === null) return { reason: "the item has no id" };
  if (typeof id !== "string") return { reason: `the item's id is a ${typeof id}, not a text` };
  if (id === "" || id.trim() !== id)
    return { reason: "the item's id is empty or has white space at its ends" };
  return { id };
}
