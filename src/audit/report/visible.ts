/** Text of foreign origin, shown so that what is in it can be seen. `page.js` does the same on the other side. */
import { html, type Markup, type Part } from "./markup.ts";

/**
 * What cannot be seen or turns the text around it: control and format characters (those of direction among them),
 * separators of lines, fillers and other characters that are drawn as nothing. A joiner within an emoji and the mark
 * that asks for its colours belong to it.
 */
export const INVISIBLE =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}])\uFE0F|([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800])/gu;

/** `U+202E`. */
export function codePoint(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Text whose direction stays its own, with a mark for each character that cannot be seen. */
export function foreign(text: string): Markup {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    const [, invisible] = match;
    if (invisible === undefined) continue;
    parts.push(text.slice(from, match.index), html`<span class="mark">${codePoint(invisible)}</span>`);
    from = match.index + invisible.length;
  }
  parts.push(text.slice(from));
  return html`<bdi>${parts}</bdi>`;
}

/** The same as text alone, for charts. */
export function plainForeign(text: string): string {
  return text.replace(INVISIBLE, (all, invisible: string | undefined) =>
    invisible === undefined ? all : `[${codePoint(invisible)}]`,
  );
}

/** A name, or its ID where there is none. */
export function named(name: string | null, id: string): Markup {
  return name === null ? html`<code>${foreign(id)}</code>` : foreign(name);
}
