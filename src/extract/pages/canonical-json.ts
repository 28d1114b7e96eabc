/** Checks on JSON texts for what a parsed value no longer shows: repeated names and other spellings of strings. */

/** Deeper values are not counted. */
const MAX_LEVELS = 1000;

/**
 * Number of member names in a value, at any depth; `NaN` if it is nested too deeply. If a text has more names than its
 * value, a name is repeated and hides its first value.
 */
export function countNames(value: object, level = 1): number {
  if (level > MAX_LEVELS) return Number.NaN;
  let names = 0;
  if (Array.isArray(value)) {
    for (const element of value)
      if (typeof element === "object" && element !== null) names += countNames(element, level + 1);
    return names;
  }
  for (const name in value) {
    names += 1;
    const inner: unknown = value[name as keyof typeof value];
    if (typeof inner === "object" && inner !== null) names += countNames(inner, level + 1);
  }
  return names;
}

/** Whether the strings of a JSON text are written as `JSON.stringify` writes them: without needless escapes. */
export function hasCanonicalStrings(text: string): boolean {
  return !text.includes("\\u") && !text.includes("\\/");
}
