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

/**
 * SHA-256, in lower-case hexadecimal, of all that a prepared document says of its item: without what the contract marks
 * as `apart`, and without the signatures of URLs; keys in any order. `settings`: what else decides what a single-item
 * answer becomes.
 */
export function fingerprintOf(document: JsonObject, settings: string): string {
  const members = Object.entries(document)
    .map(([name, value]) => [name, printOf(name, value)] as const)
    .filter(([, print]) => print !== undefined);
  return hash("sha256", `${settings}\n${JSON.stringify(inOrder(Object.fromEntries(members)))}`);
}

/**
 * What of a single-item document stands for tonight's answer: the members that the fingerprint has whole. Others, and
 * URLs signed by then, are tonight's listing's to say. Undefined where such a member is none that listings give: then
 * it would be lost.
 */
export function reusablePart(document: JsonObject): JsonObject | undefined {
  const left = Object.entries(document).filter(([name, value]) => printOf(name, value) !== value);
  if (left.some(([name]) => !isListed(name))) return undefined;
  const names = new Set(left.map(([name]) => name));
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.has(name)));
}

/** A member as the fingerprint has it: the very value where it is whole; undefined: it is left out. */
function printOf(name: string, value: unknown): unknown {
  return apartOf(name) === undefined ? unsigned(value) : undefined;
}

function apartOf(name: string) {
  return isDynamicColumn(name) ? DYNAMIC_COLUMNS[name].apart : undefined;
}

/** Whether a listing that gives anything at all gives the member too, where an answer for one item does. */
function isListed(name: string): boolean {
  return apartOf(name) !== undefined || (isDynamicColumn(name) && DYNAMIC_COLUMNS[name].defaultSet);
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
