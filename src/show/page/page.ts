/** The HTML of the report: one file that makes no request and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Answer, Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { shownColumns } from "../answer.ts";

/** An answer in the page. */
export interface PagePart extends Partial<Pick<Answer, "lead" | "next">>, Pick<Answer, "sections"> {
  /** Address within the page. */
  readonly id: string;
  readonly name: string;
  /** Command that gives the same answer. */
  readonly command: string;
  /** Stands before the sections. */
  readonly body?: Markup;
  /** An open section before the others; without one, the first of them is open. */
  readonly picture?: { readonly title: string; readonly markup: Markup } | undefined;
}

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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Matches, as its first group, characters that cannot be seen: control and format characters, line separators and
 * fillers. Joiners and variation selectors within emoji match without the group. The script of a page has a copy.
 */
const INVISIBLE =
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

/** Cuts a text after `limit` characters; by default as short as the lines of the first screen need it. */
export function cut(text: string, limit = 32): string {
  return text.length > limit ? `${[...text].slice(0, limit).join("")}…` : text;
}

/** A sentence with texts of the service; commands in it stand between backticks or quotation marks. */
function sentence(text: string): Markup {
  const parts = text.split(/`([^`]+)`|"(content-warehouse [^"]+)"/);
  return html`${parts.map((part, index) => (part === undefined ? "" : index % 3 === 0 ? foreign(part) : html`<code>${foreign(part)}</code>`))}`;
}

export async function pageMarkup(page: {
  /** Title of the window. */
  readonly name: string;
  readonly heading: MarkupValue;
  readonly subtitle: MarkupValue;
  readonly foot: MarkupValue;
  readonly generator: string;
  readonly overview: Markup;
  readonly parts: readonly PagePart[];
  /** Whether there are items to search. */
  readonly hasItems: boolean;
  /** Rows of the items, in blocks of base64. */
  readonly items: readonly string[];
}): Promise<string> {
  const [style = "", code = ""] = await Promise.all(
    ["page.css", "items.js"].map((name) => readFile(new URL(`./browser/${name}`, import.meta.url), "utf8")),
  );
  const script = `const INVISIBLE = ${INVISIBLE};\n${code}`;
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="${page.generator}">
<title>${page.name}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<h1>${page.heading}</h1>
<p class="lead">${page.subtitle}</p>
</header>
<div class="top"><div>
<nav aria-label="Sections"><ul>${page.parts.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${page.hasItems && SEARCH}</div></div>
<main id="main" tabindex="-1">
${page.overview}${page.parts.map(partMarkup)}</main>
<footer><p>${page.foot}</p></footer>
<script type="text/plain" id="data">${page.items.join("\n")}</script>
<script>${new Markup(script)}</script>
</body>
</html>
`.text;
}

/** The script of the page shows the search form. */
const SEARCH = html`<form id="search" role="search" aria-label="Items" hidden>
<label for="words">Find item</label>
<input id="words" type="search" autocomplete="off" spellcheck="false" placeholder="title, ID, slug, value ( / )">
</form>
`;

function partMarkup(part: PagePart): Markup {
  const { id, name, lead = "", sections, next = [], command, body, picture } = part;
  const markup = (some: readonly Section[], opensFirst = false) =>
    some.map((section, index) =>
      sectionMarkup(section, { id: `${id}-${section.key}`, command, isOpen: opensFirst && index === 0 }),
    );
  const full = sections.filter(({ rows }) => rows.length > 0);
  const empty = sections.filter(({ rows }) => rows.length === 0);
  const titles = empty.map(({ title }) => title).join(", ");
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><a href="#${id}">${name}</a></h2>
${lead !== "" && html`<p class="lead">${sentence(lead)}</p>\n`}${body}${picture && pictureMarkup(`${id}-picture`, picture)}${markup(full, picture === undefined)}${next.map((text) => html`<p class="note">${sentence(text)}</p>\n`)}${
  empty.length > 0 &&
  html`<details class="note"><summary>Without rows: ${titles}</summary>
${markup(empty)}</details>`
}</section>
`;
}

function pictureMarkup(id: string, { title, markup }: NonNullable<PagePart["picture"]>): Markup {
  return html`<details class="answer" id="${id}" open>
<summary><h3>${title}</h3></summary>
${markup}</details>
`;
}

/** Rows of a table that is printed as a whole. */
const PRINTED_ROWS = 25;

/** Most rows of a table in the page. */
export const ROWS_LIMIT = 500;

/** `id`: address of the section in the page; `command`: gives the same answer with all rows. */
function sectionMarkup(
  section: Section,
  { id, command, isOpen }: { readonly id: string; readonly command: string; readonly isOpen: boolean },
): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json" } = section;
  if (rows.length === 0) return html`<p class="note" id="${id}">${title}: ${none}</p>\n`;
  const shown = rows.slice(0, Math.min(total, ROWS_LIMIT));
  const more = total - shown.length;
  return html`<details class="answer${shown.length > PRINTED_ROWS && " long"}" id="${id}"${isOpen && html` open`}>
<summary><h3>${title}</h3> <span class="note">${pluralize(total, "row")}</span></summary>
${lead !== undefined && html`<p class="lead">${sentence(lead)}</p>\n`}<div class="scroll" role="group" tabindex="0" aria-label="${title}">${table({ ...section, rows: shown })}</div>
${more > 0 && html`<p class="note">${pluralize(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
</details>
`;
}

function table(section: Section): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section).filter(({ head }) => head !== "");
  const rowHead = shown.find(({ isFigure }) => !isFigure);
  const figure = (isFigure: boolean) => isFigure && html` class="number"`;
  const lines = rows.map((row) => {
    const cells = shown.map((column) => {
      const { name, kind, isFigure, textIn } = column;
      const text = foreign(cut(textIn(row), 300));
      const id = name === "content_id" ? row[name] : null;
      const item =
        id != null && html`<a href="#item=${encodeURIComponent(String(id))}"><code>${text}</code></a>`;
      const content = item || (kind === "name" ? html`<code>${text}</code>` : text);
      if (column === rowHead) return html`<th scope="row">${content}</th>`;
      return html`<td${figure(isFigure)}>${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<table>
<caption class="visually-hidden">${title}</caption>
<thead><tr>${shown.map(({ head, isFigure }) => html`<th scope="col"${figure(isFigure)}>${head}</th>`)}</tr></thead>
<tbody>${lines}</tbody>
</table>`;
}
