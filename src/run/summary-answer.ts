/** Shows what a run did, at a glance. */
import { relative } from "node:path";
import { DIFFERENT_TIMES, isOfMostItems } from "../audit/checks/checks.ts";
import { countWithoutAtReceivers, valuesText } from "../audit/mapping/value-counts.ts";
import { type DriftLine, type DriftPart, isNewDrift } from "../audit/questions/drift.ts";
import { type Answer, FACT_COLUMNS, section } from "../common/answer.ts";
import { count, duration, megabytes, pluralize } from "../common/figures.ts";
import { joinFirst } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { isRunTable } from "../tables/all.ts";

export function summaryAnswer(summary: RunSummary): Answer {
  const { run, sequence, verdict, pipeline, milliseconds, noMappedValues } = summary;
  // Line breaks in foreign texts must not begin a new line of the summary.
  const rows = linesOf(summary).flatMap(([name, ...texts]) =>
    texts.flatMap((text) =>
      typeof text === "string"
        ? {
            name,
            text: text.replaceAll(/\s*\n\s*/g, " "),
            notable: ["Unsettled", "Limited", "Rejected", "Warning"].includes(name),
          }
        : [],
    ),
  );
  const [word, so] = {
    complete: ["Complete", ""],
    unsettled: ["UNSETTLED", "; published, but not certified; run again later"],
    limited: ["Limited", "; a run without --limit reads all items"],
  }[verdict];
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  return {
    lead: `${word}${lacking}: run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}${so}`,
    isWell: verdict !== "unsettled" && noMappedValues === null,
    facts: { run, sequence, verdict },
    sections: [section({ key: "summary", title: "Summary", columns: FACT_COLUMNS, rows, isLines: true })],
  };
}

type Line = readonly [name: string, ...texts: (string | null | false)[]];

/** Texts by name; a name without texts is not shown. */
function linesOf(summary: RunSummary): readonly Line[] {
  const { items, found, verdict, replayOf, deliveries, removedRuns, mappedValues, resumed } = summary;
  const { requests, singleItems, throttled, outages } = found;
  const { rejected } = items;
  const delivered = deliveries.filter(({ state }) => state !== "failed").map(deliveryText);
  const failed = deliveries.filter(({ state }) => state === "failed").map(({ target }) => printable(target));
  const received = `${count(requests.count)}, ${megabytes(requests.bytes)} received`;
  const limited =
    throttled?.ratePerSecond && `limited to about ${throttled.ratePerSecond} requests a second; `;
  const refused = throttled && `the service refused ${pluralize(throttled.refused, "request")}`;
  const singly = resumed?.items ? ` and ${pluralize(resumed.items, "single item")}` : "";
  const reused =
    singleItems.reused > 0 &&
    `${pluralize(singleItems.reused, "unchanged single item")}; ${count(singleItems.requested)} requested`;
  return [
    ["Items", itemsText(summary)],
    ["Values", mappedValues && valuesText(mappedValues)],
    ["Evidence", evidenceText(summary)],
    ["Rows", rowsText(summary)],
    ["Requests", replayOf === null && received],
    ["Reused", replayOf === null && reused],
    ["Throttled", refused && `${limited ?? ""}${refused}; \`ratePerSecond\` sets an upper bound`],
    ["Outages", outages && `${count(outages.count)}; the run waited ${duration(outages.seconds)} in all`],
    ["Resumed", resumed && `${pluralize(resumed.pages, "page")}${singly} from the interrupted run`],
    ["Replay of", replayOf],
    ["Published", publishedText(summary)],
    ["Report", summary.report],
    [verdict === "limited" ? "Limited" : "Unsettled", ...summary.reasons],
    [
      "Rejected",
      rejected > 0 &&
        `${pluralize(rejected, "listed document")}: see run_rejects, with a row for each reading that failed`,
    ],
    ["Differing", contradictionText(summary)],
    ["Drift", ...driftTexts(summary)],
    ["Checks", checksText(summary)],
    ["Delivered", delivered.length > 0 && delivered.join(", ")],
    ["Warning", failed.length > 0 && `NOT delivered to ${failed.join(", ")}`],
    ["Removed", removedRuns.length > 0 && pluralize(removedRuns.length, "old run")],
    ["Warning", ...summary.warnings],
    ["Next", nextCommand(summary)],
  ];
}

function deliveryText({ target, state, milliseconds }: RunSummary["deliveries"][number]): string {
  return state === "present"
    ? `${target} already had it`
    : `to ${target} in ${duration(milliseconds / 1000)}`;
}

function itemsText({ items, changes, comparedWith }: RunSummary): string {
  const { listed, loaded, rejected, vanished, unread } = items;
  const gone = vanished > 0 ? `, ${count(vanished)} vanished` : "";
  const left = unread > 0 ? `, ${count(unread)} unread` : "";
  const became = `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected${gone}${left}`;
  if (changes === null) return became;
  const edited = changes.edited === null ? "" : `, ${count(changes.edited)} edited`;
  return `${became}; ${count(changes.new)} new${edited}, ${count(changes.removed)} removed since ${comparedWith}`;
}

function publishedText({ directory, bytesPublished, filesPublished, unchanged }: RunSummary): string {
  const size = megabytes(bytesPublished);
  if (unchanged === null) return `${directory} (${size})`;
  const { files, bytes } = unchanged;
  return `${directory} (${size}; ${count(files)} of ${pluralize(filesPublished, "file")}, ${megabytes(bytes)}, as in the run before)`;
}

/** Fields in which documents of an item contradict each other, unless they make the run unsettled. */
function contradictionText({ drift, found: { modesDiffer }, items: { loaded } }: RunSummary): string | false {
  const lines = (drift?.contradictions ?? []).filter(
    ({ count: times, kind, path }) =>
      times > 0 &&
      (kind === "views_differ" || isOfMostItems(times, loaded)) &&
      !(modesDiffer && path === "content.updated_at"),
  );
  const named = lines.map(({ path, count: times }) => `${path} (${count(times)})`);
  const fields = `${pluralize(lines.length, "field")}: ${joinFirst(named, NAMED)}`;
  return (
    lines.length > 0 && `answers for one item contradict each other in ${fields}; the later answer counts`
  );
}

function evidenceText({ verdict, found: { passes, modesDiffer }, items }: RunSummary): string {
  const complete = verdict === "complete";
  const agree = {
    complete: passes.length > 2 ? `of ${passes.length} passes the last two agree` : "two passes agree",
    unsettled: "the answers do not agree",
    limited: "not certified",
  }[verdict];
  const told = complete ? passes.slice(-2) : passes;
  const seen = told.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
  const times = complete && modesDiffer ? `; ${DIFFERENT_TIMES}` : "";
  return `${agree}: ${seen}; the service counts ${count(items.counted)}${times}`;
}

function rowsText({ rows }: RunSummary): string {
  const data = Object.entries(rows)
    .filter(([table]) => !isRunTable(table))
    .toSorted(([, a], [, b]) => b - a);
  const total = data.reduce((sum, [, number]) => sum + number, 0);
  const named = data.slice(0, 3).map(([table, number]) => `${table} ${count(number)}`);
  return `${count(total)} in ${pluralize(data.length, "table")} of data; most in ${named.join(", ")}`;
}

function checksText({ checks: { passed, warnings } }: RunSummary): string {
  if (warnings.length === 0) return `all ${pluralize(passed, "check")} passed`;
  const named = warnings.map(({ name, figure }) => `${name}: ${count(figure)}`);
  return `${count(passed)} passed, ${pluralize(warnings.length, "warning")}: ${joinFirst(named, 3)}`;
}

/** Largest number of fields named in a line. */
const NAMED = 5;

/** Departures from the specification, by kind. What the personal-data policy does is none. */
const DRIFT: readonly (readonly [part: Exclude<DriftPart, "policy">, one: string, several: string])[] = [
  ["newFields", "new field", "new fields"],
  ["vanishedFields", "vanished field", "vanished fields"],
  ["changedTypes", "changed type", "changed types"],
  ["outsideContract", "field with values outside the contract", "fields with values outside the contract"],
];

/** Whether a departure is told by name: in a first run each, then those since the run before. */
function isTold({ comparedWith }: RunSummary): (line: DriftLine) => boolean {
  return (line) => comparedWith === null || isNewDrift(line) || line.count === 0;
}

/** Departures by name, those that were known before as a figure. */
function driftTexts(summary: RunSummary): string[] {
  const { drift } = summary;
  if (drift === null) return [];
  const told = DRIFT.flatMap(([part, one, several]) => {
    const paths = drift[part].filter(isTold(summary)).map(({ path }) => path);
    const what = paths.length === 1 ? one : several;
    return paths.length === 0 ? [] : [`${count(paths.length)} ${what}: ${joinFirst(paths, NAMED)}`];
  });
  const all = DRIFT.flatMap(([part]) => drift[part]);
  const known = all.length - all.filter(isTold(summary)).length;
  const lists = '"content-warehouse runs show --section drift" lists them';
  return known === 0 ? told : [...told, `${count(known)} known before; ${lists}`];
}

/** The command that shows what is most worth a look. A limited run needs `--warehouse`. */
function nextCommand(summary: RunSummary): string {
  const { verdict, warehouse, items, mappedValues, changes, drift, comparedWith } = summary;
  const isDrifting =
    comparedWith !== null && drift !== null && DRIFT.some(([part]) => drift[part].some(isTold(summary)));
  const place = verdict === "limited" ? ` --warehouse ${relative("", warehouse) || "."}` : "";
  const command = () => {
    if (items.rejected > 0) return "runs show --section rejects";
    if (isDrifting) return "runs show --section drift";
    if (mappedValues !== null && countWithoutAtReceivers(mappedValues) > 0) return "audit";
    return mappedValues !== null && changes !== null ? "diff" : 'sql "FROM content LIMIT 5"';
  };
  return `content-warehouse ${command()}${place}`;
}
