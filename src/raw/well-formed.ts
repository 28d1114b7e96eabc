/** Replaces lone surrogates (`"\ud800"` in JSON), for which DuckDB refuses a file, by U+FFFD. */
import { isObject } from "../common/json.ts";

/**
 * Returns the value with well-formed strings and names; lists and objects are changed in place. Calls `replaced` with the
 * path of each string, or of each field with such a name.
 */
export function replaceLoneSurrogates(value: unknown, replaced: (path: string) => void, path = ""): unknown {
  if (typeof value === "string") {
    if (!value.isWellFormed()) replaced(path);
    return value.toWellFormed();
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++)
      value[at] = replaceLoneSurrogates(value[at], replaced, `${path}[]`);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const wellFormed = name.toWellFormed();
      const inner = path === "" ? wellFormed : `${path}.${wellFormed}`;
      const made = replaceLoneSurrogates(value[name], replaced, inner);
      if (name !== wellFormed) {
        replaced(inner);
        delete value[name];
      }
      // As JSON.parse does: `__proto__` is data too.
      Object.defineProperty(value, wellFormed, {
        value: made,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
  return value;
}
