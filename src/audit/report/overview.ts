/** The first screen: is this run good, and what needs attention? */

import { count, counted, duration, fileSize } from "../../common/figures.ts";
import type { Coverage } from "../questions/coverage.ts";
import type { Account } from "./account.ts";
import { integer, minute, percent, text, textOrNull } from "./format.ts";
import type { ReportItems } from "./items.ts";
import { foreign, html, type Markup, named } from "./markup.ts";

export interface OverviewFacts {
  readonly account: Account;
  readonly coverage: Coverage;
  readonly items: ReportItems;
}

/** Kinds of unmapped values that are named; the others have their own section. */
const NAMED = 3;

export function overview(facts: OverviewFacts): Markup {
  return html`<section id="overview" aria-labelledby="overview-title">
<h2 id="overview-title" class="visually-hidden">Overview</h2>
${verdict(facts.account)}
<dl class="figures">${figures(facts)}</dl>
${attention(facts)}
</section>`;
}

function verdict({ verdict, reason }: Account): Markup {
  const complete = verdict === "complete";
  const word = complete ? "Complete" : "Unsettled";
  const why = reason !== null && html`: ${foreign(reason)}`;
  const unsettled = html`No two passes over the listing agreed, so items may be missing or may have changed meanwhile${why}.`;
  return html`<div class="verdict ${complete ? "good" : "poor"}">
<p class="verdict-word"><span class="sign" aria-hidden="true">${complete ? "✓" : "!"}</span>${word}</p>
<p class="verdict-why">${complete ? COMPLETE : unsettled}</p>
</div>`;
}

const COMPLETE =
  "Two passes over the listing agreed with each other, and with the service’s own count of its items.";

function figures({ account, coverage, items }: OverviewFacts): Markup[] {
  const { covered, coverable } = coverageTotals(coverage);
  const warnings = account.checks.filter((check) => check.verdict !== "passed").length;
  return [
    scalar("Items", count(account.itemsLoaded), itemsNote(account)),
    scalar(
      "Values covered",
      percent(covered, coverable) ?? "none",
      coverable === 0
        ? "no item has a value that a mapping could map"
        : `${count(covered)} of ${count(coverable)} have an external value`,
    ),
    scalar(
      "Items with a gap",
      count(items.withGaps),
      items.withGaps === 0
        ? "every value reaches its destinations"
        : `${percent(items.withGaps, items.total)} have a value that some destination does not get`,
    ),
    scalar(
      "Checks",
      warnings === 0 ? "all passed" : counted(warnings, "warning"),
      `${count(account.checks.length - warnings)} of ${count(account.checks.length)} passed`,
    ),
  ];
}

function scalar(name: string, value: string, note: string): Markup {
  return html`<div><dt>${name}</dt><dd><strong>${value}</strong><span>${note}</span></dd></div>`;
}

function itemsNote({ itemsListed, itemsRejected, itemsRemoved, itemsUnread }: Account): string {
  const parts = [`${count(itemsListed)} listed`];
  if (itemsRejected > 0) parts.push(`${count(itemsRejected)} could not be read`);
  if (itemsRemoved > 0) parts.push(`${count(itemsRemoved)} gone since`);
  if (itemsUnread > 0) parts.push(`${count(itemsUnread)} listed too late to be read`);
  return parts.length === 1 ? `all ${parts[0]}` : parts.join(", ");
}

/** Values with a value mapping, and those of them that have an external value. */
export function coverageTotals({ coverage }: Coverage): { covered: number; coverable: number } {
  const sum = (name: string) => coverage.reduce((total, row) => total + integer(row[name]), 0);
  const covered = sum("mapped");
  return { covered, coverable: covered + sum("unmapped") + sum("unknown_value") };
}

function attention(facts: OverviewFacts): Markup {
  const points = [...runPoints(facts.account), ...mappingPoints(facts.coverage)];
  return html`<h3>What needs attention</h3>${
    points.length === 0
      ? html`<p class="empty">Nothing: every check passed, and every value in use has an external value.</p>`
      : html`<ul class="attention">${points.map((point) => html`<li>${point}</li>`)}</ul>`
  }`;
}

function runPoints({ checks, itemsRejected }: Account): Markup[] {
  const warnings = checks.filter((check) => check.verdict !== "passed");
  return [
    itemsRejected > 0 &&
      html`<a href="#checks">${counted(itemsRejected, "item")} could not be read</a>: the table <code>run_rejects</code> says why.`,
    warnings.length > 0 &&
      html`<a href="#checks">${counted(warnings.length, "check")} ${warnings.length === 1 ? "warns" : "warn"}</a>: ${some(
        warnings,
        (check) => html`${foreign(check.checkName)} (${count(check.figure)})`,
      )}${warnings.length > NAMED ? ", and more" : ""}.`,
  ].filter((point) => point !== false);
}

function mappingPoints({ values, definitions, totals }: Coverage): Markup[] {
  const gaps = values.filter((row) => row.status === "unmapped" || row.status === "unknown_value");
  const named3 = gaps
    .slice(0, NAMED)
    .map(
      (row) =>
        html`<a href="#unmapped">${row.status === "unmapped" ? "Unmapped" : "Unknown value"}</a>: ${valueName(row.value, row.value_id)} of ${named(
          textOrNull(row.custom_field),
          text(row.custom_field_id),
        )} for ${named(textOrNull(row.destination), text(row.destination_id))}, in ${counted(integer(row.items), "item")}.`,
    );
  const more = gaps.length - named3.length;
  const collisions = definitions?.collisions ?? [];
  return [
    ...named3,
    more > 0 &&
      html`<a href="#unmapped">${counted(more, "more value")}</a> ${more === 1 ? "has" : "have"} no external value.`,
    collisions.length > 0 &&
      html`<a href="#coverage">${counted(collisions.length, "external name")} of several fields</a>: ${some(
        collisions,
        (row) =>
          html`${foreign(text(row.external_field_name))} at ${named(textOrNull(row.destination), text(row.destination_id))} (${foreign(text(row.custom_fields))})`,
      )}.`,
    totals.ambiguous > 0 &&
      html`<a href="#items">${counted(totals.ambiguous, "value")}</a> ${totals.ambiguous === 1 ? "is" : "are"} ambiguous: several entries, select values or mappings fit, of which the first was used.`,
  ].filter((point) => point !== false);
}

/** The first ones, with semicolons between. */
function some<T>(rows: readonly T[], shown: (row: T) => Markup): Markup[] {
  return rows.slice(0, NAMED).map((row, index) => html`${index > 0 ? "; " : ""}${shown(row)}`);
}

/** A value's text, or its ID where it has none. */
export function valueName(value: unknown, id: unknown): Markup {
  if (typeof value === "string") return foreign(value);
  return typeof id === "string" ? html`<code>${foreign(id)}</code>` : html`<em>without text</em>`;
}

/** Under the name of the run. */
export function subtitle(account: Account): Markup {
  const builtMs = account.endedAt.getTime() - account.startedAt.getTime();
  return html`<p class="subtitle">${foreign(account.instanceUrl)}, read by the pipeline ${foreign(account.pipeline)} on <time datetime="${account.startedAt.toISOString()}">${minute(account.startedAt)}</time>; its tables were built ${duration(builtMs / 1000)} later. ${counted(account.requests, "request")}, ${fileSize(account.bytes)} received.</p>`;
}
