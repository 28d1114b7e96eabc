/**
 * What tells whether an item is as it was: a digest of its dynamic listing document. A single-item document of an earlier
 * run stands in for a request while the digest is the same.
 */
import { hash } from "node:crypto";
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import { withoutSignature } from "../api/signed-url.ts";
import { isObject, type JsonObject } from "./document.ts";

/** Of a document that must not be reused. */
export const NO_FINGERPRINT = "";

/** Hexadecimal digits of the part that answers for one item repeat. */
const COMMON_LENGTH = 16;

/**
 * Digests, in lower-case hexadecimal, of all that a prepared document says of its item: without what the contract marks
 * as `apart`, and without the signatures of URLs; keys in any order. First one of the default set, then one of it all.
 * `settings`: what else decides what a single-item answer becomes.
 */
export function fingerprintOf(document: JsonObject, settings: string): string {
  const members = Object.entries(document)
    .filter(([name]) => !isApart(name))
    .map(([name, value]) => [name, unsigned(value)] as const);
  return commonOf(document) + digestOf(Object.fromEntries(members), settings);
}

/**
 * Whether an answer for one item says what the listing said that the fingerprint is of, in all that both give: else one
 * of them is of another state, and the listing does not tell what the answer says.
 */
export function isOfFingerprint(fingerprint: string, answer: JsonObject): boolean {
  return fingerprint.startsWith(commonOf(answer));
}

/** What there is no value of may be null or missing. */
function commonOf(document: JsonObject): string {
  const members = Object.entries(document)
    .filter(([name, value]) => isDynamicColumn(name) && DYNAMIC_COLUMNS[name].defaultSet && value !== null)
    .map(([name, value]) => [name, unsigned(value)] as const);
  return digestOf(Object.fromEntries(members), "").slice(0, COMMON_LENGTH);
}

function digestOf(members: JsonObject, settings: string): string {
  return hash("sha256", `${settings}\n${JSON.stringify(inOrder(members))}`);
}

/**
 * What of a single-item document stands for tonight's answer: what listings do not give, and what item and version it is
 * of. All else is tonight's listing's to say. Undefined where a URL in it was signed for that answer alone.
 */
export function reusablePart(document: JsonObject): JsonObject | undefined {
  const members = Object.entries(document).filter(([name]) => isKept(name));
  return members.every(([, value]) => unsigned(value) === value) ? Object.fromEntries(members) : undefined;
}

function isKept(name: string): boolean {
  return (
    !isDynamicColumn(name) || DYNAMIC_COLUMNS[name].singleItemOnly || name === "id" || name === "updated_at"
  );
}

/** Names of the members by which two listing documents of an item have other fingerprints. */
export function changedMembers(before: JsonObject, now: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const print = (document: JsonObject, name: string) =>
    Object.hasOwn(document, name) ? JSON.stringify(inOrder(unsigned(document[name]))) : undefined;
  return [...names].filter((name) => !isApart(name) && print(before, name) !== print(now, name));
}

function isApart(name: string): boolean {
  return isDynamicColumn(name) && DYNAMIC_COLUMNS[name].apart !== undefined;
}

/** The very value where nothing in it is a signed URL. */
function unsigned(value: unknown): unknown {
  if (typeof value === "string") return withoutSignature(value);
  if (Array.isArray(value)) {
    const elements = value.map(unsigned);
    return elements.every((element, place) => element === value[place]) ? value : elements;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, unsigned(inner)] as const);
  return members.every(([name, inner]) => inner === value[name]) ? value : Object.fromEntries(members);
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}
