/** HTML of which every part is escaped unless it was made here; text of foreign origin, and tables. */

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

/** Markup that another program made, and that is known to be well-formed: a chart, the page's own style and script. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/** JSON text that can stand within a `script` element, whatever it holds. */
export function dataIsland(json: string): Markup {
  return new Markup(json.replaceAll("<", "\\u003c"));
}

/**
 * What cannot be seen or turns the text around it: control and format characters (those of direction among them),
 * separators of lines, fillers and other characters that are drawn as nothing. A joiner within an emoji and the mark
 * that asks for its colours belong to it. `page.js` does the same on the other side.
 */
const INVISIBLE =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}])\uFE0F|([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800])/gu;

/** `mark`: of a code point such as `U+202E`, in the place of each character that cannot be seen. */
function withMarks(text: string, mark: (codePoint: string) => string): string {
  return text.replace(INVISIBLE, (all, invisible: string | undefined) => {
    const number = invisible?.codePointAt(0);
    return number === undefined ? all : mark(`U+${number.toString(16).toUpperCase().padStart(4, "0")}`);
  });
}

/** Text of foreign origin whose direction stays its own, with marks. */
export function foreign(text: string): Markup {
  const marked = withMarks(escaped(text), (codePoint) => `<span class="mark">${codePoint}</span>`);
  return new Markup(`<bdi>${marked}</bdi>`);
}

/** The same as text alone, for charts. */
export function plainForeign(text: string): string {
  return withMarks(text, (codePoint) => `[${codePoint}]`);
}

/** A name, or its ID where there is none. */
export function named(name: unknown, id: unknown): Markup {
  return typeof name === "string" ? foreign(name) : html`<code>${foreign(String(id))}</code>`;
}

export function section(id: string, title: string, ...parts: readonly Part[]): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${parts}
</section>`;
}

/** What lists in sentences name; the others have their own section. */
export const NAMED = 3;

/** The first ones, with semicolons between. */
export function firstOf<T>(rows: readonly T[], shown: (row: T) => Markup): Markup {
  const first = rows.slice(0, NAMED).map((row, index) => html`${index > 0 ? "; " : ""}${shown(row)}`);
  return html`${first}${rows.length > NAMED && `; and ${rows.length - NAMED} more`}`;
}

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => Part;
  readonly kind?: "number" | "head" | "text";
  /** What the page sorts by, where the cell's text is no plain number or text. */
  readonly sort?: (row: T) => number;
}

export function table<T>(caption: string, columns: readonly Column<T>[], rows: readonly T[]): Markup {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map(({ head, kind }) => html`<th scope="col"${kind === "number" && NUMBER}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((column) => cell(column, row))}</tr>\n`)}</tbody>
</table></div>`;
}

const NUMBER = html` class="number"`;

function cell<T>({ cell, kind, sort }: Column<T>, row: T): Markup {
  if (kind === "head") return html`<th scope="row">${cell(row)}</th>`;
  const by = sort !== undefined && html` data-sort="${sort(row)}"`;
  return html`<td${kind === "number" && NUMBER}${by}>${cell(row)}</td>`;
}

/** SQL that can be selected and copied. */
export function sql(text: string): Markup {
  return html`<pre class="sql" tabindex="0"><code>${text}</code></pre>`;
}
