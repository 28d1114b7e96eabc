/** The first screen: is this run good, and what needs attention? Its figures are those of the answers below it. */
import { DIFFERENT_TIMES, type RunCheck, SAME_TIMES_CHECK } from "../../audit/checks/checks.ts";
import { MAPPED_VALUES_CHECK } from "../../audit/checks/unmatched.ts";
import {
  apartTexts,
  isWithoutExternalValue,
  kindsText,
  mappedCounts,
  receiving,
  sumOf,
  without,
} from "../../audit/mapping/value-counts.ts";
import type { RunAccount } from "../../audit/questions/account.ts";
import { type Coverage, mappedTotals } from "../../audit/questions/coverage.ts";
import { DRIFT_PARTS, type DriftPart, type DriftReport, isNew } from "../../audit/questions/drift.ts";
import { count, counted, percent } from "../../common/figures.ts";
import { firstOf } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import type { RunChanges } from "./changes.ts";
import type { Overview, Point } from "./page.ts";

interface OverviewFacts {
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
  const warned = checks.filter((check) => check.verdict !== "passed");
  const lacking = warned.find(({ check_name }) => check_name === MAPPED_VALUES_CHECK);
  const hasOtherTimes = isComplete && warned.some(({ check_name }) => check_name === SAME_TIMES_CHECK);
  const why = [
    `${WHYS[verdict]}${isComplete || reason === null ? "" : `: ${reason}`}.`,
    ...(hasOtherTimes ? [`In this service ${DIFFERENT_TIMES}.`] : []),
    ...(lacking === undefined ? [] : [lacking.detail ?? ""]),
  ];
  return {
    isGood: isComplete && lacking === undefined,
    verdict: `${WORDS[verdict]}${lacking === undefined ? "" : ", without mapped values"}`,
    why: why.join(" "),
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

const WHYS: Readonly<Record<Verdict, string>> = {
  complete:
    "Two passes over the listing agreed with each other, and with the service’s own count of its items",
  unsettled: "The answers of the service do not agree, so items may be missing or may have changed meanwhile",
  limited: "A first look, which says nothing of other items",
};

function figures({ account, checks, coverage, changed }: OverviewFacts): Overview["figures"] {
  const { mapped, possible } = mappedTotals(coverage);
  const passed = checks.filter(({ verdict }) => verdict === "passed").length;
  // Where no value could be looked at, neither figure is good.
  const none = nothingPossible(coverage);
  return [
    { name: "Items loaded", value: count(account.itemsLoaded), note: itemsNote(account) },
    {
      name: "Values mapped",
      value: none === undefined ? percent(mapped, possible) : "none",
      note:
        none ??
        `${count(mapped)} of ${count(possible)} values of fields with a value mapping, ${AT_RECEIVERS}`,
    },
    {
      name: "Without an external value",
      value: none === undefined ? counted(possible - mapped, "value") : "not known",
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

/** Why there is no value to look at, in a clause; undefined: there is one. */
export function nothingPossible(coverage: Coverage): string | undefined {
  if (mappedTotals(coverage).possible > 0) return undefined;
  return coverage.coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}

function nothing(coverage: Coverage): string {
  const why = nothingPossible(coverage);
  return why === undefined
    ? "Nothing: every check passed, and every value of a field with a value mapping is mapped at each destination that receives values."
    : `Every check passed. Mapped values were not looked at: ${why}.`;
}

/** What sentences name of a list; its section has the others. */
const NAMED = 3;

function runPoints({ account: { itemsRejected: rejected }, checks }: OverviewFacts): Point[] {
  const warnings = checks.filter(({ verdict }) => verdict !== "passed");
  const named = warnings.map(({ check_name, figure }) => `${check_name}: ${count(figure)}`);
  return [
    ...point(
      rejected,
      "run-rejects",
      `${counted(rejected, "item")} ${rejected === 1 ? "was" : "were"} rejected`,
    ),
    ...point(
      warnings.length,
      "run-checks",
      `${counted(warnings.length, "check")} ${warnings.length === 1 ? "warns" : "warn"}`,
      firstOf(named, NAMED),
    ),
  ];
}

/** None where nothing was counted. `id`: address of the section that has all of them. */
function point(number: number, id: string, what: string, more?: string): Point[] {
  return number === 0 ? [] : [{ id, what, more }];
}

const DRIFTS: Readonly<Record<Exclude<DriftPart, "policy">, (fields: string) => string>> = {
  newFields: (fields) => `new ${fields}`,
  vanishedFields: (fields) => `${fields} without values`,
  changedTypes: (fields) => `${fields} of another type`,
  outsideContract: (fields) => `${fields} with values outside the contract`,
  contradictions: (fields) => `${fields} in which answers contradict each other`,
};

/** What is new since the run before; where there is none to compare with, all that departs from the contract. */
function driftPoints({ drift, comparedWith }: OverviewFacts): Point[] {
  return DRIFT_PARTS.filter((part) => part !== "policy").flatMap((part) => {
    const isAll = comparedWith === undefined || part === "vanishedFields";
    const lines = drift[part].filter((line) => isAll || isNew(line));
    const since = comparedWith === undefined ? "" : ` since run ${comparedWith}`;
    const what = `${count(lines.length)} ${DRIFTS[part](lines.length === 1 ? "field" : "fields")}${since}`;
    const named = lines.map(({ path, count: times, items, before }) => {
      const often = items === null ? counted(times, "time") : counted(items, "item");
      return `${path} (${times === 0 ? `had ${counted(before ?? 0, "value")}` : often})`;
    });
    return point(lines.length, `drift-${part}`, what, firstOf(named, NAMED));
  });
}

function mappingPoints({ coverage, unsent }: OverviewFacts): Point[] {
  const { definitions, destinations, values } = coverage;
  const receivers = receiving(destinations);
  const { ambiguous } = sumOf(receivers);
  const lacking = receiving(values).filter(isWithoutExternalValue);
  const collisions = (definitions?.collisions ?? []).filter(({ destination_id }) =>
    receivers.some((each) => each.destination_id === destination_id),
  );
  const lackingNames = lacking.map((row) => {
    const value = JSON.stringify(row.value ?? row.value_id ?? "");
    const where = `${row.custom_field ?? row.custom_field_id} for ${row.destination ?? row.destination_id}`;
    return `${value} of ${where} (${counted(row.items, "item")})`;
  });
  const collisionNames = collisions.map(
    (row) => `${row.external_field_name} at ${row.destination ?? row.destination_id} (${row.custom_fields})`,
  );
  return [
    ...point(
      lacking.length,
      "coverage-without",
      `${counted(lacking.length, "value")} unmapped or unknown`,
      firstOf(lackingNames, NAMED),
    ),
    ...point(
      unsent,
      "items",
      `${counted(unsent, "mapped value")} ${unsent === 1 ? "is" : "are"} not sent`,
      "the entry has no external value, or the mapping names no field at the destination",
    ),
    ...point(
      collisions.length,
      "coverage-collisions",
      `${counted(collisions.length, "external name")} of several fields`,
      firstOf(collisionNames, NAMED),
    ),
    ...point(
      ambiguous,
      "items",
      `${counted(ambiguous, "value")} ${ambiguous === 1 ? "is" : "are"} ambiguous`,
      "several entries, select values or mappings fit, of which the first was used",
    ),
  ];
}
