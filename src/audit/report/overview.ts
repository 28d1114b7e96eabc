/** The first screen: is this run good, and what needs attention? */
import { count, counted, duration, fileSize } from "../../common/figures.ts";
import { DIFFERENT_TIMES } from "../checks/checks.ts";
import type { Coverage } from "../questions/coverage.ts";
import type { DriftReport } from "../questions/drift.ts";
import type { Account } from "./account.ts";
import {
  coverageTotals,
  destinationName,
  fieldName,
  gapsOf,
  nothingCoverable,
  valueName,
} from "./coverage-section.ts";
import { driftPoints } from "./drift-section.ts";
import type { EarlierRuns } from "./earlier-runs.ts";
import { integer, minute, percent } from "./format.ts";
import type { ReportItems } from "./items.ts";
import { firstOf, foreign, html, type Markup, NAMED, sql } from "./markup.ts";

export interface OverviewFacts {
  readonly account: Account;
  readonly coverage: Coverage;
  readonly items: ReportItems;
  readonly drift: DriftReport;
  readonly earlier: EarlierRuns | undefined;
}

export function overview(facts: OverviewFacts): Markup {
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
${verdict(facts.account)}
<dl class="figures">${figures(facts)}</dl>
${attention(facts)}
</section>`;
}

function verdict({ verdict, reason, withoutMappedValues, modesDiffer }: Account): Markup {
  const complete = verdict === "complete";
  const word = `${complete ? "Complete" : "Unsettled"}${withoutMappedValues === null ? "" : ", without mapped values"}`;
  const why = reason !== null && html`: ${foreign(reason)}`;
  const unsettled = html`The answers of the service do not agree, so items may be missing or may have changed meanwhile${why}.`;
  const times = complete && modesDiffer && html` In this service ${DIFFERENT_TIMES}.`;
  const lacking = withoutMappedValues !== null && html` ${foreign(withoutMappedValues)}`;
  const good = complete && withoutMappedValues === null;
  return html`<div class="verdict ${good ? "good" : "poor"}">
<p class="verdict-word"><span class="sign" aria-hidden="true">${good ? "✓" : "!"}</span>${word}</p>
<p class="verdict-why">${complete ? COMPLETE : unsettled}${times}${lacking}</p>
</div>`;
}

const COMPLETE =
  "Two passes over the listing agreed with each other, and with the service’s own count of its items.";

function figures({ account, coverage, items }: OverviewFacts): Markup[] {
  const { covered, coverable } = coverageTotals(coverage);
  const [passed, checks] = [account.checks.length - account.warnings.length, account.checks.length];
  const withGaps = `${percent(items.withGaps, items.total)} have a value that is unmapped or unknown`;
  // Where no value could be looked at, neither figure is good.
  const none = coverable === 0 ? nothingCoverable(coverage) : undefined;
  const facts: [name: string, value: string, note: string][] = [
    ["Items loaded", count(account.itemsLoaded), itemsNote(account)],
    [
      "Values covered",
      percent(covered, coverable) ?? "none",
      none ?? `${count(covered)} of ${count(coverable)} values of fields with a value mapping are mapped`,
    ],
    [
      "Items with a gap",
      none === undefined ? count(items.withGaps) : "not known",
      none ?? (items.withGaps === 0 ? "no value of an item is unmapped or unknown" : withGaps),
    ],
    [
      "Checks",
      passed === checks ? "all passed" : counted(checks - passed, "warning"),
      `${count(passed)} of ${count(checks)} passed`,
    ],
  ];
  return facts.map(
    ([name, value, note]) =>
      html`<div><dt>${name}</dt><dd><strong>${value}</strong><span>${note}</span></dd></div>`,
  );
}

function itemsNote({ itemsListed, itemsRejected, itemsRemoved, itemsUnread }: Account): string {
  const parts = [`${count(itemsListed)} listed`, `${count(itemsRejected)} rejected`];
  if (itemsRemoved > 0) parts.push(`${count(itemsRemoved)} gone since`);
  if (itemsUnread > 0) parts.push(`${count(itemsUnread)} listed too late to be read`);
  return parts.join(", ");
}

function attention(facts: OverviewFacts): Markup {
  const points = [
    ...runPoints(facts.account),
    ...driftPoints(facts.drift, facts.earlier),
    ...mappingPoints(facts),
  ];
  return html`<h3>What needs attention</h3>${
    points.length === 0
      ? html`<p class="empty">${nothing(facts.coverage)}</p>`
      : html`<ul class="attention">${points.map((point) => html`<li>${point}</li>`)}</ul>`
  }`;
}

function nothing(coverage: Coverage): string {
  return coverageTotals(coverage).coverable === 0
    ? `Every check passed. Mapped values were not looked at: ${nothingCoverable(coverage)}.`
    : "Nothing: every check passed, and every value of a field with a value mapping is mapped.";
}

function runPoints({ warnings, itemsRejected, namelessDestinations }: Account): Markup[] {
  return [
    itemsRejected > 0 &&
      html`<a href="#rejects">${counted(itemsRejected, "item")} ${itemsRejected === 1 ? "was" : "were"} rejected</a>, with the reasons below.`,
    warnings.length > 0 &&
      html`<a href="#checks">${counted(warnings.length, "check")} ${warnings.length === 1 ? "warns" : "warn"}</a>: ${firstOf(
        warnings,
        (check) => html`${foreign(check.check_name)} (${count(check.figure)})`,
      )}.`,
    namelessDestinations.length > 0 && nameless(namelessDestinations),
  ].filter((point) => point !== false);
}

/** A mapping has only the ID of its destination: the name is found for those that the configuration names. */
function nameless(ids: readonly string[]): Markup {
  const one = ids.length === 1;
  const names = ids.map((id) => `    { "name": "<name of ${id}>" }`).join(",\n");
  return html`${counted(ids.length, "destination")} in mappings ${one ? "has" : "have"} no name: where the service no longer has ${one ? "it" : "one of them"}, remove its mappings there; otherwise add <code>destinations</code> to the configuration, or <code>--destination</code>:
${sql(`  "destinations": [\n${names}\n  ]`)}`;
}

function mappingPoints({ coverage, items }: OverviewFacts): Markup[] {
  const { definitions, totals } = coverage;
  const gaps = gapsOf(coverage);
  const shown = gaps
    .slice(0, NAMED)
    .map(
      (row) =>
        html`<a href="#unmapped">${row.status === "unmapped" ? "Unmapped" : "Unknown value"}</a>: ${valueName(row)} of ${fieldName(row)} for ${destinationName(row)}, in ${counted(integer(row.items), "item")}.`,
    );
  const more = gaps.length - shown.length;
  const collisions = definitions?.collisions ?? [];
  return [
    ...shown,
    more > 0 &&
      html`<a href="#unmapped">${counted(more, "more value")}</a> ${more === 1 ? "has" : "have"} no external value.`,
    items.unsent > 0 &&
      html`<a href="#items">${counted(items.unsent, "mapped value")}</a> ${items.unsent === 1 ? "is" : "are"} not sent: the entry has no external value, or the mapping names no field at the destination.`,
    collisions.length > 0 &&
      html`<a href="#coverage">${counted(collisions.length, "external name")} of several fields</a>: ${firstOf(
        collisions,
        (row) =>
          html`${foreign(String(row.external_field_name))} at ${destinationName(row)} (${foreign(String(row.custom_fields))})`,
      )}.`,
    totals.ambiguous > 0 &&
      html`<a href="#items">${counted(totals.ambiguous, "value")}</a> ${totals.ambiguous === 1 ? "is" : "are"} ambiguous: several entries, select values or mappings fit, of which the first was used.`,
  ].filter((point) => point !== false);
}

/** Under the name of the run. */
export function subtitle(account: Account): Markup {
  const builtMs = account.endedAt.getTime() - account.startedAt.getTime();
  const refused = account.requestsRefused > 0 && `, ${count(account.requestsRefused)} refused (throttled)`;
  return html`<p class="subtitle">${foreign(account.instanceUrl)}, read by the pipeline ${foreign(account.pipeline)} on <time datetime="${account.startedAt.toISOString()}">${minute(account.startedAt)}</time>; its tables were built ${duration(builtMs / 1000)} later. ${counted(account.requests, "request")}${refused}, ${fileSize(account.bytes)} received.</p>`;
}
