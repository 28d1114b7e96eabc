/** Treats e-mail addresses and credentials that are personal in any place: in URLs, as keys, as users' IDs. */
import type { JsonObject } from "../document.ts";
import { CUSTOM_FIELD_PLACES, type PersonalTreatment, setOrDelete } from "./fields.ts";
import { isUserId } from "./places.ts";

export const ADDRESS = /^\s*[^@\s/]+@[^@\s/]+\.[^@\s/]+\s*$/;
const URLS = /\/\/[^\s"'<>]+/g;
const CREDENTIALS = /\/\/[^/?#]*@/g;
/** Also if a URL is encoded in the query of another. */
const AT_SIGN = /@|%(?:25)*40/;

/** Removes the credentials of URLs, and the parts of their queries that hold e-mail addresses. */
function withoutAddresses(text: string): string {
  return text.replace(URLS, (whole) => {
    const url = whole.replace(CREDENTIALS, "//");
    const end = url.search(/[?#]/);
    if (end < 0) return url;
    const parts = url.slice(end).split(/([?&;=#])/);
    return url.slice(0, end) + parts.map((part) => (holdsAddress(part) ? "" : part)).join("");
  });
}

function holdsAddress(part: string): boolean {
  const at = part.search(AT_SIGN);
  return at > 0 && part.includes(".", at);
}

/** Every text and key that is treated holds one of these bytes. */
export const ADDRESS_BYTES = [..."@%"].map((sign) => sign.charCodeAt(0));

/** Treats these members of a document in place. `treated` receives the path of each treated value. */
export function treatAddresses(
  document: JsonObject,
  members: Iterable<string>,
  treat: PersonalTreatment,
  treated: (path: readonly string[]) => void,
): void {
  const path: string[] = [];

  /** The path as in the contract: with `{}` for the ID of a custom field. */
  const pathTo = (step: string): string[] => {
    const [first = "", ...rest] = [...path, step];
    const isMap = CUSTOM_FIELD_PLACES.has(first) && rest.length > 0 && rest[0] !== "[]";
    return isMap ? [first, "{}", ...rest.slice(1)] : [first, ...rest];
  };

  const treatedText = (text: string, step: string): unknown => {
    const left = ADDRESS.test(text) && isUserId(pathTo(step)) ? treat("email", text) : withoutAddresses(text);
    if (left !== text) treated(pathTo(step));
    return left;
  };

  const treatKey = (object: JsonObject, name: string): void => {
    const key = treat("email", name);
    if (typeof key === "string") object[key] = object[name];
    delete object[name];
    treated(pathTo("{email}"));
  };

  /** Lists recurse directly, because they may have thousands of levels. */
  const walk = (holder: object): void => {
    if (Array.isArray(holder)) {
      path.push("[]");
      for (let at = 0; at < holder.length; at++) {
        const value: unknown = holder[at];
        if (typeof value === "object" && value !== null) walk(value);
        else if (typeof value === "string" && mayHold(value)) holder[at] = treatedText(value, "[]") ?? null;
      }
      path.pop();
      return;
    }
    for (const name in holder) treatMember(holder as JsonObject, name);
  };

  const treatMember = (object: JsonObject, name: string): void => {
    const value = object[name];
    const isAddress = name.includes("@") && ADDRESS.test(name);
    if (typeof value === "object" && value !== null) {
      path.push(isAddress ? "{email}" : name);
      walk(value);
      path.pop();
    } else if (typeof value === "string" && mayHold(value)) {
      setOrDelete(object, name, treatedText(value, name));
    }
    if (isAddress) treatKey(object, name);
  };

  for (const name of members) treatMember(document, name);
}

function mayHold(text: string): boolean {
  return text.includes("@") || text.includes("%");
}
