/** Prepares a received document: renames aliases, applies the personal-data policy, and finds unknown fields. */
import { customFieldDefinition } from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import { dynamicItem } from "../api/dynamic.ts";
import { fullItem } from "../api/full.ts";
import type { FormDrift } from "../api/normalize.ts";
import { unknownFieldWalker } from "../api/unknown-fields.ts";
import { isObject, type JsonObject, type Shape, type UnknownField } from "./document.ts";
import type { Drift } from "./drift.ts";
import { ADDRESS_BYTES, treatAddresses } from "./personal/addresses.ts";
import { PERSON_FIELDS } from "./personal/places.ts";
import { type ActivePolicy, activePolicy, type PolicySettings, treatPeople } from "./personal/policy.ts";
import { UnknownFieldTreatment } from "./personal/unknown-policy.ts";
import { membersContaining, type SourceText } from "./raw-json.ts";
import { replaceLoneSurrogates } from "./well-formed.ts";

export type LookupResource = "destination" | "custom_field_definition";
export type RawShape = Shape | LookupResource;

const WALKERS: Readonly<Record<RawShape, ReturnType<typeof unknownFieldWalker>>> = {
  dynamic: unknownFieldWalker(dynamicItem),
  full: unknownFieldWalker(fullItem),
  destination: unknownFieldWalker(destination),
  custom_field_definition: unknownFieldWalker(customFieldDefinition),
};

/** Position of lookups in the order of observation: after all items. */
export const LOOKUP_ORDER = Number.MAX_SAFE_INTEGER;

export interface PrepareSettings extends PolicySettings {
  /** Name of a top-level field at the service to its name in the specification. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface DocumentPosition {
  /** Position in the order of observation. */
  readonly order: number;
  readonly contentId: string | null;
}

/**
 * Returns a function that prepares a document in place. It returns the unknown fields, and the names of members that may
 * have changed, or `undefined` if members were renamed. `source`: the document's text.
 */
export function documentPreparer(settings: PrepareSettings) {
  const policy = activePolicy(settings);
  const aliases = Object.entries(settings.aliases);
  const personal = policy === undefined ? new Set<string>() : PERSON_FIELDS.union(policy.fields.members);
  return (
    shape: Shape,
    document: JsonObject,
    position: DocumentPosition,
    drift: Drift,
    source?: SourceText,
  ) => {
    const isRenamed = rename(document, aliases);
    if (policy !== undefined) {
      const treated = (path: string) => drift.note(path, policy.kind, 0, null);
      treatPeople(document, policy.treat, treated);
      policy.fields.item(document, treated);
    }
    const isSearchable = policy !== undefined && source !== undefined && !isRenamed;
    const members = isSearchable ? membersContaining(ADDRESS_BYTES, source) : Object.keys(document);
    const at = { ...position, prefix: "" };
    const { unknown, treated } = takeUnknown(shape, document, { policy, members, at }, drift);
    const changed = treated.length === 0 ? personal : new Set([...personal, ...treated]);
    return { unknown, changed: isRenamed ? undefined : changed };
  };
}

export type DocumentPreparer = ReturnType<typeof documentPreparer>;

/**
 * Returns a function that prepares a lookup's row in place and returns its unknown fields. `odd`: what was normalized in
 * the row.
 */
export function lookupPreparer(
  settings: PolicySettings,
): (resource: LookupResource, row: JsonObject, odd: readonly FormDrift[], drift: Drift) => UnknownField[] {
  const policy = activePolicy(settings);
  return (resource, row, odd, drift) => {
    const at = { order: LOOKUP_ORDER, contentId: null, prefix: `${resource}.` };
    replaceLoneSurrogates(row, (path) => drift.note(at.prefix + path, "unreadable", at.order, null));
    let isPersonal = false;
    if (policy !== undefined && resource === "custom_field_definition") {
      policy.fields.definition(row, (name) => {
        isPersonal = true;
        drift.note(at.prefix + name, policy.kind, 0, null);
      });
    }
    for (const { path, kind, value } of odd)
      drift.note(at.prefix + path, kind, at.order, null, isPersonal ? undefined : value);
    return takeUnknown(resource, row, { policy, members: Object.keys(row), at }, drift).unknown;
  };
}

/**
 * Treats what is personal in any place, then finds, treats and counts unknown fields. Returns those that stay, and the
 * members in which a value was treated. `members`: those in which addresses may stand.
 */
function takeUnknown(
  shape: RawShape,
  document: JsonObject,
  {
    policy,
    members,
    at: { order, contentId, prefix },
  }: {
    readonly policy: ActivePolicy | undefined;
    readonly members: Iterable<string>;
    /** `prefix`: of the paths in the drift. */
    readonly at: DocumentPosition & { readonly prefix: string };
  },
  drift: Drift,
): { unknown: UnknownField[]; treated: readonly string[] } {
  const anywhere = policy === undefined ? [] : treatAddresses(document, members, policy.treat);
  const treatment = policy && new UnknownFieldTreatment(policy);
  const unknownPaths: Pick<UnknownField, "path" | "parent">[] = [];
  // Values that stand where the contract has no object stay in their column, so their fields are treated here.
  WALKERS[shape](
    document,
    (path, _value, parent) => unknownPaths.push({ path, parent }),
    treatment && ((path, value) => treatment.value(value, path)),
  );
  treatment?.fields(unknownPaths);
  if (policy !== undefined) {
    // Order 0: an object that many documents share is counted once for all of them.
    for (const path of anywhere) drift.note(prefix + pathOf(path), policy.kind, 0, null);
    for (const path of treatment?.treated ?? [])
      drift.note(prefix + pathOf(path), policy.kind, order, contentId);
  }
  const found = unknownPaths.map(({ path, parent }): UnknownField => {
    const value = parent[path.at(-1) ?? ""];
    drift.note(prefix + pathOf(path), "unknown_field", order, contentId, value);
    return { path, parent, value, claimed: false };
  });
  const treated = [...anywhere, ...(treatment?.treated ?? [])].map(([first = ""]) => first);
  return { unknown: found.filter(({ value }) => value !== undefined), treated };
}

/** Returns whether a field was renamed. */
function rename(document: JsonObject, aliases: readonly [string, string][]): boolean {
  let isRenamed = false;
  for (const [atService, name] of aliases) {
    if (!Object.hasOwn(document, atService) || Object.hasOwn(document, name)) continue;
    document[name] = document[atService];
    delete document[atService];
    isRenamed = true;
  }
  return isRenamed;
}

/** Finds the unknown fields of a document that was prepared before. */
export function unknownFields(shape: RawShape, document: JsonObject): UnknownField[] {
  const found: UnknownField[] = [];
  WALKERS[shape](document, (path, value, parent) => found.push({ path, parent, value, claimed: false }));
  return found;
}

/** As {@link unknownFields}, and counts them as {@link documentPreparer} does. */
export function noteUnknown(
  shape: Shape,
  document: JsonObject,
  at: DocumentPosition,
  drift: Drift,
): UnknownField[] {
  const unknown = unknownFields(shape, document);
  for (const { path, value } of unknown)
    drift.note(pathOf(path), "unknown_field", at.order, at.contentId, value);
  return unknown;
}

/** A path as drift shows it: `attachments[].filename`. */
export function pathOf(names: readonly string[]): string {
  return names.join(".").replaceAll(".[]", "[]");
}

/** The ID of a listed item, a text without white space at its ends; or the reason why the document is rejected. */
export function readItemId(document: unknown): { id: string } | { reason: string } {
  if (!isObject(document)) return { reason: "the listed item is not an object" };
  const { id } = document;
  if (id === undefined || id === null) return { reason: "the item has no id" };
  if (typeof id !== "string") return { reason: `the item's id is a ${typeof id}, not a text` };
  if (id === "" || id.trim() !== id)
    return { reason: "the item's id is empty or has white space at its ends" };
  return { id };
}
