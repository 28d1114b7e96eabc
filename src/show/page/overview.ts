/** The first screen: is this run good, and what needs attention? Its figures are those of the answers below it. */
import { checkWords } from "../../audit/checks/check-words.ts";
import { DIFFERENT_TIMES, type RunCheck, SAME_TIMES_CHECK } from "../../audit/checks/checks.ts";
import { MAPPED_VALUES_CHECK, namelessWords } from "../../audit/checks/unmatched.ts";
import {
  apartTexts,
  isWithoutExternalValue,
  kindsText,
  mappedCounts,
  receiving,
  sumOf,
  without,
} from "../../audit/mapping/value-counts.ts";
import { type RunAccount, SAMPLE } from "../../audit/questions/account.ts";
import { type Coverage, mappedTotals } from "../../audit/questions/coverage.ts";
import { DRIFT_PARTS, type DriftPart, type DriftReport, isNew } from "../../audit/questions/drift.ts";
import { count, counted, percent } from "../../common/figures.ts";
import type { Verdict } from "../../common/verdict.ts";
import type { RunChanges } from "./changes.ts";
import { foreign, html, type Markup, type Part, sentence } from "./markup.ts";
import type { Overview } from "./page.ts";

export interface OverviewFacts {
  readonly account: RunAccount;
  readonly checks: readonly RunCheck[];
  readonly coverage: Coverage;
  readonly drift: DriftReport;
  /** What mapped values and payloads came to since the run before; undefined: nothing tells. */
  readonly changed: RunChanges["compared"];
  /** Number of the run that the drift is compared with. */
  readonly comparedWith: number | undefined;
  /** Mapped values that are not sent all the same. */
  readonly unsent: number;
}

export function overviewOf(facts: OverviewFacts): Overview {
  const { account, checks, coverage } = facts;
  const { verdict, reason } = account;
  const isComplete = verdict === "complete";
  const isWarned = (name: string) =>
    checks.some((check) => check.check_name === name && check.verdict !== "passed");
  const lacking = checks.find(({ check_name }) => check_name === MAPPED_VALUES_CHECK);
  const isLacking = lacking?.verdict === "warning";
  const why = reason !== null && html`: ${foreign(reason)}`;
  const whys: Readonly<Record<Verdict, Markup>> = {
    complete: html`Two passes over the listing agreed with each other, and with the service’s own count of its items.`,
    unsettled: html`The answers of the service do not agree, so items may be missing or may have changed meanwhile${why}.`,
    limited: html`A first look, which says nothing of other items${why}.`,
  };
  const times = isComplete && isWarned(SAME_TIMES_CHECK) && html` In this service ${DIFFERENT_TIMES}.`;
  return {
    isGood: isComplete && !isLacking,
    verdict: `${WORDS[verdict]}${isLacking ? ", without mapped values" : ""}`,
    why: [whys[verdict], times, isLacking && html` ${foreign(lacking.detail ?? "")}`],
    figures: figures(facts),
    points: [...runPoints(facts), ...driftPoints(facts), ...mappingPoints(facts)],
    nothing: nothing(coverage),
  };
}

const WORDS: Readonly<Record<Verdict, string>> = {
  complete: "Complete",
  unsettled: "Unsettled",
  limited: "Limited",
};

function figures({ account, checks, coverage, changed }: OverviewFacts): Overview["figures"] {
  const { mapped, possible } = mappedTotals(coverage);
  const lacking = sumOf(receiving(coverage.destinations));
  const passed = checks.filter(({ verdict }) => verdict === "passed").length;
  // Where no value could be looked at, neither figure is good.
  const none = possible === 0 ? nothingPossible(coverage) : undefined;
  return [
    { name: "Items loaded", value: count(account.itemsLoaded), note: itemsNote(account) },
    {
      name: "Values mapped",
      value: possible === 0 ? "none" : percent(mapped, possible),
      note:
        none ??
        `${count(mapped)} of ${count(possible)} values of fields with a value mapping, ${AT_RECEIVERS}`,
    },
    {
      name: "Without an external value, receiving",
      value: none === undefined ? counted(without(lacking), "value") : "not known",
      note: none ?? withoutNote(coverage),
    },
    ...(changed === undefined ? [] : [changedFigure(changed)]),
    {
      name: "Checks",
      value: passed === checks.length ? "all passed" : counted(checks.length - passed, "warning"),
      note: `${count(passed)} of ${count(checks.length)} passed`,
    },
  ];
}

const AT_RECEIVERS = "at destinations that receive values";

/** Of what the head counts, and of all values without an external value what stands apart from it. */
function withoutNote({ destinations }: Coverage): string {
  const { unmapped, unknown_value: unknown } = sumOf(receiving(destinations));
  const kinds = `${kindsText({ unmapped, unknown })}, ${AT_RECEIVERS}`;
  const apart = apartTexts(mappedCounts(destinations));
  const all = `${count(without(sumOf(destinations)))} without an external value`;
  return apart.length === 0 ? kinds : `${kinds}; of ${all}, ${apart.join(", ")}`;
}

/** Items whose payloads differ, apart from those of which a destination is sent the same. */
function changedFigure({ before, items, payloads, payloadItems }: NonNullable<RunChanges["compared"]>) {
  const others = items - payloadItems;
  const differ =
    payloads === 0
      ? "no payload differs"
      : `${counted(payloads, "payload")} ${payloads === 1 ? "differs" : "differ"}`;
  const alike = `${counted(others, payloads === 0 ? "item" : "other item")} changed without a payload change`;
  return {
    name: `Changed since run ${before.sequence}`,
    value: counted(payloadItems, "item"),
    note: items === 0 ? "every mapped value is as it was" : others === 0 ? differ : `${differ}; ${alike}`,
  };
}

function itemsNote({ itemsListed, itemsRejected, itemsRemoved, itemsUnread }: RunAccount): string {
  const parts = [`${count(itemsListed)} listed`, `${count(itemsRejected)} rejected`];
  if (itemsRemoved > 0) parts.push(`${count(itemsRemoved)} gone since`);
  if (itemsUnread > 0) parts.push(`${count(itemsUnread)} listed too late to be read`);
  return parts.join(", ");
}

/** Why there is no value to look at, in a clause. */
export function nothingPossible({ coverage }: Coverage): string {
  return coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}

function nothing(coverage: Coverage): string {
  return mappedTotals(coverage).possible === 0
    ? `Every check passed. Mapped values were not looked at: ${nothingPossible(coverage)}.`
    : "Nothing: every check passed, and every value of a field with a value mapping is mapped at each destination that receives values.";
}

/** What sentences name of a list; the others have their own section. */
const NAMED = 3;

function firstOf<T>(rows: readonly T[], told: (row: T) => Part): Markup {
  const first = rows.slice(0, NAMED).map((row, index) => html`${index > 0 && "; "}${told(row)}`);
  return html`${first}${rows.length > NAMED && `; and ${rows.length - NAMED} more`}`;
}

function runPoints({ account, checks, coverage }: OverviewFacts): Part[] {
  const { itemsRejected: rejected } = account;
  const warnings = checks.filter(({ verdict }) => verdict !== "passed");
  const more = warnings.length - NAMED;
  const nameless = account.instanceUrl === SAMPLE ? [] : namelessIn(coverage);
  return [
    rejected > 0 &&
      html`<a href="#rejects">${counted(rejected, "item")} ${rejected === 1 ? "was" : "were"} rejected</a>, with the reasons below.`,
    warnings.length > 0 &&
      html`<a href="#checks">${counted(warnings.length, "check")} ${warnings.length === 1 ? "warns" : "warn"}</a>:
<ul class="checks">${warnings.slice(0, NAMED).map(warningMarkup)}${more > 0 && html`<li>and ${count(more)} more</li>`}</ul>`,
    nameless.length > 0 && namelessPoint(nameless),
  ].filter((point) => point !== false);
}

/** In words of content, with the check's own name below where it is another. */
function warningMarkup(check: RunCheck): Markup {
  const words = checkWords(check);
  const isNamed = words.startsWith(check.check_name);
  return html`<li>${foreign(words)}${!isNamed && html`<small>${foreign(check.check_name)}</small>`}</li>`;
}

/** A mapping has only the ID of its destination: the name is found for those that the configuration names. */
function namelessIn({ destinations }: Coverage): string[] {
  const nameless = destinations.filter((each) => each.destination === null && each.reception !== "ignored");
  return nameless.map(({ destination_id }) => destination_id);
}

function namelessPoint(ids: readonly string[]): Markup {
  const names = ids.map((id) => `    { "name": "<name of ${id}>" }`).join(",\n");
  return html`${sentence(namelessWords(ids.length))}:
<pre><code>${foreign(`  "destinations": [`)}
${names}
  ]</code></pre>`;
}

const DRIFTS: Readonly<Record<Exclude<DriftPart, "policy">, (fields: string) => string>> = {
  newFields: (fields) => `new ${fields}`,
  vanishedFields: (fields) => `${fields} without values`,
  changedTypes: (fields) => `${fields} of another type`,
  outsideContract: (fields) => `${fields} with values outside the contract`,
  contradictions: (fields) => `${fields} in which answers contradict each other`,
};

/** What is new since the run before; where there is none to compare with, all that departs from the contract. */
function driftPoints({ drift, comparedWith }: OverviewFacts): Part[] {
  return DRIFT_PARTS.filter((part) => part !== "policy").flatMap((part) => {
    const isTold = comparedWith === undefined || part === "vanishedFields" ? () => true : isNew;
    const lines = drift[part].filter(isTold);
    if (lines.length === 0) return [];
    const since = comparedWith === undefined ? "" : ` since run ${comparedWith}`;
    const text = `${count(lines.length)} ${DRIFTS[part](lines.length === 1 ? "field" : "fields")}${since}`;
    const named = firstOf(lines, ({ path, count: times, items, before }) => {
      const often = items === null ? counted(times, "time") : counted(items, "item");
      const told = times === 0 ? `had ${counted(before ?? 0, "value")}` : often;
      return html`<code>${foreign(path)}</code> (${told})`;
    });
    return [html`<a href="#drift">${text}</a>: ${named}.`];
  });
}

function named(name: string | null, id: string | null): Markup {
  return name === null ? html`<code>${foreign(id ?? "")}</code>` : foreign(name);
}

/** A value's text, or its ID where it has none. */
function valueName({ value, value_id: id }: Coverage["values"][number]): Markup {
  if (value !== null) return value.trim() === "" ? html`<em>empty text</em>` : foreign(value);
  return id === null ? html`<em>without text</em>` : named(null, id);
}

function mappingPoints({ coverage, unsent }: OverviewFacts): Part[] {
  const { definitions, destinations, values } = coverage;
  const receivers = receiving(destinations);
  const { ambiguous } = sumOf(receivers);
  const without = receiving(values).filter(isWithoutExternalValue);
  const more = without.length - NAMED;
  const collisions = (definitions?.collisions ?? []).filter(({ destination_id }) =>
    receivers.some((each) => each.destination_id === destination_id),
  );
  return [
    ...without
      .slice(0, NAMED)
      .map(
        (row) =>
          html`<a href="#unmapped">${row.status === "unmapped" ? "Unmapped" : "Unknown value"}</a>: ${valueName(row)} of ${named(row.custom_field, row.custom_field_id)} for ${named(row.destination, row.destination_id)}, in ${counted(row.items, "item")}.`,
      ),
    more > 0 &&
      html`And ${count(more)} more such ${more === 1 ? "value" : "values"}, ${more === 1 ? "" : "each "}in <a href="#unmapped">the table</a> with the items that have it.`,
    unsent > 0 &&
      html`<a href="#items">${counted(unsent, "mapped value")}</a> ${unsent === 1 ? "is" : "are"} not sent: the entry has no external value, or the mapping names no field at the destination.`,
    collisions.length > 0 &&
      html`<a href="#coverage">${counted(collisions.length, "external name")} of several fields</a>: ${firstOf(
        collisions,
        (row) =>
          html`${foreign(row.external_field_name ?? "")} at ${named(row.destination, row.destination_id)} (${foreign(row.custom_fields)})`,
      )}.`,
    ambiguous > 0 &&
      html`<a href="#items">${counted(ambiguous, "value")}</a> ${ambiguous === 1 ? "is" : "are"} ambiguous: several entries, select values or mappings fit, of which the first was used.`,
  ].filter((point) => point !== false);
}
