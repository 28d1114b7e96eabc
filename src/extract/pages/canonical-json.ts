/** Names and spellings in JSON texts: what a parsed value does not show any more. */

/** Deeper values are for `JSON.stringify` to write or to refuse. */
const MAX_LEVELS = 1000;

/**
 * Names of members in a value, at any depth; not a number where it is too deep. One that stands twice in a text counts
 * once here: there it hides its first value from whoever reads the value.
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

/**
 * Whether the texts in a JSON text are written as `JSON.stringify` would: without an escape that need not be one, nor
 * one that looks so.
 */
export function hasCanonicalStrings(text: string): boolean {
  return !text.includes("\\u") && !text.includes("\\/");
}
