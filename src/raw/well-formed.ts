/** Halves of characters (`"\ud800"` in JSON), for which DuckDB refuses a file: each becomes U+FFFD, and is counted. */
import { isObject, type JsonObject } from "./document.ts";

/** Takes the path of a text, or of a field whose name it is, in the notation of the drift. */
type OnHalf = (path: string) => void;

/** The value, which `path` names, with every text and name well-formed; lists and objects are changed in place. */
export function replaceLoneSurrogates(value: unknown, onHalf: OnHalf, path = ""): unknown {
  if (typeof value === "string") {
    if (value.isWellFormed()) return value;
    onHalf(path);
    return value.toWellFormed();
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++)
      value[at] = replaceLoneSurrogates(value[at], onHalf, `${path}[]`);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) makeMemberWellFormed(value, name, onHalf, path);
  }
  return value;
}

function makeMemberWellFormed(object: JsonObject, name: string, onHalf: OnHalf, within: string): void {
  const path = (within === "" ? "" : `${within}.`) + name.toWellFormed();
  const value = replaceLoneSurrogates(object[name], onHalf, path);
  if (name.isWellFormed()) {
    if (value !== object[name]) put(object, name, value);
    return;
  }
  onHalf(path);
  delete object[name];
  put(object, name.toWellFormed(), value);
}

/** As JSON.parse sets a member: a field of the name `__proto__` is data too. */
function put(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
