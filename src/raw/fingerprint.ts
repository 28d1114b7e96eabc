/**
 * Fingerprints of items: digests of their dynamic listing documents. While the fingerprint stays the same, a run reuses a
 * single-item document of an earlier run.
 */
import { hash } from "node:crypto";
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import { withoutSignature } from "../api/signed-url.ts";
import type { JsonObject } from "./document.ts";

/** The fingerprint of a document that must not be reused. */
export const NO_FINGERPRINT = "";

/** Hexadecimal digits of the first part, which single-item documents have too. */
const COMMON_LENGTH = 16;

/**
 * Digests of a prepared document in lower-case hexadecimal: first of its default set, then of all members and `settings`.
 * The order of members, the signatures of URLs and columns that change without an edit do not count. `settings`: digest of
 * the settings that decide what a single-item document becomes.
 */
export function fingerprintOf(document: JsonObject, settings: string): string {
  const { common, rest } = textsOf(document);
  const commonDigest = hash("sha256", common).slice(0, COMMON_LENGTH);
  return commonDigest + hash("sha256", `${settings}\n${common}\n${rest}`);
}

/** Whether a single-item document agrees with the listing of a fingerprint in the default set, which both have. */
export function matchesFingerprint(fingerprint: string, document: JsonObject): boolean {
  return fingerprint.startsWith(hash("sha256", textsOf(document).common).slice(0, COMMON_LENGTH));
}

/** The members of the default set that have a value, and all others. */
function textsOf(document: JsonObject): { readonly common: string; readonly rest: string } {
  const common: string[] = [];
  const rest: string[] = [];
  for (const name of Object.keys(document).sort()) {
    const column = isDynamicColumn(name) ? DYNAMIC_COLUMNS[name] : undefined;
    if (column?.changesWithoutEdit !== undefined) continue;
    const value = document[name];
    const texts = column?.defaultSet === true && value !== null ? common : rest;
    texts.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return { common: withoutSignature(common.join()), rest: withoutSignature(rest.join()) };
}

/**
 * The members of a single-item document that a later run reuses: those that listings do not have, `id` and `updated_at`.
 * `undefined` if one holds a signed URL, which expires.
 */
export function reusablePart(document: JsonObject): JsonObject | undefined {
  const members = Object.entries(document).filter(([name]) => isKept(name));
  const part = Object.fromEntries(members);
  const text = JSON.stringify(part);
  return withoutSignature(text) === text ? part : undefined;
}

function isKept(name: string): boolean {
  return (
    !isDynamicColumn(name) || DYNAMIC_COLUMNS[name].singleItemOnly || name === "id" || name === "updated_at"
  );
}
