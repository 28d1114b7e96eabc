/** Shows what a run did, at a glance: first what to look at, in about ten lines. */
import { basename, join, relative } from "node:path";
import { isOfMostItems } from "../audit/checks/checks.ts";
import {
  countWithoutAtReceivers,
  countWithoutValue,
  kindsText,
  receivingDestinations,
  sumReceivers,
} from "../audit/mapping/value-counts.ts";
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
    unsettled: ["UNSETTLED", "; run again later"],
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
const KNOWN = "Known";

/** Lines of the summary, the first one included, and the width of their texts on a screen of 100 columns. */
const MOST_LINES = 10;
const TEXT_WIDTH = 87;

/** Texts by name; a name without texts is not shown. What was known before gives way to what to look at. */
function linesOf(summary: RunSummary): readonly Line[] {
  const things = thingsToLookAt(summary);
  const facts = factsOf(summary);
  const isShort = things.length > 0 && linesLeft(facts) < 2;
  const shown = isShort ? facts.filter(([name]) => name !== KNOWN) : facts;
  return [[LOOK_AT, ...fitThings(things, Math.max(2, linesLeft(shown)))], ...shown];
}

/** Lines besides these, the first one and the next command. */
function linesLeft(facts: readonly Line[]): number {
  const texts = facts.flatMap(([, ...some]) => some.filter((text) => typeof text === "string"));
  return MOST_LINES - 2 - texts.flatMap((text) => wrapText(text, TEXT_WIDTH, MOST_LINES)).length;
}

/** All things if they fit into the lines, else the first sentences of the first. */
function fitThings(things: readonly string[], lines: number): readonly string[] {
  if (things.flatMap((thing) => wrapText(thing, TEXT_WIDTH, lines + 1)).length <= lines) return things;
  const shown = things.slice(0, things.length > lines ? lines - 1 : lines);
  const each = Math.floor(lines / things.length) || 1;
  const begun = shown.map((thing) => wrapText(thing.split(/(?<=\.) /)[0] ?? "", TEXT_WIDTH, each).join(" "));
  const more = things.length - shown.length;
  return more === 0 ? begun : [...begun, `and ${count(more)} more: see \`runs show\``];
}

function factsOf(summary: RunSummary): readonly Line[] {
  return [
    ["Items", itemsText(summary)],
    ["Mapped", mappedText(summary), receptionsText(summary)],
    ["Missing", missingText(summary)],
    ["Fields", driftOf(summary).told.join("; ") || null],
    [KNOWN, knownText(summary)],
    ["Published", publishedText(summary)],
  ];
}

/** Why the run is unsettled, and new warnings. */
export function thingsToLookAt({ verdict, reasons, newWarnings }: RunSummary): readonly string[] {
  return verdict === "unsettled" ? [reasons.join("; "), ...newWarnings] : newWarnings;
}

function sinceText({ comparedWith }: RunSummary): string {
  const sequence = parseRunName(comparedWith ?? "")?.sequence;
  return sequence === undefined ? "" : ` since run ${sequence}`;
}

function itemsText(summary: RunSummary): string {
  const { items, changes, replayOf, verdict } = summary;
  const { loaded, rejected, vanished, unread } = items;
  const all = verdict === "limited" ? items.counted : items.listed;
  const others = [
    rejected > 0 && `${count(rejected)} rejected: see run_rejects`,
    vanished > 0 && `${count(vanished)} vanished`,
    unread > 0 && `${count(unread)} unread`,
    replayOf !== null && `a replay of ${replayOf}`,
  ].filter((text) => text !== false);
  const became = [loaded === all ? count(loaded) : `${count(loaded)} of ${count(all)}`, ...others];
  if (changes === null) return became.join(", ");
  const edited = changes.edited === null ? "" : `, ${count(changes.edited)} edited`;
  return `${became.join(", ")}; ${count(changes.new)} new${edited}, ${count(changes.removed)} removed${sinceText(summary)}`;
}

function mappedText({ mappedChanges, mappedValues }: RunSummary): string | false {
  if (mappedValues === null) return false;
  const { mapped } = sumReceivers(mappedValues);
  if (mappedChanges === null) return pluralize(mapped, "value");
  const { changed, lost, gained } = mappedChanges;
  return `${pluralize(mapped, "value")}: ${count(lost)} lost, ${count(gained)} gained; ${pluralize(changed, "item")} sent differently`;
}

function receptionsText({ mappedChanges }: RunSummary): string | false {
  const texts = (mappedChanges?.receptions ?? []).map(
    ({ destination, receives }) =>
      `${JSON.stringify(printableLine(destination))} ${receives ? "now receives" : "no longer receives"} values`,
  );
  return texts.length > 0 && joinFirst(texts, 2);
}

/** Missing values at destinations that receive values. */
function missingText({ mappedValues, missingBefore }: RunSummary): string | false {
  if (mappedValues === null) return false;
  const { destinations } = mappedValues;
  if (destinations.length > 0 && receivingDestinations(destinations).length === 0)
    return "no destination receives values: see `destinations` in the configuration";
  const received = sumReceivers(mappedValues);
  const missing = countWithoutValue(received);
  const kinds = missing === 0 ? "" : ` (${kindsText(received)})`;
  return `${pluralize(missing, "value")}${kinds}${missingBefore === null ? "" : `; ${count(missingBefore)} before`}`;
}

function publishedText(summary: RunSummary): string {
  const { bytesPublished, unchanged, comparedWith, warehouse, report, deliveries } = summary;
  const sequence = parseRunName(comparedWith ?? "")?.sequence ?? "before";
  const same = unchanged === null ? "" : ` (${megabytes(unchanged.bytes)} shared with run ${sequence})`;
  const delivered = deliveries.map(({ target, state }) =>
    state === "failed"
      ? `NOT delivered to ${printable(target)}`
      : `${state === "present" ? "already at" : "delivered to"} ${printable(target)}`,
  );
  const page = report === null ? [] : [`page: ${nearestPath(join(warehouse, "current", basename(report)))}`];
  return [`${megabytes(bytesPublished)}${same}`, ...delivered, ...page].join(", ");
}

/** Path from the working directory, if the file is below it. */
function nearestPath(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}

/** Departures from the specification, by kind, and how many are named. What the personal-data policy does is none. */
const DRIFT: readonly (readonly [part: Exclude<DriftPart, "policy">, what: string, named: number])[] = [
  ["newFields", "new", 2],
  ["vanishedFields", "vanished", 2],
  ["changedTypes", "of another type", 0],
  ["outsideContract", "with values of another type", 0],
  ["contradictions", "in which answers for one item contradict each other", 3],
];

/** Departures that are told (in a first run all, then those since the run before), and how many are known. */
function driftOf({ drift, comparedWith, found: { modesDiffer }, items: { loaded } }: RunSummary) {
  const isNew = (line: DriftLine) => comparedWith === null || isNewDrift(line) || line.count === 0;
  // Other contradictions make the run unsettled.
  const counts = ({ kind, count: times, path }: DriftLine) =>
    kind === "versions_differ"
      ? isOfMostItems(times, loaded)
      : !(kind === "views_differ" && modesDiffer && path === "content.updated_at");
  const parts = DRIFT.map(([part, ...words]) => ({ words, lines: (drift?.[part] ?? []).filter(counts) }));
  const told = parts.flatMap(({ words: [what, named], lines }) => {
    const paths = lines.filter(isNew).map(({ path }) => path);
    const names = named === 0 ? "" : `: ${joinFirst(paths, named)}`;
    return paths.length === 0 ? [] : [`${count(paths.length)} ${what}${names}`];
  });
  return { told, known: parts.flatMap(({ lines }) => lines.filter((line) => !isNew(line))).length };
}

function knownText(summary: RunSummary): string | false {
  const { knownWarnings } = summary;
  const { known } = driftOf(summary);
  const texts = [
    knownWarnings > 0 && pluralize(knownWarnings, "warning"),
    known > 0 && `drift in ${pluralize(known, "field")}`,
  ].filter((text) => text !== false);
  return texts.length > 0 && `${texts.join(", ")}: see \`runs show\``;
}

/** The command that shows what is most worth a look. */
function nextCommand(summary: RunSummary): string {
  const { items, mappedValues, mappedChanges, changes, comparedWith } = summary;
  if (mappedChanges !== null && mappedChanges.lost > 0) return "diff --values";
  if (items.rejected > 0) return "runs show --section rejects";
  if (comparedWith !== null && driftOf(summary).told.length > 0) return "runs show --section drift";
  if (mappedValues !== null && countWithoutAtReceivers(mappedValues) > 0) return "audit";
  return mappedValues !== null && changes !== null ? "diff" : 'sql "FROM content LIMIT 5"';
}
