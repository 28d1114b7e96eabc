/** Shows what a run did, at a glance: first what to look at, in about ten lines. */
import { relative } from "node:path";
import { countWithoutAtReceivers, receivingDestinations } from "../audit/mapping/value-counts.ts";
import { type DriftLine, type DriftPart, isNewDrift } from "../audit/questions/drift.ts";
import { type Answer, FACT_COLUMNS, section } from "../common/answer.ts";
import { count, duration, megabytes, pluralize } from "../common/figures.ts";
import { joinFirst } from "../common/nearest.ts";
import { printable, printableLine } from "../common/printable.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { wrapText } from "../show/terminal.ts";
import { parseRunName } from "../warehouse/layout.ts";

/** `advice` completes the command to type next; `null`: nobody reads it. */
export function summaryAnswer(summary: RunSummary, advice: ((words: string) => string) | null): Answer {
  const { run, sequence, verdict, pipeline, milliseconds, noMappedValues } = summary;
  // Line breaks in foreign texts must not begin a new line of the summary.
  const lines: readonly Line[] = [...linesOf(summary), ["Next", advice?.(nextCommand(summary)) ?? null]];
  const rows = lines.flatMap(([name, ...texts]) =>
    texts.flatMap((text) =>
      typeof text === "string"
        ? { name, text: text.replaceAll(/\s*\n\s*/g, " "), notable: name === LOOK_AT }
        : [],
    ),
  );
  const [word, so] = {
    complete: ["Complete", ""],
    unsettled: ["UNSETTLED", "; published, but not certified; run again later"],
    limited: ["Limited", "; a run without --limit reads all items"],
  }[verdict];
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  const things = thingsToLookAt(summary).length;
  const looks = things === 0 ? "" : `, ${pluralize(things, "thing")} to look at`;
  return {
    lead: `${word}${lacking}${looks}: run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}${so}`,
    isWell: verdict !== "unsettled" && noMappedValues === null,
    facts: { run, sequence, verdict },
    sections: [
      section({
        key: "summary",
        title: "Summary",
        columns: FACT_COLUMNS,
        shows: ["name", "text"],
        rows,
        isLines: true,
      }),
    ],
  };
}

type Line = readonly [name: string, ...texts: (string | null | false)[]];

const LOOK_AT = "Look at";

/** Lines of the summary, the first one included, and the width of their texts on a screen of 100 columns. */
const MOST_LINES = 10;
const TEXT_WIDTH = 87;

/** Texts by name; a name without texts is not shown. */
function linesOf(summary: RunSummary): readonly Line[] {
  const facts = factsOf(summary);
  const lines = facts
    .flatMap(([, ...texts]) => texts.filter((text) => typeof text === "string"))
    .reduce((sum, text) => sum + wrapText(text, TEXT_WIDTH, MOST_LINES).length, 2);
  return [[LOOK_AT, ...firstThings(thingsToLookAt(summary), MOST_LINES - lines)], ...facts];
}

/** As many as fit into the lines. */
function firstThings(things: readonly string[], lines: number): string[] {
  const shown: string[] = [];
  let left = lines;
  for (const thing of things) {
    const isLast = shown.length === things.length - 1;
    const wrapped = wrapText(thing, TEXT_WIDTH, Math.max(1, isLast ? left : left - 1));
    if (shown.length > 0 && left < (isLast ? 1 : 2)) break;
    shown.push(wrapped.join(" "));
    left -= wrapped.length;
  }
  const more = things.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${count(more)} more: content-warehouse runs show`];
}

function factsOf(summary: RunSummary): readonly Line[] {
  return [
    ["Items", itemsText(summary)],
    ["Mapped", mappedText(summary), receptionsText(summary)],
    ["Missing", missingText(summary)],
    ["Fields", fieldsText(summary)],
    ["Known", knownText(summary)],
    ["Published", publishedText(summary)],
  ];
}

/** Why the run is not complete, and new warnings. */
function thingsToLookAt({ reasons, newWarnings }: RunSummary): readonly string[] {
  return [...reasons, ...newWarnings];
}

function sinceText({ comparedWith }: RunSummary): string {
  const sequence = parseRunName(comparedWith ?? "")?.sequence;
  return sequence === undefined ? "" : ` since run ${sequence}`;
}

function itemsText(summary: RunSummary): string {
  const { items, changes, replayOf } = summary;
  const { listed, loaded, rejected, vanished, unread } = items;
  const others = [
    rejected > 0 && `${count(rejected)} rejected: see run_rejects`,
    vanished > 0 && `${count(vanished)} vanished`,
    unread > 0 && `${count(unread)} unread`,
    replayOf !== null && `a replay of ${replayOf}`,
  ].filter((text) => text !== false);
  const became = [loaded === listed ? count(loaded) : `${count(loaded)} of ${count(listed)}`, ...others];
  if (changes === null) return became.join(", ");
  const edited = changes.edited === null ? "" : `, ${count(changes.edited)} edited`;
  return `${became.join(", ")}; ${count(changes.new)} new${edited}, ${count(changes.removed)} removed${sinceText(summary)}`;
}

function mappedText({ mappedChanges, mappedValues }: RunSummary): string | false {
  if (mappedValues === null) return false;
  if (mappedChanges === null) return `${count(mappedValues.mapped)} values`;
  const { changed, lost, gained, largest } = mappedChanges;
  const [most] = largest;
  const where = most && ` (most in ${printableLine(most.field)} at ${printableLine(most.destination)})`;
  return `${pluralize(changed, "item")} sent differently; ${count(lost)} values lost${where ?? ""}, ${count(gained)} gained`;
}

function receptionsText({ mappedChanges }: RunSummary): string | false {
  const texts = (mappedChanges?.receptions ?? []).map(
    ({ destination, receives }) =>
      `${JSON.stringify(printableLine(destination))} ${receives ? "now receives" : "no longer receives"} values`,
  );
  return texts.length > 0 && joinFirst(texts, 2);
}

/** Values without an external value at destinations that receive values. */
function missingText({ mappedValues, missingBefore }: RunSummary): string | false {
  if (mappedValues === null) return false;
  const receivers = receivingDestinations(mappedValues.destinations);
  if (receivers.length === 0 && mappedValues.destinations.length > 0)
    return "no destination receives values: see `destinations` in the configuration";
  const sum = (kind: "unmapped" | "unknown") => receivers.reduce((total, each) => total + each[kind], 0);
  const missing = countWithoutAtReceivers(mappedValues);
  const kinds =
    missing === 0 ? "" : ` (${count(sum("unmapped"))} unmapped, ${count(sum("unknown"))} unknown)`;
  return `${pluralize(missing, "value")}${kinds}${missingBefore === null ? "" : `; ${count(missingBefore)} before`}`;
}

function knownText(summary: RunSummary): string | false {
  const { knownWarnings, drift } = summary;
  const isKnown = (line: DriftLine) => !isTold(summary)(line);
  const known = DRIFT.flatMap(([part]) => drift?.[part] ?? []).filter(isKnown).length;
  const texts = [
    knownWarnings > 0 && pluralize(knownWarnings, "warning"),
    known > 0 && `${pluralize(known, "field")} unlike the specification`,
  ].filter((text) => text !== false);
  return texts.length > 0 && `${texts.join(" and ")}, as before: content-warehouse runs show`;
}

function publishedText({
  bytesPublished,
  unchanged,
  comparedWith,
  report,
  deliveries,
  removedRuns,
}: RunSummary): string {
  const sequence = parseRunName(comparedWith ?? "")?.sequence ?? "before";
  const same = unchanged === null ? "" : ` (${megabytes(unchanged.bytes)} shared with run ${sequence})`;
  const delivered = deliveries.map(({ target, state }) =>
    state === "failed"
      ? `NOT delivered to ${printable(target)}`
      : `${state === "present" ? "already at" : "delivered to"} ${printable(target)}`,
  );
  const removed = removedRuns.length === 0 ? [] : [`${pluralize(removedRuns.length, "old run")} removed`];
  const page = report === null ? [] : [`page: ${nearestPath(report)}`];
  return [`${megabytes(bytesPublished)}${same}`, ...delivered, ...removed, ...page].join(", ");
}

/** Path from the working directory, if the file is below it. */
function nearestPath(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}

/** Departures from the specification, by kind, and how many are named. What the personal-data policy does is none. */
const DRIFT: readonly (readonly [part: Exclude<DriftPart, "policy">, what: string, named: number])[] = [
  ["newFields", "new", 3],
  ["vanishedFields", "vanished", 3],
  ["changedTypes", "of another type", 0],
  ["outsideContract", "with values of another type", 0],
];

/** Whether a departure is told by name: in a first run each, then those since the run before. */
function isTold({ comparedWith }: RunSummary): (line: DriftLine) => boolean {
  return (line) => comparedWith === null || isNewDrift(line) || line.count === 0;
}

function fieldsText(summary: RunSummary): string | false {
  const told = DRIFT.flatMap(([part, what, named]) => {
    const paths = (summary.drift?.[part] ?? []).filter(isTold(summary)).map(({ path }) => path);
    const names = named > 0 ? `: ${joinFirst(paths, named)}` : "";
    return paths.length === 0 ? [] : [`${count(paths.length)} ${what}${names}`];
  });
  return told.length > 0 && told.join("; ");
}

/** The command that shows what is most worth a look. */
function nextCommand(summary: RunSummary): string {
  const { items, mappedValues, mappedChanges, changes, drift, comparedWith } = summary;
  const isDrifting =
    comparedWith !== null && drift !== null && DRIFT.some(([part]) => drift[part].some(isTold(summary)));
  if (mappedChanges !== null && mappedChanges.lost > 0) return "diff --values";
  if (items.rejected > 0) return "runs show --section rejects";
  if (isDrifting) return "runs show --section drift";
  if (mappedValues !== null && countWithoutAtReceivers(mappedValues) > 0) return "audit";
  return mappedValues !== null && changes !== null ? "diff" : 'sql "FROM content LIMIT 5"';
}
