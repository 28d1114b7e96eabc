/** The parts of the report: sections of answers, each under its address. */
import { isWithoutExternalValue, receiving } from "../../audit/mapping/value-counts.ts";
import type { RunAccount } from "../../audit/questions/account.ts";
import { type Coverage, coverageSections, type ValueColumns } from "../../audit/questions/coverage.ts";
import { type DriftReport, driftSections } from "../../audit/questions/drift.ts";
import { comparison, type EarlierRuns } from "../../audit/questions/earlier-runs.ts";
import type { ReportedItems } from "../../audit/questions/items.ts";
import { keptRunsSection, type ListedRun, WITHOUT_LEGEND } from "../../audit/questions/runs.ts";
import { col, type Section } from "../../common/answer.ts";
import { count, counted } from "../../common/figures.ts";
import { itemsMarkup } from "./items.ts";
import { html } from "./markup.ts";
import { nothingPossible } from "./overview.ts";
import { type PagePart, partOf } from "./page.ts";

export function itemsPart(items: ReportedItems): PagePart {
  return { ...partOf("items", "Items", "explain", []), picture: itemsMarkup(items) };
}

export function coveragePart(coverage: Coverage): PagePart {
  if (coverage.coverage.length === 0) {
    const none = "No custom field is mapped for a destination, so there is nothing to cover.";
    return { ...partOf("coverage", "Coverage", "audit", []), picture: html`<p class="empty">${none}</p>` };
  }
  const sections = coverageSections(coverage).filter(({ key }) => key !== "values");
  return partOf("coverage", "Coverage", "audit", sections);
}

/** The values of the audit: those that need attention first, those of destinations that receive none apart. */
export function valuesPart(coverage: Coverage): PagePart {
  const { values } = coverage;
  const lacking = values.filter(isWithoutExternalValue);
  // Where there is none, no column of empty cells.
  const withoutValue = { external_value: col.text({ hidden: true }) } satisfies ValueColumns;
  const counting = receiving(lacking);
  const parts = [
    {
      key: "without",
      title: "Values without an external value",
      none: noneWithout(coverage),
      columns: withoutValue,
      rows: counting,
    },
    {
      key: "apart",
      title: "The same at destinations that receive no values",
      none: "",
      columns: withoutValue,
      rows: lacking.filter((row) => !counting.includes(row)),
    },
    {
      key: "flagged",
      title: "Mapped values that are archived or ambiguous",
      columns: {},
      rows: values.filter((row) => !isWithoutExternalValue(row)),
    },
  ];
  const sections = coverageSections(coverage).flatMap((section): Section[] =>
    section.key === "values"
      ? parts.map((part) => ({ ...section, ...part, columns: { ...section.columns, ...part.columns } }))
      : [],
  );
  return {
    ...partOf("unmapped", "Values", "audit", sections),
    lead: "The value that touches most items first.",
  };
}

function noneWithout(coverage: Coverage): string {
  const isPossible = coverage.coverage.some(({ mapped }) => mapped > 0);
  return isPossible
    ? "Every value in use of a field with a value mapping is mapped at every destination that its field is mapped for and that receives values."
    : `There is no value to look at: ${nothingPossible(coverage)}.`;
}

export function driftPart(drift: DriftReport, earlier: EarlierRuns): PagePart {
  const isCompared = earlier.before !== undefined;
  // Without a run before nobody can tell what is gone.
  const sections = driftSections(drift).filter(({ key }) => isCompared || key !== "vanishedFields");
  const lead = `Where answers depart from the contract. ${comparison(earlier)}`;
  return { ...partOf("drift", "Drift", "drift", sections), lead };
}

export function rejectsPart(
  { itemsListed, itemsLoaded, itemsRejected }: RunAccount,
  rejects: Section,
): PagePart {
  const lead = `${counted(itemsListed, "item")} listed, ${count(itemsLoaded)} loaded, ${count(itemsRejected)} rejected.`;
  const none = "No document was rejected.";
  const next = rejects.rows.length === 0 ? [] : ["The next run asks the service for them again."];
  return { ...partOf("rejects", "Rejects", "rejects", [{ ...rejects, none }]), lead, next };
}

/** The newest first, its own before them. */
export function runsPart(runs: readonly ListedRun[]): PagePart {
  const lead =
    runs.length === 1
      ? "There is one run here, this one: from the next run on, the kept runs stand here."
      : `The ${counted(runs.length, "run")} up to this one that are kept. Change: new +, changed ~, removed -, since the run before; ${WITHOUT_LEGEND}.`;
  const own = { ...keptRunsSection(runs), lead };
  return { ...partOf("runs", "Runs", "runs", [own]), title: "Kept runs" };
}
