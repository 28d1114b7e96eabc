/** HTML of which every part is escaped unless it was made here, and text of foreign origin in it. */
import { withMarks } from "../../common/printable.ts";

/** HTML that may stand in a page as it is. Only this module makes one from text. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Markup | string | number | null | undefined | false | readonly Part[];

/** Markup from a template; what is put into it is escaped, for texts and for attributes in quotes alike. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = template[0] ?? "";
  for (const [index, part] of parts.entries()) text += markupOf(part) + (template[index + 1] ?? "");
  return new Markup(text);
}

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "number") return String(part);
  return typeof part === "string" ? escaped(part) : part.map(markupOf).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** The page's own style and script. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/** Text of foreign origin whose direction stays its own, with marks for what cannot be seen. Plain ASCII has no other one. */
export function foreign(text: string): Markup {
  if (/^[ -~]*$/.test(text)) return html`${text}`;
  const marked = withMarks(escaped(text), (codePoint) => `<span class="mark">[${codePoint}]</span>`);
  return new Markup(`<bdi>${marked}</bdi>`);
}

/** At most so many characters of a text, with `…` in place of the others. */
export function cut(text: string, limit: number): string {
  return text.length > limit ? `${[...text].slice(0, limit).join("")}…` : text;
}

/** A name on the first screen, where lines of several names have to fit. */
export function shortName(text: string): string {
  return cut(text, 32);
}

/** A sentence of foreign texts, in which a command stands between backticks or quotation marks. */
export function sentence(text: string): Markup {
  const parts = text.split(/`([^`]+)`|"(content-warehouse [^"]+)"/);
  return html`${parts.map((part, index) => (part === undefined ? "" : index % 3 === 0 ? foreign(part) : html`<code>${foreign(part)}</code>`))}`;
}
