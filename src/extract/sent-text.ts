/** The text of a document as the service sent it, where it is also what `JSON.stringify` might have written. */
import type { Element } from "./elements.ts";

export interface SentText {
  /** Of the whole page. */
  readonly bytes: Buffer;
  /** As of {@link Element}. */
  readonly marks: readonly number[];
  /** Of the document's own members, in the order of the text. */
  readonly names: readonly string[];
}

/** Deeper documents are for `JSON.stringify` to write or to refuse. */
const LEVELS_AT_MOST = 1000;

/**
 * Undefined where the text is not to be kept as it came. Texts in it must be written in the one way that
 * `JSON.stringify` has, for raw documents are searched for texts as it writes them: none with an escape that need not be
 * one, or that looks so. And a name that stands twice hides its first value from whoever reads the document, and with it
 * what the personal-data policy would have taken away: names are counted, which takes numbers that are numbers, and no
 * objects that keep their digits.
 */
export function sentText(
  bytes: Buffer,
  { marks, names, large }: Element,
  text: string,
  document: unknown,
): SentText | undefined {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return undefined;
  if (large || text.includes("\\u") || text.includes("\\/") || namesIn(document, 1) !== names)
    return undefined;
  const own = Object.keys(document);
  return marks.length === own.length + 1 ? { bytes, marks, names: own } : undefined;
}

/** Names of members in a value, at any depth; not a number where it is too deep. */
function namesIn(value: object, level: number): number {
  if (level > LEVELS_AT_MOST) return Number.NaN;
  let names = 0;
  if (Array.isArray(value)) {
    for (const element of value)
      if (typeof element === "object" && element !== null) names += namesIn(element, level + 1);
    return names;
  }
  for (const name in value) {
    names += 1;
    const inner: unknown = value[name as keyof typeof value];
    if (typeof inner === "object" && inner !== null) names += namesIn(inner, level + 1);
  }
  return names;
}
