/** The whole page: one file that asks nobody for anything, and runs no script and no style but its own. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { checksSection, tablesSection } from "./account.ts";
import { changesSection, type RunChanges } from "./changes.ts";
import { coverageSection, unmappedSection } from "./coverage-section.ts";
import { driftSection } from "./drift-section.ts";
import type { RunFigures } from "./earlier-runs.ts";
import { itemsSection } from "./items.ts";
import { dataIsland, html, trusted } from "./markup.ts";
import { type OverviewFacts, overview, subtitle } from "./overview.ts";
import { rejectsSection } from "./rejects-section.ts";
import { requestsSection } from "./requests-section.ts";
import { runsSection } from "./runs-section.ts";

export interface Report extends OverviewFacts {
  readonly changes: readonly RunChanges[] | undefined;
  readonly rejects: Parameters<typeof rejectsSection>[1];
  readonly requests: Parameters<typeof requestsSection>[1];
}

const SECTIONS = [
  ["overview", "Overview"],
  ["coverage", "Coverage"],
  ["unmapped", "Unmapped values"],
  ["changes", "Changes"],
  ["items", "Items"],
  ["rejects", "Rejects"],
  ["drift", "Drift"],
  ["checks", "Checks"],
  ["runs", "Runs"],
  ["requests", "Requests"],
  ["tables", "Tables"],
] as const;

export async function pageOf(report: Report): Promise<string> {
  const { account, coverage, changes, items, drift, earlier } = report;
  const [style, sorting, search] = await Promise.all(["page.css", "sort.js", "page.js"].map(ownFile));
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
${overview(report)}
${coverageSection(coverage)}
${unmappedSection(coverage)}
${changesSection(changes, account.run)}
${itemsSection(items)}
${rejectsSection(account, report.rejects)}
${driftSection(drift, earlier)}
${checksSection(account)}
${runsSection(ownFigures(report), earlier)}
${requestsSection(account, report.requests)}
${tablesSection(account)}
</main>
<footer><p class="foot">Made by content-warehouse ${account.packageVersion} from the tables of the run, and those of the kept runs before it (DuckDB ${account.duckdbVersion}, Node ${account.nodeVersion}). Personal data: ${account.personalData}; the report shows no personal columns. Times are UTC.</p></footer>
<script type="application/json" id="data">${dataIsland(items.json)}</script>
<script>${trusted(script ?? "")}</script>
</body>
</html>
`.text;
}

function ownFigures({ account, coverage }: Report): RunFigures {
  const { run, sequence, startedAt, verdict, itemsLoaded, itemsRejected } = account;
  const { totals } = coverage;
  const unmapped = totals.unmapped + totals.unknown_value;
  return { run, sequence, startedAt, verdict, loaded: itemsLoaded, rejected: itemsRejected, unmapped };
}

function ownFile(name: string): Promise<string> {
  return readFile(new URL(`./${name}`, import.meta.url), "utf8");
}

function hashOf(text = ""): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
