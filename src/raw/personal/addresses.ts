/** Treats e-mail addresses and credentials that are personal in any place: in URLs, as keys, as users' IDs. */
import type { JsonObject } from "../../common/json.ts";
import { REDACTED } from "../../common/secret.ts";
import type { SourceText } from "../raw-json.ts";
import { isUserId } from "./people.ts";
import { CUSTOM_FIELD_PLACES, type PersonalTreatment, setOrDelete } from "./policy.ts";

export const ADDRESS = /^\s*[^@\s/]+@[^@\s/]+\.[^@\s/]+\s*$/;
/** A text that is a URL as a whole. */
const URL_ALONE = /^\s*(?:[a-z][a-z0-9+.-]*:|\/\/)[^\s"'<>]*\s*$/i;
/** Also of a URL in another. After `https:` browsers read any slashes as two. */
const CREDENTIALS = /(\/\/)[^/?#]*@|((?:https?|wss?|ftp):[\\/]+)[^\\/?#]*@/gi;
/** Also if a URL is encoded in the query of another. */
const AT_SIGN = /@|%(?:25)*40/;

/** Removes the credentials of a URL, and the parts of its query that hold e-mail addresses. Other texts stay. */
function withoutAddresses(text: string): string {
  if (!URL_ALONE.test(text)) return text;
  return text
    .replace(CREDENTIALS, "$1$2")
    .replace(/[?#].*/s, (query) => query.replace(/[^?&;=#]+/g, (part) => (holdsAddress(part) ? "" : part)));
}

/** In a text that may be cut off within an address. */
const ADDRESSES = /[^\s@<>()[\]"',;:]{1,64}(?:@|%40)[^\s@<>()[\]"',;:]+/g;

/** Replaces e-mail addresses in words of the service that a message quotes. */
export function redactAddresses(text: string): string {
  return text.replace(ADDRESSES, REDACTED);
}

function holdsAddress(part: string): boolean {
  const at = part.search(AT_SIGN);
  return at > 0 && part.includes(".", at);
}

/** Every text and key that is treated holds one of these bytes. */
const ADDRESS_BYTES = [..."@%"].map((sign) => sign.charCodeAt(0));

/** Names of the top-level members whose text holds one of these bytes. */
function membersContaining(wanted: readonly number[], { bytes, marks, names }: SourceText): Set<string> {
  const [first = 0] = marks;
  const text = bytes.subarray(first, marks[names.length]);
  const found = new Set<string>();
  for (const byte of wanted) {
    let member = 0;
    for (let at = text.indexOf(byte); at >= 0; at = text.indexOf(byte, (marks[member] ?? 0) - first)) {
      while ((marks[member] ?? Infinity) <= first + at) member += 1;
      found.add(names[member - 1] ?? "");
    }
  }
  return found;
}

/** Treats a document in place. Returns the paths of the treated values. `source`: its text, in which a search is faster. */
export function treatAddresses(
  document: JsonObject,
  source: SourceText | undefined,
  treat: PersonalTreatment,
): string[][] {
  const path: string[] = [];
  const treated: string[][] = [];

  /** The path as in the contract: with `{}` for the ID of a custom field. */
  const pathTo = (step: string): string[] => {
    const [first = "", ...rest] = [...path, step];
    const isMap = CUSTOM_FIELD_PLACES.has(first) && rest.length > 0 && rest[0] !== "[]";
    return isMap ? [first, "{}", ...rest.slice(1)] : [first, ...rest];
  };

  const treatText = (text: string, step: string): unknown => {
    if (!text.includes("@") && !text.includes("%")) return text;
    const left = ADDRESS.test(text) && isUserId(pathTo(step)) ? treat("email", text) : withoutAddresses(text);
    if (left !== text) treated.push(pathTo(step));
    return left;
  };

  /** Returns what is left of a value. Calls itself directly, because lists may have thousands of levels. */
  const treatValue = (value: unknown, step: string): unknown => {
    if (typeof value === "string") return treatText(value, step);
    if (typeof value !== "object" || value === null) return value;
    path.push(step);
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) value[at] = treatValue(value[at], "[]") ?? null;
    } else {
      treatMembers(value as JsonObject, Object.keys(value));
    }
    path.pop();
    return value;
  };

  const treatMembers = (object: JsonObject, names: Iterable<string>): void => {
    for (const name of names) {
      const isAddress = name.includes("@") && ADDRESS.test(name);
      const left = treatValue(object[name], isAddress ? "{email}" : name);
      if (left !== object[name]) setOrDelete(object, name, left);
      if (!isAddress) continue;
      const key = treat("email", name);
      if (typeof key === "string") object[key] = object[name];
      delete object[name];
      treated.push(pathTo("{email}"));
    }
  };

  treatMembers(document, source ? membersContaining(ADDRESS_BYTES, source) : Object.keys(document));
  return treated;
}
