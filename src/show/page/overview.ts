/**
 * The first screen: is this run good, and what is new for who operates it, analyses it or audits it? Its figures are
 * those of the answers below it.
 */
import { DIFFERENT_TIMES, type RunCheck, SAME_TIMES_CHECK } from "../../audit/checks/checks.ts";
import { MAPPED_VALUES_CHECK } from "../../audit/checks/configured-names.ts";
import {
  countWithoutValue,
  kindsText,
  type MappedCounts,
  mappedCounts,
  otherDestinationsTexts,
  RECEPTION_TEXT,
  receivingDestinations,
  sumCounts,
} from "../../audit/mapping/value-counts.ts";
import { type Coverage, mappedTotals } from "../../audit/questions/coverage.ts";
import { DRIFT_PARTS, type DriftPart, type DriftReport, isNewDrift } from "../../audit/questions/drift.ts";
import type { EarlierRuns } from "../../audit/questions/run-history.ts";
import type { RunRow } from "../../audit/questions/run-row.ts";
import { count, percent, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import type { RunChanges } from "./changes.ts";
import { shortName } from "./markup.ts";
import type { Overview, Point, Reader } from "./page.ts";

interface OverviewFacts {
  readonly account: RunRow;
  readonly checks: readonly RunCheck[];
  /** Of the run before; undefined: there is none to compare with. */
  readonly checksBefore: readonly RunCheck[] | undefined;
  readonly coverage: Coverage;
  readonly drift: DriftReport;
  /** Items against the run before; undefined: not compared. */
  readonly changes: Manifest["changes"];
  /** What mapped values and payloads came to since the run before; undefined: nothing tells. */
  readonly changed: RunChanges["compared"];
  readonly earlier: EarlierRuns;
  /** Mapped values that are not sent all the same. */
  readonly unsent: number;
}

export function overviewOf(facts: OverviewFacts): Overview {
  const { account, checks } = facts;
  const { verdict, reason, itemsLoaded, itemsListed } = account;
  const isComplete = verdict === "complete";
  const warned = checks.filter(isWarning);
  const lacking = warned.find(({ check_name }) => check_name === MAPPED_VALUES_CHECK);
  const hasOtherTimes = isComplete && warned.some(({ check_name }) => check_name === SAME_TIMES_CHECK);
  const why = [
    `${count(itemsLoaded)} of ${pluralize(itemsListed, "item")}; ${WHYS[verdict]}${isComplete || reason === null ? "" : `: ${reason}`}.`,
    ...(hasOtherTimes ? [`In this service ${DIFFERENT_TIMES}.`] : []),
    ...(lacking === undefined ? [] : [lacking.detail ?? ""]),
  ];
  return {
    isGood: isComplete && lacking === undefined,
    verdict: `${WORDS[verdict]}${lacking === undefined ? "" : ", without mapped values"}`,
    why: why.join(" "),
    readers: [operator(facts), analyst(facts), auditor(facts)],
  };
}

const WORDS: Readonly<Record<Verdict, string>> = {
  complete: "Complete",
  unsettled: "Unsettled",
  limited: "Limited",
};

const WHYS: Readonly<Record<Verdict, string>> = {
  complete: "two passes and the service’s own count agree",
  unsettled: "the answers of the service do not agree, so items may be missing or may have changed meanwhile",
  limited: "a first look, which says nothing of other items",
};

/** What sentences name of a list; its section has the others. */
const NAMED = 3;

function isWarning({ verdict }: RunCheck): boolean {
  return verdict !== "passed";
}

/** What is new: failed checks, rejects, drift. Warnings that the run before had too are a count. */
function operator({ account, checks, checksBefore, drift, earlier }: OverviewFacts): Reader {
  const { itemsRejected, itemsRemoved, itemsUnread } = account;
  const known = new Set(checksBefore?.filter(isWarning).map(({ check_name }) => check_name));
  const warned = checks.filter(isWarning);
  const fresh = warned.filter(({ check_name }) => !known.has(check_name));
  const named = fresh.map(({ check_name, figure }) => `${check_name}: ${count(figure)}`);
  const isFirst = checksBefore === undefined;
  const newIn = (part: DriftPart) =>
    drift[part].filter((line) => isFirst || part === "vanishedFields" || isNewDrift(line));
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
      ...lineOf(itemsRemoved, "run-passes", `${count(itemsRemoved)} gone since listed`),
      ...lineOf(itemsUnread, "run-passes", `${count(itemsUnread)} listed too late to be read`),
      { id: "drift-newFields", what: pluralize(newIn("newFields").length, "new field") },
    ],
    lines: [
      ...lineOf(fresh.length, "run-checks", isFirst ? "Warnings" : "New warnings", joinFirst(named, NAMED)),
      ...DRIFT_PARTS.filter((part) => part !== "policy").flatMap((part) => {
        const lines = newIn(part).map(({ path, count: times, items, before }) => {
          const often = items === null ? pluralize(times, "time") : pluralize(items, "item");
          return `${path} (${times === 0 ? `had ${pluralize(before ?? 0, "value")}` : often})`;
        });
        const since = earlier.before === undefined ? "" : ` since run ${earlier.before.sequence}`;
        const what = `${pluralize(lines.length, "field")} ${DRIFTS[part]}${since}`;
        return lineOf(lines.length, `drift-${part}`, what, joinFirst(lines, NAMED));
      }),
    ],
  };
}

/** None where nothing was counted. `id`: address of the section that has all of them. */
function lineOf(number: number, id: string, what: string, more = ""): Point[] {
  return number === 0 ? [] : [{ id, what, more }];
}

const DRIFTS: Readonly<Record<Exclude<DriftPart, "policy">, string>> = {
  newFields: "not in the specification",
  vanishedFields: "without values",
  changedTypes: "of another type",
  outsideContract: "with values outside the contract",
  contradictions: "in which answers contradict each other",
};

/** Nights of the line, this one included. */
const NIGHTS = 14;
const BARS = "▁▂▃▄▅▆▇█";

/** Items that are new, edited or removed, in this night and in those before it. */
function analyst({ account, changes, earlier }: OverviewFacts): Reader {
  const name = "Analyst";
  if (changes === undefined) {
    const more = earlier.previous === null ? "the first run" : "not compared with the run before";
    return {
      name,
      figures: [{ id: "items", what: pluralize(account.itemsLoaded, "item"), more }],
      lines: [],
    };
  }
  const nights = [changes, ...earlier.listed].slice(0, NIGHTS).flatMap((night) => {
    const { new: added, edited, removed } = night;
    return added === null || removed === null ? [] : [added + (edited ?? 0) + removed];
  });
  const most = Math.max(1, ...nights);
  const bars = nights.map((items) => BARS[Math.ceil((items / most) * (BARS.length - 1))]).reverse();
  const { new: added, edited, removed } = changes;
  const id = "changes-content";
  const figures = [
    { id, what: `${pluralize(added, "item")} new` },
    ...(edited === null ? [] : [{ id, what: `${count(edited)} edited` }]),
    { id, what: `${count(removed)} removed` },
    ...lineOf(
      nights.length - 1,
      "runs",
      bars.join(""),
      `in the last ${nights.length} nights, up to ${pluralize(most, "item")}`,
    ),
  ];
  return { name, figures, lines: [] };
}

/** Destinations that the screen has room for. */
const SHOWN = 5;

/** Of each destination that receives values, the share that is mapped, now and before; the largest changes; what is wanting. */
function auditor({ coverage, changed, earlier, unsent }: OverviewFacts): Reader {
  const counts = mappedCounts(coverage.destinations);
  const nothing = nothingPossible(coverage);
  const shares = sharesOf(counts, earlier.before?.manifest.mappedValues);
  const others = Math.max(0, shares.length - SHOWN);
  return {
    name: "Auditor",
    figures: [
      ...(nothing === undefined ? [] : [{ id: "coverage", what: "No value to look at", more: nothing }]),
      ...shares.slice(0, SHOWN),
      ...lineOf(others, "coverage-destinations", pluralize(others, "more destination")),
    ],
    lines: [
      ...(changed === undefined ? [] : [changedLine(changed), ...changed.largest]),
      ...(nothing === undefined ? wanting(coverage, counts, unsent) : []),
    ],
  };
}

/** Destinations that receive values, and those that did in the run before. */
function sharesOf({ destinations }: MappedCounts, before: MappedCounts | undefined): Point[] {
  const id = "coverage-destinations";
  const shareIn = (counts: Pick<MappedCounts, "destinations"> | undefined, destination: string) => {
    const [each] = receivingDestinations(counts?.destinations ?? []).filter(
      (other) => other.id === destination,
    );
    const possible = each === undefined ? 0 : each.mapped + countWithoutValue(each);
    return each === undefined || possible === 0 ? undefined : percent(each.mapped, possible);
  };
  return destinations.flatMap((each): Point[] => {
    const name = shortName(each.name ?? each.id);
    const [now, then] = [shareIn({ destinations }, each.id), shareIn(before, each.id)];
    const gone = { id, what: `${name} receives values no longer`, more: RECEPTION_TEXT[each.reception] };
    if (now === undefined) return then === undefined ? [] : [gone];
    const more = before === undefined ? "" : then === undefined ? "receives values now" : `was ${then}`;
    return [{ id, what: `${now} mapped at ${name}`, more }];
  });
}

/** Items whose mapped values changed, and those of them of which a destination gets something else. */
function changedLine({ items, payloads, payloadItems }: NonNullable<RunChanges["compared"]>): Point {
  const differing = `payloads that differ: ${count(payloads)}, of ${pluralize(payloadItems, "item")}`;
  return { id: "changes", what: `${pluralize(items, "item")} whose mapped values changed`, more: differing };
}

/** Why there is no value to look at, in a clause; undefined: there is one. */
export function nothingPossible(coverage: Coverage): string | undefined {
  if (mappedTotals(coverage).possible > 0) return undefined;
  return coverage.coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}

/** What destinations that receive values do not get, or get in doubt; of the others, how many values are without. */
function wanting({ definitions, destinations }: Coverage, counts: MappedCounts, unsent: number): Point[] {
  const receivers = receivingDestinations(destinations);
  const { unmapped, unknown_value: unknown, ambiguous } = sumCounts(receivers);
  const collisions = (definitions?.collisions ?? [])
    .filter(({ destination_id }) => receivers.some((each) => each.destination_id === destination_id))
    .map(({ external_field_name: name, destination, destination_id, custom_fields }) => {
      const [at, fields] = [destination ?? destination_id, custom_fields].map(shortName);
      return `${shortName(name ?? "")} at ${at} (${fields})`;
    });
  const apart = otherDestinationsTexts(counts);
  const also = apart.length === 0 ? "" : `; also ${joinFirst(apart, 2)}`;
  return [
    {
      id: "coverage-without",
      what: `${pluralize(unmapped + unknown, "value")} without an external value`,
      more: `${kindsText({ unmapped, unknown })}${also}`,
    },
    ...lineOf(unsent, "items", `${pluralize(unsent, "mapped value")} not sent`, "no external value or name"),
    ...lineOf(
      collisions.length,
      "coverage-collisions",
      `${pluralize(collisions.length, "external name")} of several fields`,
      joinFirst(collisions, 1),
    ),
    ...lineOf(ambiguous, "items", pluralize(ambiguous, "ambiguous value"), "several fit; the first was used"),
  ];
}
