/** The whole page: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { checksSection, rejectsSection, requestsSection, tablesSection } from "./account.ts";
import { changesSection, type RunChanges, runsSection } from "./changes.ts";
import { coverageSection, coverageTotals, unmappedSection } from "./coverage-section.ts";
import { driftSection } from "./drift-section.ts";
import type { RunFigures } from "./earlier-runs.ts";
import { itemsSection } from "./items.ts";
import { dataIsland, html, type Markup, trusted } from "./markup.ts";
import { type OverviewFacts, overview, subtitle } from "./overview.ts";

export interface Report extends OverviewFacts {
  readonly changes: readonly RunChanges[] | undefined;
}

/** By ID: what the navigation calls it, and the section. */
function sectionsOf(report: Report): [id: string, name: string, section: Markup][] {
  const { account, coverage, changes, items, drift, earlier } = report;
  return [
    ["overview", "Overview", overview(report)],
    ["coverage", "Coverage", coverageSection(coverage)],
    ["unmapped", "Unmapped values", unmappedSection(coverage)],
    ["changes", "Changes", changesSection(changes)],
    ["items", "Items", itemsSection(items)],
    ["rejects", "Rejects", rejectsSection(account)],
    ["drift", "Drift", driftSection(drift, earlier)],
    ["checks", "Checks", checksSection(account)],
    ["runs", "Runs", runsSection(ownFigures(report), earlier)],
    ["requests", "Requests", requestsSection(account)],
    ["tables", "Tables", tablesSection(account)],
  ];
}

export async function pageOf(report: Report): Promise<string> {
  const { account, items } = report;
  const sections = sectionsOf(report);
  const [style = "", sorting, search] = await Promise.all(
    ["page.css", "sort.js", "page.js"].map((name) => readFile(new URL(`./${name}`, import.meta.url), "utf8")),
  );
  const script = `${sorting}\n${search}`;
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
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<p class="wordmark">content-warehouse</p>
<h1>Run ${account.sequence} <span class="run-name">${account.run}</span></h1>
${subtitle(account)}
</header>
<nav aria-label="Sections"><ul>${sections.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
${sections.map(([, , section]) => html`${section}\n`)}</main>
<footer><p class="foot">Made by content-warehouse ${account.packageVersion} from the tables of the run, and those of the kept runs before it (DuckDB ${account.duckdbVersion}, Node ${account.nodeVersion}). Personal data: ${account.personalData}; the report shows no personal columns. Times are UTC.</p></footer>
<script type="application/json" id="data">${dataIsland(items.json)}</script>
<script>${trusted(script)}</script>
</body>
</html>
`.text;
}

function ownFigures({ account, coverage }: Report): RunFigures {
  const { run, sequence, startedAt, verdict, itemsLoaded, itemsRejected } = account;
  const { covered, coverable } = coverageTotals(coverage);
  return {
    run,
    sequence,
    startedAt,
    verdict,
    loaded: itemsLoaded,
    rejected: itemsRejected,
    unmapped: coverable - covered,
  };
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
