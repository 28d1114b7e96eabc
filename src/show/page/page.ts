/** The HTML of the report: one file that makes no request and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Answer, AnswerColumn, Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { headOf, isNumber, shownCell, shownColumns } from "../answer.ts";
import { cut, foreign, html, INVISIBLE, type Markup, type MarkupValue, sentence, trusted } from "./markup.ts";

/** An answer in the page. */
export interface PagePart extends Partial<Pick<Answer, "lead" | "next">>, Pick<Answer, "sections"> {
  /** Address within the page. */
  readonly id: string;
  readonly name: string;
  /** Command that gives the same answer. */
  readonly command: string;
  /** Stands before the sections. */
  readonly body?: Markup;
}

/** A figure with its noun, or a line. */
export interface OverviewEntry {
  /** Address of the section with all of it. */
  readonly id: string;
  readonly what: string;
  readonly more?: string | undefined;
}

export interface ReaderSummary {
  readonly name: string;
  readonly figures: readonly OverviewEntry[];
  readonly lines: readonly OverviewEntry[];
}

export interface Overview {
  readonly isGood: boolean;
  readonly verdict: string;
  readonly why: string;
  readonly readers: readonly ReaderSummary[];
}

export async function pageMarkup(page: {
  /** Title of the window. */
  readonly name: string;
  readonly heading: MarkupValue;
  readonly subtitle: MarkupValue;
  readonly foot: MarkupValue;
  readonly generator: string;
  readonly overview: Overview;
  readonly parts: readonly PagePart[];
  /** Form that searches the items; false if there are none. */
  readonly search: Markup | false;
  /** Rows of the items as gzipped JSON. */
  readonly items: Buffer;
}): Promise<string> {
  const [style = "", items = ""] = await Promise.all(
    ["page.css", "items.js"].map((name) => readFile(new URL(`./browser/${name}`, import.meta.url), "utf8")),
  );
  const script = `const INVISIBLE = ${INVISIBLE};\n${items}`;
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
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<h1>${page.heading}</h1>
<p class="lead">${page.subtitle}</p>
</header>
<div class="bar"><div>
<nav aria-label="Sections"><ul>${page.parts.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${page.search}</div></div>
<main id="main" tabindex="-1">
${overviewMarkup(page.overview)}${page.parts.map(partMarkup)}</main>
<footer><p>${page.foot}</p></footer>
<script type="text/plain" id="data">${page.items.toString("base64")}</script>
<script>${trusted(script)}</script>
</body>
</html>
`.text;
}

function overviewMarkup({ isGood, verdict, why, readers }: Overview): Markup {
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
<p class="verdict ${isGood ? "good" : "poor"}"><strong><span aria-hidden="true">${isGood ? "✓" : "!"}</span> ${verdict}</strong>: ${foreign(why)}</p>
${readers.map(readerMarkup)}</section>
`;
}

function readerMarkup({ name, figures, lines }: ReaderSummary): Markup {
  return html`<div class="reader">
<h3>${name}</h3>
<ul class="figures">${figures.map(entryMarkup)}</ul>
${lines.length > 0 && html`<ul class="lines">${lines.map(entryMarkup)}</ul>\n`}</div>
`;
}

/** A number at the beginning is set in large type. */
function entryMarkup({ id, what, more = "" }: OverviewEntry): Markup {
  const [, figure, noun = what] = /^([\d.,]+%?) (.*)$/s.exec(what) ?? [];
  return html`<li><a href="#${id}">${figure !== undefined && html`<strong>${figure}</strong> `}${foreign(noun)}</a>${more !== "" && html` <span class="note">${foreign(more)}</span>`}</li>\n`;
}

function partMarkup({ id, name, lead = "", sections, next = [], command, body }: PagePart): Markup {
  const markup = (some: readonly Section[]) =>
    some.map((section) => sectionMarkup(section, `${id}-${section.key}`, command));
  const full = sections.filter(({ rows }) => rows.length > 0);
  const empty = sections.filter(({ rows }) => rows.length === 0);
  const titles = empty.map(({ title }) => title).join(", ");
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><a href="#${id}">${name}</a></h2>
${lead !== "" && html`<p class="lead">${sentence(lead)}</p>\n`}${body}${markup(full)}${next.map((text) => html`<p class="note">${sentence(text)}</p>\n`)}${
  empty.length > 0 &&
  html`<details class="note"><summary>Without rows: ${titles}</summary>
${markup(empty)}</details>`
}</section>
`;
}

/** Most rows of a table in the page. */
export const ROWS_LIMIT = 500;

/** `id`: address of the section in the page; `command`: gives the same answer with all rows. */
function sectionMarkup(section: Section, id: string, command: string): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json" } = section;
  if (rows.length === 0) return html`<p class="note" id="${id}">${title}: ${none}</p>\n`;
  const shown = rows.slice(0, Math.min(total, ROWS_LIMIT));
  const more = total - shown.length;
  return html`<details class="answer" id="${id}">
<summary><h3>${title}</h3> <span class="note">${pluralize(total, "row")}</span></summary>
${lead !== undefined && html`<p class="lead">${sentence(lead)}</p>\n`}<p class="note"><a href="#${id}">Link to this section</a></p>
<div class="scroll" role="group" tabindex="0" aria-label="${title}">${table({ ...section, rows: shown })}</div>
${more > 0 && html`<p class="note">${pluralize(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
</details>
`;
}

function table(section: Section): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section).filter(([, { head }]) => head !== "");
  const rowHead = shown.find(([, column]) => !isNumber(column))?.[0];
  const figure = (column: AnswerColumn) => isNumber(column) && html` class="number"`;
  const lines = rows.map((row) => {
    const cells = shown.map(([name, column]) => {
      const text = foreign(cut(shownCell(section, name, row), 300));
      const id = name === "content_id" ? row[name] : null;
      const item =
        id != null && html`<a href="#item=${encodeURIComponent(String(id))}"><code>${text}</code></a>`;
      const content = item || (column.kind === "name" ? html`<code>${text}</code>` : text);
      if (name === rowHead) return html`<th scope="row"${figure(column)}>${content}</th>`;
      return html`<td${figure(column)}>${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<table>
<caption class="visually-hidden">${title}</caption>
<thead><tr>${shown.map(([name, column]) => html`<th scope="col"${figure(column)}>${headOf(name, column)}</th>`)}</tr></thead>
<tbody>${lines}</tbody>
</table>`;
}
