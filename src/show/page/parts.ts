/** The parts of the report: sections of the answers of commands, each under its address. */
import { isWithoutExternalValue, receivingDestinations } from "../../audit/mapping/value-counts.ts";
import { type Coverage, coverageSections } from "../../audit/questions/coverage.ts";
import { type DriftReport, driftSections } from "../../audit/questions/drift.ts";
import type { ReportItems } from "../../audit/questions/items.ts";
import { comparisonText, type EarlierRuns } from "../../audit/questions/run-history.ts";
import { keptRunsSection, RUNS_LEGEND } from "../../audit/questions/runs.ts";
import { count, pluralize } from "../../common/figures.ts";
import { html } from "./markup.ts";
import { nothingPossible } from "./overview.ts";
import type { PagePart } from "./page.ts";

/** The search of items: the page's script fills it from the rows that the page brings along. */
export function itemsPart({ total, shown }: ReportItems): PagePart {
  const rest = `The page has room for ${pluralize(shown, "item")} of ${count(total)}, and holds those that need attention most; \`content-warehouse explain ITEM\` answers for the other ${count(total - shown)}.`;
  return {
    id: "items",
    name: "Items",
    command: "explain",
    lead: total === 0 ? "The service listed no item." : shown < total ? rest : "",
    sections: [],
    ...(shown > 0 && { body: FOUND }),
  };
}

/** The script shows it. */
export const SEARCH = html`<form id="search" role="search" aria-label="Items" hidden>
<label for="words">Find item</label>
<input id="words" type="search" autocomplete="off" spellcheck="false" placeholder="title, ID, type, field, value, status">
</form>
`;

const FOUND = html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain ITEM</code> answers for each item.</p></noscript>
<p id="found" role="status" class="note"></p>
<div class="scroll" id="item-table" role="group" tabindex="0" aria-label="Items that were found" hidden><table>
<caption class="visually-hidden">Items</caption>
<thead><tr><th scope="col">title</th><th scope="col">type</th><th scope="col">published</th><th scope="col" class="number">values</th><th scope="col" class="number">without external value, receiving</th></tr></thead>
<tbody id="item-rows"></tbody>
</table></div>
<p><button id="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>
`;

/** The values without an external value on their own, those of destinations that receive values first. */
export function coveragePart(coverage: Coverage, sequence: number): PagePart {
  const lacking = coverage.values.filter(isWithoutExternalValue);
  const counting = receivingDestinations(lacking);
  const sections = coverageSections(coverage).flatMap((section) => {
    if (section.key !== "values") return [section];
    return [
      {
        ...section,
        key: "without",
        title: "Values without an external value",
        lead: "The value that touches most items first, those of destinations that receive none at the end.",
        rows: [...counting, ...lacking.filter((row) => !counting.includes(row))],
      },
      {
        ...section,
        title: "Mapped values that are archived or ambiguous",
        rows: coverage.values.filter((row) => !isWithoutExternalValue(row)),
      },
    ];
  });
  const nothing = nothingPossible(coverage);
  const lead = nothing === undefined ? "" : `There is no value to look at: ${nothing}.`;
  return { id: "coverage", name: "Coverage", command: `audit ${sequence}`, lead, sections };
}

export function driftPart(drift: DriftReport, earlier: EarlierRuns, sequence: number): PagePart {
  // Without a run before nobody can tell what is gone.
  const sections = driftSections(drift)
    .filter(({ key }) => earlier.before !== undefined || key !== "vanishedFields")
    .map((section) => ({ ...section, all: "--section drift --format csv" }));
  const lead = `Where answers depart from the contract. ${comparisonText(earlier)}`;
  return { id: "drift", name: "Drift", command: `runs show ${sequence}`, lead, sections };
}

/** The newest first. */
export function runsPart({ listed }: EarlierRuns): PagePart {
  const kept = keptRunsSection(listed);
  const sections = [
    { ...kept, title: "Runs before this one", lead: `Columns: ${RUNS_LEGEND}.`, none: "none is kept" },
  ];
  return { id: "runs", name: "Runs", command: "runs", sections };
}
