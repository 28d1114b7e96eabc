/** The first screen of the report: the verdict and what to look at, then missing values, changes, content and new fields. */
import { DIFFERENT_TIMES, type RunCheck, SAME_TIMES_CHECK } from "../../audit/checks/checks.ts";
import { MAPPED_VALUES_CHECK } from "../../audit/checks/configured-names.ts";
import type { diffForReport } from "../../audit/diff/value-diff-answer.ts";
import { lossText } from "../../audit/mapping/lost-and-gained.ts";
import {
  countWithoutAtReceivers,
  countWithoutValue,
  type MappedCounts,
  mappedCounts,
  missingIn,
  RECEPTION_TEXT,
  receivingDestinations,
  sumReceivers,
} from "../../audit/mapping/value-counts.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import { DRIFT_PARTS, type DriftPart, type DriftReport, isNewDrift } from "../../audit/questions/drift.ts";
import type { RunRow, RunShare } from "../../audit/questions/run-history.ts";
import type { EarlierRuns } from "../../audit/questions/runs.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { contentColumns, percent, shareLine } from "./answer-pictures.ts";
import { cut, foreign, html, type Markup } from "./page.ts";
import { barTable } from "./pictures.ts";

/** A line with the address of the section that has all of it. */
interface OverviewLine {
  readonly id: string;
  readonly what: string;
  readonly more?: string | undefined;
}

interface OverviewFacts {
  readonly run: RunRow;
  readonly checks: readonly RunCheck[];
  /** Checks of the run before; undefined if there is none to compare with. */
  readonly checksBefore: readonly RunCheck[] | undefined;
  readonly coverage: Coverage;
  readonly drift: DriftReport;
  readonly changes: Pick<Manifest, "changes" | "mappedChanges">;
  /** Changes of mapped values by the history; undefined if nothing can be compared. */
  readonly valueChanges: Awaited<ReturnType<typeof diffForReport>> | undefined;
  readonly earlier: EarlierRuns;
  /** Empty without a history. */
  readonly shares: readonly RunShare[];
}

const VERDICTS: Readonly<Record<Verdict, readonly [word: string, why: string]>> = {
  complete: ["Complete", "two passes and the service’s own count agree"],
  unsettled: [
    "Unsettled",
    "the answers of the service do not agree, so items may be missing or may have changed meanwhile",
  ],
  limited: ["Limited", "a limited run, which says nothing about other items"],
};

export function overviewOf(facts: OverviewFacts): Markup {
  const { run, checks } = facts;
  const { reason, itemsLoaded, itemsListed } = run;
  const [word, why] = VERDICTS[run.verdict];
  const isComplete = run.verdict === "complete";
  const warned = checks.filter(isWarning);
  const noValues = warned.find(({ check_name }) => check_name === MAPPED_VALUES_CHECK);
  const hasOtherTimes = isComplete && warned.some(({ check_name }) => check_name === SAME_TIMES_CHECK);
  const sentences = [
    `${run.verdict === "limited" ? "" : `${count(itemsLoaded)} of `}${pluralize(itemsListed, "item")}; ${why}${isComplete || reason === null ? "" : `: ${reason}`}.`,
    ...(hasOtherTimes ? [`In this service ${DIFFERENT_TIMES}.`] : []),
    ...(noValues === undefined ? [] : [noValues.detail ?? ""]),
  ];
  const isGood = isComplete && noValues === undefined;
  const verdict = `${word}${noValues === undefined ? "" : ", without mapped values"}`;
  const things = thingsToLookAt(facts);
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
<p class="verdict ${isGood ? "good" : "poor"}"><strong><span aria-hidden="true">${isGood ? "✓" : "!"}</span> ${verdict}</strong>: ${foreign(sentences.join(" "))}</p>
${things.length > 0 && html`<div class="look"><h3>Look at</h3>\n${list(things)}</div>\n`}<div class="blocks">
<div>${missingBlock(facts)}</div>
<div>${contentBlock(facts)}${fieldsBlock(facts)}</div>
</div>
${changesBlock(facts)}</section>
`;
}

function list(lines: readonly OverviewLine[]): Markup {
  return html`<ul class="lines">${lines.map(({ id, what, more = "" }) => html`<li><a href="#${id}">${foreign(what)}</a>${more !== "" && html` <span class="note">${foreign(more)}</span>`}</li>\n`)}</ul>\n`;
}

function isWarning({ verdict }: RunCheck): boolean {
  return verdict !== "passed";
}

/** Names that one line lists; its section has the others. */
const NAMED = 3;

/** A line, or none if nothing was counted. */
function lineIf(number: number, id: string, what: string, more = ""): OverviewLine[] {
  return number === 0 ? [] : [{ id, what, more }];
}

/** Values that were lost, new warnings, and items that were not loaded. In the first run all warnings are new. */
function thingsToLookAt({ run, checks, checksBefore, changes: { mappedChanges } }: OverviewFacts) {
  const { itemsRejected, itemsRemoved, itemsUnread } = run;
  const known = new Set(checksBefore?.filter(isWarning).map(({ check_name }) => check_name));
  const fresh = checks.filter((check) => isWarning(check) && !known.has(check.check_name));
  const named = fresh.map(({ check_name, figure }) => `${check_name}: ${count(figure)}`);
  const isFirst = checksBefore === undefined;
  return [
    ...(mappedChanges !== null && mappedChanges.lost > 0
      ? [{ id: "changes-lines", what: "External values lost", more: lossText(mappedChanges) }]
      : []),
    ...lineIf(
      fresh.length,
      "run-checks",
      pluralize(fresh.length, isFirst ? "warning" : "new warning"),
      joinFirst(named, NAMED),
    ),
    ...lineIf(itemsRejected, "run-rejects", `${pluralize(itemsRejected, "item")} rejected`),
    ...lineIf(itemsRemoved, "run-checks", `${pluralize(itemsRemoved, "item")} gone since listed`),
    ...lineIf(itemsUnread, "run-checks", `${pluralize(itemsUnread, "item")} listed too late to be read`),
  ];
}

/** Destinations of the first screen; its section has the others. */
const DESTINATIONS_SHOWN = 5;

/** Values that each destination misses, now and in the run before, with a line of the mapped share over the runs. */
function missingBlock({ coverage, earlier, shares, changes }: OverviewFacts): Markup {
  const nothing = whyNothingMapped(coverage);
  const now = mappedCounts(coverage.destinations);
  const before = earlier.before?.manifest.mappedValues ?? undefined;
  const countsIn = (counts: MappedCounts | undefined, id: string) =>
    receivingDestinations(counts?.destinations ?? []).find((each) => each.id === id);
  const receiving = receivingDestinations(now.destinations).toSorted(
    (a, b) => countWithoutValue(b) - countWithoutValue(a),
  );
  const rows = receiving.slice(0, DESTINATIONS_SHOWN).map((each) => {
    const missing = countWithoutValue(each);
    const then = countsIn(before, each.id);
    return {
      label: html`${foreign(cut(each.name ?? each.id))}${before && then === undefined && html` <span class="note">now receives values</span>`}`,
      parts: { mapped: each.mapped, missing },
      cells: [
        html`<strong>${count(missing)}</strong>`,
        before && (then === undefined ? "" : count(countWithoutValue(then))),
        each.mapped + missing === 0 ? "" : percent(each.mapped, each.mapped + missing),
        shareLine(shares, each.id, each.name ?? each.id),
      ].filter((cell) => cell !== undefined),
    };
  });
  const ceased = now.destinations.filter(
    ({ id }) => countsIn(now, id) === undefined && countsIn(before, id) !== undefined,
  );
  const { lost = 0, gained = 0 } = changes.mappedChanges ?? {};
  const missing = countWithoutAtReceivers(now);
  const { empty } = sumReceivers(now);
  const others = Math.max(0, receiving.length - DESTINATIONS_SHOWN);
  const heads = ["destination", "values", "missing", ...(before ? ["before"] : []), "mapped", "trend"];
  const told =
    changes.mappedChanges === null
      ? ""
      : `, ${count(lost)} lost and ${count(gained)} gained since run ${earlier.previous ?? ""}`;
  return html`<h3>Missing values</h3>
${
  nothing !== undefined
    ? list([{ id: "coverage", what: "No value to look at", more: nothing }])
    : html`<p><a href="#coverage-values">${pluralize(missing, "missing value")}</a><span class="note">${told}</span></p>
${barTable("Missing values by destination", heads, rows)}
${list([
  ...lineIf(others, "coverage-destinations", pluralize(others, "more destination")),
  ...ceased.map((each) => ({
    id: "coverage-destinations",
    what: `${cut(each.name ?? each.id)} no longer receives values`,
    more: RECEPTION_TEXT[each.reception],
  })),
  ...lineIf(empty, "coverage-values", `${count(empty)} of them empty`, "no external value or name"),
])}`
}`;
}

/** The changes that took away most external values, then those that touch most items. */
function changesBlock({ valueChanges }: OverviewFacts): Markup | "" {
  if (valueChanges === undefined) return "";
  const { items, payloads, payloadItems } = valueChanges.totals;
  const lines = valueChanges.largest.map((change) => {
    const field =
      `${cut(change.custom_field ?? change.custom_field_id)} ${cut(change.value ?? "")}`.trimEnd();
    const [before, after] = [change.before, change.after].map((text) => cut(text) || "nothing");
    return {
      id: "changes-lines",
      what: `${cut(change.destination ?? change.destination_id)}, ${field}: ${before} → ${after}`,
      more: `${pluralize(change.items, "item")}${change.change === "lost" ? " lost it" : ""}, ${change.cause}`,
    };
  });
  return html`<div class="changes"><h3>Changes</h3>
<p><a href="#changes">${pluralize(items, "item")} with changed values</a><span class="note">, ${pluralize(payloads, "payload")} of ${pluralize(payloadItems, "item")} sent differently</span></p>
${list(lines)}</div>
`;
}

/** New, edited and removed items, with a column for each kept run. */
function contentBlock({ run, changes: { changes }, earlier }: OverviewFacts): Markup {
  const { previous } = earlier;
  const why = previous === null ? "the first run" : "not compared with the run before";
  return html`<h3>Content</h3>
<p><a href="#items">${pluralize(run.itemsLoaded, "item")}</a><span class="note">, ${changes === null ? why : `compared with run ${previous ?? ""}`}</span></p>
${changes !== null && contentColumns(run, changes, earlier)}`;
}

const DRIFT_TEXTS: Readonly<Record<Exclude<DriftPart, "policy">, string>> = {
  newFields: "not in the specification",
  vanishedFields: "without values",
  changedTypes: "of another type",
  outsideContract: "with values outside the contract",
  contradictions: "in which answers contradict each other",
};

/** Drift since the run before; in the first run, all. */
function fieldsBlock({ drift, checksBefore, earlier }: OverviewFacts): Markup {
  const isFirst = checksBefore === undefined;
  const since = earlier.before === undefined ? "" : ` since run ${earlier.before.sequence}`;
  const lines = DRIFT_PARTS.filter((part) => part !== "policy").flatMap((part) => {
    const found = drift[part].filter((line) => isFirst || part === "vanishedFields" || isNewDrift(line));
    const fields = found.map(({ path, count: times, items, before }) => {
      const often = items === null ? pluralize(times, "time") : pluralize(items, "item");
      return `${path} (${times === 0 ? `had ${pluralize(before ?? 0, "value")}` : often})`;
    });
    const what = `${pluralize(fields.length, "field")} ${DRIFT_TEXTS[part]}`;
    return lineIf(fields.length, `drift-${part}`, what, joinFirst(fields, NAMED));
  });
  return html`<h3>New fields</h3>\n${lines.length > 0 ? list(lines) : html`<p class="note">none${since}</p>\n`}`;
}

/** Why no value could be mapped, as a clause; undefined if one could. */
export function whyNothingMapped(coverage: Coverage): string | undefined {
  const receivers = receivingDestinations(coverage.destinations);
  if (receivers.some((each) => each.mapped + missingIn(each) > 0)) return undefined;
  return coverage.coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}
