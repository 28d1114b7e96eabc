/** A page of answers: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Answer } from "../../common/answer.ts";
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
  /** Rows of the items, as JSON that is gzipped. */
  readonly items: Buffer;
}

/** What needs attention. */
export interface Point {
  /** Address of the section that has all of it. */
  readonly id: string;
  readonly what: string;
  readonly more: string | undefined;
}

export interface Overview {
  readonly isGood: boolean;
  readonly verdict: string;
  readonly why: string;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly note: string }[];
  readonly points: readonly Point[];
  /** Said where nothing needs attention. */
  readonly nothing: string;
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
  const addresses = [{ id: "overview", name: "Overview" }, ...page.parts];
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
<p class="wordmark">content-warehouse</p>
<h1>${page.heading}</h1>
<p class="subtitle">${page.subtitle}</p>
</header>
<nav aria-label="Sections"><ul>${addresses.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
${overviewMarkup(page.overview)}${page.parts.map(partMarkup)}</main>
<footer><p>${page.foot}</p></footer>
<script type="text/plain" id="data">${page.items.toString("base64")}</script>
<script>${trusted(script)}</script>
</body>
</html>
`.text;
}

function overviewMarkup({ isGood, verdict, why, figures, points, nothing }: Overview): Markup {
  const list = points.map(
    ({ id, what, more }) =>
      html`<li><a href="#${id}">${what}</a>${more !== undefined && html`: ${foreign(more)}`}.</li>\n`,
  );
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
<div class="verdict ${isGood ? "good" : "poor"}">
<p class="verdict-word"><span aria-hidden="true">${isGood ? "✓" : "!"}</span>${verdict}</p>
<p class="verdict-why">${foreign(why)}</p>
</div>
<dl class="figures">${figures.map(({ name, value, note }) => html`<div><dt>${name}</dt><dd><strong>${value}</strong><span>${foreign(note)}</span></dd></div>`)}</dl>
<h3>What needs attention</h3>
${points.length === 0 ? html`<p class="empty">${nothing}</p>` : html`<ul class="attention">${list}</ul>`}
</section>
`;
}

function partMarkup({ id, name, lead = "", sections, next = [], command, body }: PagePart): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><a href="#${id}">${name}</a></h2>
${lead !== "" && html`<p class="lead">${sentence(lead)}</p>\n`}${body}${sections.map((section) =>
  sectionMarkup(section, `${id}-${section.key}`, command),
)}${next.map((text) => html`<p class="note">${sentence(text)}</p>\n`)}</section>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
