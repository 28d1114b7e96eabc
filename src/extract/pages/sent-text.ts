/** The text of a document as the service sent it, where it is also what `JSON.stringify` might have written. */

import type { SentText } from "../../raw/raw-json.ts";
import { hasOneSpelling } from "./canonical-json.ts";
import type { Element } from "./split-page.ts";

/** An element of a page, with or without the objects that were found in it, which hide nothing. */
export interface ParsedText {
  readonly text: string;
  readonly document: unknown;
  /** Whether each name stands once in its object. */
  readonly namesOnce: boolean;
}

/**
 * Undefined where the text is not to be kept as it came. Texts in it must be written in the one way that
 * `JSON.stringify` has, for raw documents are searched for texts as it writes them: none with an escape that need not be
 * one, or that looks so. And a name that stands twice hides its first value from whoever reads the document, and with it
 * what the personal-data policy would have taken away.
 */
export function sentText(
  bytes: Buffer,
  { marks, large }: Element,
  { text, document, namesOnce }: ParsedText,
): SentText | undefined {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return undefined;
  if (large || !namesOnce || !hasOneSpelling(text)) return undefined;
  const own = Object.keys(document);
  return marks.length === own.length + 1 ? { bytes, marks, names: own } : undefined;
}
