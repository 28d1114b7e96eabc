/** A page of answers: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Answer, Section } from "../../common/answer.ts";
import { INVISIBLE } from "../../common/printable.ts";
import { heading, html, type Markup, type Part, sentence, trusted } from "./markup.ts";
import { sectionMarkup } from "./table.ts";

/** An answer in the page. */
export interface PagePart extends Partial<Pick<Answer, "lead" | "next">>, Pick<Answer, "sections"> {
  /** Its address. */
  readonly id: string;
  /** In the navigation. */
  readonly name: string;
  readonly title: string;
  /** The command that gives the same answer. */
  readonly command: string;
  /** Before the sections. */
  readonly picture?: Part;
  /** Items that the page has: the ID of one opens it. */
  readonly linked?: ReadonlySet<string> | undefined;
  /** Rows of its tables at most; undefined: as many as of any table. */
  readonly rowsLimit?: number;
}

export function partOf(id: string, name: string, command: string, sections: readonly Section[]): PagePart {
  return { id, name, title: name, command, sections };
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
  /** Rows of the items, as JSON. */
  readonly items: string;
}

export interface Overview {
  readonly isGood: boolean;
  readonly verdict: string;
  readonly why: Part;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly note: string }[];
  /** What needs attention, a sentence each. */
  readonly points: readonly Part[];
  /** Said where nothing does. */
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
<script type="text/plain" id="data">${gzipSync(page.items).toString("base64")}</script>
<script>${trusted(script)}</script>
</body>
</html>
`.text;
}

function overviewMarkup({ isGood, verdict, why, figures, points, nothing }: Overview): Markup {
  const list = html`<ul class="attention">${points.map((point) => html`<li>${point}</li>`)}</ul>`;
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
<div class="verdict ${isGood ? "good" : "poor"}">
<p class="verdict-word"><span aria-hidden="true">${isGood ? "✓" : "!"}</span>${verdict}</p>
<p class="verdict-why">${why}</p>
</div>
<dl class="figures">${figures.map(({ name, value, note }) => html`<div><dt>${name}</dt><dd><strong>${value}</strong><span>${note}</span></dd></div>`)}</dl>
<h3>What needs attention</h3>
${points.length === 0 ? html`<p class="empty">${nothing}</p>` : list}
</section>
`;
}

function partMarkup(part: PagePart): Markup {
  const { id, title, lead = "", sections, next = [], command, picture, linked, rowsLimit } = part;
  return html`<section id="${id}" aria-labelledby="${id}-title">
${heading(id, title)}
${lead !== "" && html`<p class="lead">${sentence(lead)}</p>\n`}${picture}${sections.map((section) =>
  sectionMarkup(section, {
    id: `${id}-${section.key}`,
    command,
    isAlone: sections.length === 1,
    linked,
    rowsLimit,
  }),
)}${next.map((text) => html`<p class="note">${sentence(text)}</p>\n`)}</section>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
