/** Replaces lone surrogates (`"\ud800"` in JSON), for which DuckDB refuses a file, by U+FFFD. */
import { isObject, type JsonObject } from "./document.ts";

/**
 * Returns the value with well-formed strings and names; lists and objects are changed in place. Calls `replaced` with the
 * path of each string, or of each field with such a name.
 */
export function replaceLoneSurrogates(value: unknown, replaced: (path: string) => void, path = ""): unknown {
  if (typeof value === "string") {
    if (value.isWellFormed()) return value;
    replaced(path);
    return value.toWellFormed();
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++)
      value[at] = replaceLoneSurrogates(value[at], replaced, `${path}[]`);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) makeMemberWellFormed(value, name, replaced, path);
  }
  return value;
}

function makeMemberWellFormed(
  object: JsonObject,
  name: string,
  replaced: (path: string) => void,
  within: string,
): void {
  const path = (within === "" ? "" : `${within}.`) + name.toWellFormed();
  const value = replaceLoneSurrogates(object[name], replaced, path);
  if (name.isWellFormed()) {
    if (value !== object[name]) put(object, name, value);
    return;
  }
  replaced(path);
  delete object[name];
  put(object, name.toWellFormed(), value);
}

/** Sets a member as JSON.parse does: `__proto__` is data too. */
function put(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
