/** Builds HTML in which every text is escaped. */

/** HTML that goes into a page as it is. Only this module makes it from text. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type MarkupValue = Markup | string | number | null | undefined | false | readonly MarkupValue[];

/** Markup from a template. Its values are escaped, for text and for quoted attributes alike. */
export function html(template: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  let text = template[0] ?? "";
  for (const [index, value] of values.entries()) text += markupOf(value) + (template[index + 1] ?? "");
  return new Markup(text);
}

function markupOf(value: MarkupValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? escapeHtml(value) : value.map(markupOf).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** For the page's own style and script. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/**
 * Matches, as its first group, characters that cannot be seen: control and format characters, line separators and
 * fillers. Joiners and variation selectors within emoji match without the group. The script of a page has a copy.
 */
export const INVISIBLE =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}])\uFE0F|([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800])/gu;

/** Text of the service, with a direction of its own and marks for invisible characters. */
export function foreign(text: string): Markup {
  if (/^[ -~]*$/.test(text)) return html`${text}`;
  const marked = escapeHtml(text).replace(INVISIBLE, (all, invisible: string | undefined) => {
    const number = invisible?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return number === undefined ? all : `<span class="mark">[U+${number}]</span>`;
  });
  return new Markup(`<bdi>${marked}</bdi>`);
}

/** Cuts a text after `limit` characters. */
export function cut(text: string, limit: number): string {
  return text.length > limit ? `${[...text].slice(0, limit).join("")}…` : text;
}

/** A name for the first screen, whose lines hold several names. */
export function shortName(text: string): string {
  return cut(text, 32);
}

/** A sentence with texts of the service; commands in it stand between backticks or quotation marks. */
export function sentence(text: string): Markup {
  const parts = text.split(/`([^`]+)`|"(content-warehouse [^"]+)"/);
  return html`${parts.map((part, index) => (part === undefined ? "" : index % 3 === 0 ? foreign(part) : html`<code>${foreign(part)}</code>`))}`;
}
