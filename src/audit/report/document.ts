/** The whole page: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Coverage } from "../questions/coverage.ts";
import { type Account, checksSection, tablesSection } from "./account.ts";
import { changesSection, type RunChanges } from "./changes.ts";
import { coverageSection, unmappedSection } from "./coverage-section.ts";
import { itemsSection, type ReportItems } from "./items.ts";
import { dataIsland, html, trusted } from "./markup.ts";
import { overview, subtitle } from "./overview.ts";

export interface Report {
  readonly account: Account;
  readonly coverage: Coverage;
  readonly changes: readonly RunChanges[] | undefined;
  readonly items: ReportItems;
}

const SECTIONS = [
  ["overview", "Overview"],
  ["coverage", "Coverage"],
  ["unmapped", "Unmapped values"],
  ["changes", "Changes"],
  ["items", "Items"],
  ["checks", "Checks"],
  ["tables", "Tables"],
] as const;

export async function pageOf({ account, coverage, changes, items }: Report): Promise<string> {
  const [style, script] = await Promise.all(["page.css", "page.js"].map(ownFile));
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
<meta name="generator" content="content-warehouse ${account.packageVersion}">
<title>Run ${account.sequence}: ${account.verdict} · content-warehouse</title>
<style>${trusted(style ?? "")}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<p class="wordmark">content-warehouse</p>
<h1>Run ${account.sequence} <span class="run-name">${account.run}</span></h1>
${subtitle(account)}
</header>
<nav aria-label="Sections"><ul>${SECTIONS.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
${overview({ account, coverage, items })}
${coverageSection(coverage)}
${unmappedSection(coverage)}
${changesSection(changes, account.run)}
${itemsSection(items)}
${checksSection(account)}
${tablesSection(account)}
</main>
<footer><p class="foot">Made by content-warehouse ${account.packageVersion} from the tables of the run alone (DuckDB ${account.duckdbVersion}, Node ${account.nodeVersion}). Personal data: ${account.personalData}; the report shows no personal columns. Times are UTC.</p></footer>
<script type="application/json" id="data">${dataIsland(items.json)}</script>
<script>${trusted(script ?? "")}</script>
</body>
</html>
`.text;
}

function ownFile(name: string): Promise<string> {
  return readFile(new URL(`./${name}`, import.meta.url), "utf8");
}

function hashOf(text = ""): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
