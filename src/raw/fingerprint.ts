/**
 * What tells whether an item is as it was: a digest of its dynamic listing document. A single-item document of an earlier
 * run stands in for a request while the digest is the same.
 */
import { hash } from "node:crypto";
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import { withoutSignature } from "../api/signed-url.ts";
import type { JsonObject } from "./document.ts";

/** Of a document that must not be reused. */
export const NO_FINGERPRINT = "";

/** Hexadecimal digits of the part that answers for one item repeat. */
const COMMON_LENGTH = 16;

/**
 * Digests, in lower-case hexadecimal, of all that a prepared document says of its item: without what the contract marks
 * as `apart`, and without the signatures of URLs; its members in any order. First one of the default set, then one of it all.
 * `settings`: what else decides what a single-item answer becomes.
 */
export function fingerprintOf(document: JsonObject, settings: string): string {
  const { common, rest } = textsOf(document);
  const commonDigest = hash("sha256", common).slice(0, COMMON_LENGTH);
  return commonDigest + hash("sha256", `${settings}\n${common}\n${rest}`);
}

/**
 * Whether an answer for one item says what the listing said that the fingerprint is of, in all that both give: else one
 * of them is of another state, and the listing does not tell what the answer says.
 */
export function matchesFingerprint(fingerprint: string, answer: JsonObject): boolean {
  return fingerprint.startsWith(hash("sha256", textsOf(answer).common).slice(0, COMMON_LENGTH));
}

/** Members of the default set, of which what has no value may be null or missing, and all the others. */
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
 * What of a single-item document stands for tonight's answer: what listings do not give, and what item and version it is
 * of. All else is tonight's listing's to say. Undefined where a URL in it was signed for that answer alone.
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
