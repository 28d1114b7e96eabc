/** The first screen of the report: the verdict, and what is new for an operator, an analyst and an auditor. */
import { DIFFERENT_TIMES, type RunCheck, SAME_TIMES_CHECK } from "../../audit/checks/checks.ts";
import { MAPPED_VALUES_CHECK } from "../../audit/checks/configured-names.ts";
import type { diffForReport } from "../../audit/diff/value-diff-answer.ts";
import {
  countWithoutValue,
  kindsText,
  type MappedCounts,
  mappedCounts,
  RECEPTION_TEXT,
  receivingDestinations,
  sumCounts,
} from "../../audit/mapping/value-counts.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import { DRIFT_PARTS, type DriftPart, type DriftReport, isNewDrift } from "../../audit/questions/drift.ts";
import type { RunRow } from "../../audit/questions/run-history.ts";
import type { EarlierRuns } from "../../audit/questions/runs.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { cut, foreign, html, type Markup } from "./page.ts";

/** A figure with its noun, or a line. */
interface OverviewEntry {
  /** Address of the section with all of it. */
  readonly id: string;
  readonly what: string;
  readonly more?: string | undefined;
}

interface ReaderSummary {
  readonly name: string;
  readonly figures: readonly OverviewEntry[];
  readonly lines: readonly OverviewEntry[];
}

type ValueChanges = Pick<Awaited<ReturnType<typeof diffForReport>>, "totals" | "largest">;

interface OverviewFacts {
  readonly run: RunRow;
  readonly checks: readonly RunCheck[];
  /** Checks of the run before; undefined if there is none to compare with. */
  readonly checksBefore: readonly RunCheck[] | undefined;
  readonly coverage: Coverage;
  readonly drift: DriftReport;
  readonly itemChanges: Manifest["changes"];
  /** Changes of mapped values, with a row for each; `undefined` if the run before cannot be compared. */
  /** Undefined if nothing can be compared. */
  readonly valueChanges: ValueChanges | undefined;
  readonly earlier: EarlierRuns;
  /** Number of values that are mapped and not sent. */
  readonly unsent: number;
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
    `${count(itemsLoaded)} of ${pluralize(itemsListed, "item")}; ${why}${isComplete || reason === null ? "" : `: ${reason}`}.`,
    ...(hasOtherTimes ? [`In this service ${DIFFERENT_TIMES}.`] : []),
    ...(noValues === undefined ? [] : [noValues.detail ?? ""]),
  ];
  const isGood = isComplete && noValues === undefined;
  const verdict = `${word}${noValues === undefined ? "" : ", without mapped values"}`;
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
<p class="verdict ${isGood ? "good" : "poor"}"><strong><span aria-hidden="true">${isGood ? "✓" : "!"}</span> ${verdict}</strong>: ${foreign(sentences.join(" "))}</p>
${[operator(facts), analyst(facts), auditor(facts)].map(readerMarkup)}</section>
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

function isWarning({ verdict }: RunCheck): boolean {
  return verdict !== "passed";
}

/** Names that one line lists; its section has the others. */
const NAMED = 3;

/** An entry, or none if nothing was counted. `id`: address of the section with all of it. */
function entryIf(number: number, id: string, what: string, more = ""): OverviewEntry[] {
  return number === 0 ? [] : [{ id, what, more }];
}

const DRIFT_TEXTS: Readonly<Record<Exclude<DriftPart, "policy">, string>> = {
  newFields: "not in the specification",
  vanishedFields: "without values",
  changedTypes: "of another type",
  outsideContract: "with values outside the contract",
  contradictions: "in which answers contradict each other",
};

/** New warnings, rejects and new drift. In the first run everything is new. */
function operator({ run, checks, checksBefore, drift, earlier }: OverviewFacts): ReaderSummary {
  const { itemsRejected, itemsRemoved, itemsUnread } = run;
  const known = new Set(checksBefore?.filter(isWarning).map(({ check_name }) => check_name));
  const warned = checks.filter(isWarning);
  const fresh = warned.filter(({ check_name }) => !known.has(check_name));
  const named = fresh.map(({ check_name, figure }) => `${check_name}: ${count(figure)}`);
  const isFirst = checksBefore === undefined;
  const newIn = (part: DriftPart) =>
    drift[part].filter((line) => isFirst || part === "vanishedFields" || isNewDrift(line));
  const since = earlier.before === undefined ? "" : ` since run ${earlier.before.sequence}`;
  return {
    name: "Operator",
    figures: [
      {
        id: "run-checks",
        what: pluralize(fresh.length, isFirst ? "warning" : "new warning"),
        more: isFirst
          ? `of ${pluralize(checks.length, "check")}`
          : `${count(warned.length - fresh.length)} known`,
      },
      { id: "run-rejects", what: `${count(itemsRejected)} rejected` },
      ...entryIf(itemsRemoved, "run-passes", `${count(itemsRemoved)} gone since listed`),
      ...entryIf(itemsUnread, "run-passes", `${count(itemsUnread)} listed too late to be read`),
      { id: "drift-newFields", what: pluralize(newIn("newFields").length, "new field") },
    ],
    lines: [
      ...entryIf(fresh.length, "run-checks", isFirst ? "Warnings" : "New warnings", joinFirst(named, NAMED)),
      ...DRIFT_PARTS.filter((part) => part !== "policy").flatMap((part) => {
        const fields = newIn(part).map(({ path, count: times, items, before }) => {
          const often = items === null ? pluralize(times, "time") : pluralize(items, "item");
          return `${path} (${times === 0 ? `had ${pluralize(before ?? 0, "value")}` : often})`;
        });
        const what = `${pluralize(fields.length, "field")} ${DRIFT_TEXTS[part]}${since}`;
        return entryIf(fields.length, `drift-${part}`, what, joinFirst(fields, NAMED));
      }),
    ],
  };
}

const BARS = "▁▂▃▄▅▆▇█";

/** New, edited and removed items, and a bar for each of the last 14 nights. */
function analyst({ run, itemChanges, earlier }: OverviewFacts): ReaderSummary {
  const name = "Analyst";
  if (itemChanges === null) {
    const more = earlier.previous === null ? "the first run" : "not compared with the run before";
    return { name, figures: [{ id: "items", what: pluralize(run.itemsLoaded, "item"), more }], lines: [] };
  }
  const nights = [itemChanges, ...earlier.listed].slice(0, 14).flatMap((night) => {
    const { new: added, edited, removed } = night;
    return added === null || removed === null ? [] : [added + (edited ?? 0) + removed];
  });
  const most = Math.max(1, ...nights);
  const bars = nights.map((items) => BARS[Math.ceil((items / most) * (BARS.length - 1))]).reverse();
  const id = "changes-content";
  const figures = [
    { id, what: `${pluralize(itemChanges.new, "item")} new` },
    ...(itemChanges.edited === null ? [] : [{ id, what: `${count(itemChanges.edited)} edited` }]),
    { id, what: `${count(itemChanges.removed)} removed` },
    ...entryIf(
      nights.length - 1,
      "runs",
      bars.join(""),
      `in the last ${nights.length} nights, up to ${pluralize(most, "item")}`,
    ),
  ];
  return { name, figures, lines: [] };
}

/** The mapped share of each destination that receives values, the largest changes, and what is missing. */
function auditor({ coverage, valueChanges, earlier, unsent }: OverviewFacts): ReaderSummary {
  const counts = mappedCounts(coverage.destinations);
  const nothing = whyNothingMapped(coverage);
  const shares = mappedShares(counts, earlier.before?.manifest.mappedValues ?? undefined);
  const others = Math.max(0, shares.length - 5);
  const lines: OverviewEntry[] = [];
  if (valueChanges !== undefined) {
    const { items, payloads, payloadItems } = valueChanges.totals;
    const what = `${pluralize(items, "item")} whose mapped values changed`;
    const more = `payloads that differ: ${count(payloads)}, of ${pluralize(payloadItems, "item")}`;
    lines.push({ id: "changes", what, more }, ...valueChanges.largest.map(changeEntry));
  }
  return {
    name: "Auditor",
    figures: [
      ...(nothing === undefined ? [] : [{ id: "coverage", what: "No value to look at", more: nothing }]),
      ...shares.slice(0, 5),
      ...entryIf(others, "coverage-destinations", pluralize(others, "more destination")),
    ],
    lines: [...lines, ...(nothing === undefined ? missingValues(coverage, unsent) : [])],
  };
}

/** `Web CMS, region "UK & Ireland": "en-gb" → "en-uk-ie"`, and `70 items: the external value "en-gb" became "en-uk-ie"`. */
function changeEntry(change: ValueChanges["largest"][number]): OverviewEntry {
  const field = `${cut(change.custom_field ?? change.custom_field_id)} ${cut(change.value ?? "")}`.trimEnd();
  const [before, after] = [change.before, change.after].map((text) => cut(text) || "nothing");
  return {
    id: "changes-lines",
    what: `${cut(change.destination ?? change.destination_id)}, ${field}: ${before} → ${after}`,
    more: `${pluralize(change.items, "item")}: ${change.cause}`,
  };
}

/** `93.4%`; only all is 100% and only none is 0%. `whole` is not 0. */
function percent(part: number, whole: number): string {
  if (part === whole) return "100%";
  if (part === 0) return "0%";
  const share = Math.min(99.9, Math.max(0.1, (part / whole) * 100));
  return `${share.toFixed(1)}%`;
}

/** Destinations that receive values now, or did in the run before. */
function mappedShares({ destinations }: MappedCounts, before: MappedCounts | undefined): OverviewEntry[] {
  const shareIn = (counts: MappedCounts["destinations"] | undefined, id: string) => {
    const found = receivingDestinations(counts ?? []).find((each) => each.id === id);
    const possible = found === undefined ? 0 : found.mapped + countWithoutValue(found);
    return found === undefined || possible === 0 ? undefined : percent(found.mapped, possible);
  };
  return destinations.flatMap((each): OverviewEntry[] => {
    const id = "coverage-destinations";
    const name = cut(each.name ?? each.id);
    const [now, then] = [destinations, before?.destinations].map((counts) => shareIn(counts, each.id));
    const lost = { id, what: `${name} no longer receives values`, more: RECEPTION_TEXT[each.reception] };
    if (now === undefined) return then === undefined ? [] : [lost];
    const more = before === undefined ? "" : then === undefined ? "now receives values" : `was ${then}`;
    return [{ id, what: `${now} mapped at ${name}`, more }];
  });
}

/** Why no value could be mapped, as a clause; undefined if one could. */
export function whyNothingMapped(coverage: Coverage): string | undefined {
  const receivers = receivingDestinations(coverage.destinations);
  if (receivers.some((each) => each.mapped + each.unmapped + each.unknown_value > 0)) return undefined;
  return coverage.coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}

/** Values without an external value, and mapped ones that are not sent, at destinations that receive values. */
function missingValues({ destinations }: Coverage, unsent: number): OverviewEntry[] {
  const { unmapped, unknown_value: unknown } = sumCounts(receivingDestinations(destinations));
  return [
    {
      id: "coverage-without",
      what: `${pluralize(unmapped + unknown, "value")} without an external value`,
      more: kindsText({ unmapped, unknown }),
    },
    ...entryIf(unsent, "items", `${pluralize(unsent, "mapped value")} not sent`, "no external value or name"),
  ];
}
