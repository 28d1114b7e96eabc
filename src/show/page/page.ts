/** A page of answers: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Answer, Section } from "../../common/answer.ts";
import { INVISIBLE } from "../../common/printable.ts";
import { foreign, html, type Markup, type Part, sentence, trusted } from "./markup.ts";
import { sectionMarkup } from "./table.ts";

/** An answer in the page. */
export interface PagePart extends Partial<Pick<Answer, "lead" | "next">>, Pick<Answer, "sections"> {
  /** Its address. */
  readonly id: string;
  readonly name: string;
  /** The command that gives the same answer. */
  readonly command: string;
  /** Before the sections. */
  readonly body?: Markup;
}

export interface Page {
  /** In the title of the window. */
  readonly name: string;
  readonly heading: Part;
  readonly subtitle: Part;
  readonly foot: Part;
  readonly generator: string;
  /** The first screen. */
  readonly overview: Overview;
  readonly parts: readonly PagePart[];
  /** Of the items; false: there are none. */
  readonly search: Markup | false;
  /** Rows of the items, as JSON that is gzipped. */
  readonly items: Buffer;
}

/** A figure with its noun, or a line. */
export interface Point {
  /** Address of the section that has all of it. */
  readonly id: string;
  readonly what: string;
  readonly more?: string | undefined;
}

/** What one kind of reader looks for first. */
export interface Reader {
  readonly name: string;
  readonly figures: readonly Point[];
  readonly lines: readonly Point[];
}

export interface Overview {
  readonly isGood: boolean;
  readonly verdict: string;
  /** The evidence. */
  readonly why: string;
  readonly readers: readonly Reader[];
}

export async function pageMarkup(page: Page): Promise<string> {
  const [style = "", items = ""] = await Promise.all(
    ["page.css", "items.js"].map((name) => readFile(new URL(`./browser/${name}`, import.meta.url), "utf8")),
  );
  const script = `const INVISIBLE = ${INVISIBLE};\n${items}`;
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

function readerMarkup({ name, figures, lines }: Reader): Markup {
  return html`<div class="reader">
<h3>${name}</h3>
<ul class="figures">${figures.map(pointMarkup)}</ul>
${lines.length > 0 && html`<ul class="lines">${lines.map(pointMarkup)}</ul>\n`}</div>
`;
}

/** A number at its beginning stands out. */
function pointMarkup({ id, what, more = "" }: Point): Markup {
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

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
