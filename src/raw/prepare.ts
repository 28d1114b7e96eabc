/** Prepares a received document: renames aliases, applies the personal-data policy, and finds unknown fields. */
import type { FormDrift } from "../api/normalize.ts";
import type { JsonObject } from "../common/json.ts";
import type { Shape, UnknownField } from "./document.ts";
import type { Drift } from "./drift.ts";
import { treatAddresses } from "./personal/addresses.ts";
import { PERSON_FIELDS, treatPeople, UnknownFieldTreatment } from "./personal/people.ts";
import { type ActivePolicy, activePolicy, type PolicySettings } from "./personal/policy.ts";
import type { SourceText } from "./raw-json.ts";
import { LOOKUP_ORDER, type LookupResource, pathOf, type RawShape, unknownFields } from "./unknown-fields.ts";
import { replaceLoneSurrogates } from "./well-formed.ts";

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
    const at = { ...position, prefix: "" };
    const text = isRenamed ? undefined : source;
    const { unknown, treated } = takeUnknown(shape, document, { policy, text, at }, drift);
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
    return takeUnknown(resource, row, { policy, text: undefined, at }, drift).unknown;
  };
}

/**
 * Treats what is personal in any place, then finds, treats and counts unknown fields. Returns those that stay, and the
 * members in which a value was treated. `text`: the document as received, if it has the same members.
 */
function takeUnknown(
  shape: RawShape,
  document: JsonObject,
  {
    policy,
    text,
    at: { order, contentId, prefix },
  }: {
    readonly policy: ActivePolicy | undefined;
    readonly text: SourceText | undefined;
    /** `prefix`: of the paths in the drift. */
    readonly at: DocumentPosition & { readonly prefix: string };
  },
  drift: Drift,
): { unknown: UnknownField[]; treated: readonly string[] } {
  const anywhere = policy === undefined ? [] : treatAddresses(document, text, policy.treat);
  const treatment = policy && new UnknownFieldTreatment(policy);
  // Values that stand where the contract has no object stay in their column, so their fields are treated here.
  const untreated = unknownFields(
    shape,
    document,
    treatment && ((path, value) => treatment.value(value, path)),
  );
  treatment?.fields(untreated);
  if (policy !== undefined) {
    // Order 0: an object that many documents share is counted once for all of them.
    for (const path of anywhere) drift.note(prefix + pathOf(path), policy.kind, 0, null);
    for (const path of treatment?.treated ?? [])
      drift.note(prefix + pathOf(path), policy.kind, order, contentId);
  }
  const found = untreated.map((field): UnknownField => {
    const value = field.parent[field.path.at(-1) ?? ""];
    drift.note(prefix + pathOf(field.path), "unknown_field", order, contentId, value);
    return { ...field, value };
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
