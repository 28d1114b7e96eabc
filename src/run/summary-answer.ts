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
  const { run, sequence, verdict, noMappedValues } = summary;
  // Line breaks in foreign texts must not begin a new line of the summary.
  const rows = linesOf(summary).flatMap(([name, ...texts]) =>
    texts.map((text) => ({
      name,
      text: text.replaceAll(/\s*\n\s*/g, " "),
      notable: ["Unsettled", "Limited", "Rejected", "Warning"].includes(name),
    })),
  );
  return {
    lead: headline(summary),
    isWell: verdict !== "unsettled" && noMappedValues === null,
    facts: { run, sequence, verdict },
    sections: [section({ key: "summary", title: "Summary", columns: FACT_COLUMNS, rows, isLines: true })],
  };
}

function headline({ verdict, run, pipeline, milliseconds, noMappedValues }: RunSummary): string {
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  const [word, so] = {
    complete: ["Complete", ""],
    unsettled: ["UNSETTLED", "; published, but two passes do not agree; run again later"],
    limited: ["Limited", "; a run without --limit reads all items"],
  }[verdict];
  return `${word}${lacking}: run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}${so}`;
}

/** Texts by name; a name without texts is not shown. */
function linesOf(summary: RunSummary): readonly (readonly [name: string, ...texts: string[]])[] {
  const { accounting, verdict, replayOf, requests, bytesReceived, deliveries, removedRuns } = summary;
  const delivered = deliveries.filter(({ state }) => state !== "failed").map(deliveryText);
  const failed = deliveries.filter(({ state }) => state === "failed").map(({ target }) => printable(target));
  const isRead = replayOf === null;
  return [
    ["Items", itemsText(summary)],
    ["Values", ...ifAny(summary.mappedValues, valuesText)],
    ["Evidence", evidenceText(summary)],
    ["Rows", rowsText(summary)],
    ["Requests", ...ifAny(isRead, () => `${count(requests)}, ${megabytes(bytesReceived)} received`)],
    [
      "Reused",
      ...ifAny(
        isRead && summary.reused,
        ({ reused, read }) => `${pluralize(reused, "unchanged single item")}; ${count(read)} requested`,
      ),
    ],
    [
      "Throttled",
      ...ifAny(summary.throttled, ({ ratePerSecond, refused }) => {
        const rate = ratePerSecond === null ? "" : `limited to about ${ratePerSecond} requests a second; `;
        return `${rate}the service refused ${pluralize(refused, "request")}; \`ratePerSecond\` sets an upper bound`;
      }),
    ],
    [
      "Outages",
      ...ifAny(
        summary.outages,
        (outages) => `${count(outages.count)}; the run waited ${duration(outages.seconds)} in all`,
      ),
    ],
    [
      "Resumed",
      ...ifAny(summary.resumed, ({ pages, items }) => {
        const singly = items === 0 ? "" : ` and ${pluralize(items, "single item")}`;
        return `${pluralize(pages, "page")}${singly} from the interrupted run`;
      }),
    ],
    ["Replay of", ...ifAny(replayOf, (run) => run)],
    ["Published", publishedText(summary)],
    ["Report", ...ifAny(summary.report, (path) => path)],
    [verdict === "limited" ? "Limited" : "Unsettled", ...summary.reasons],
    [
      "Rejected",
      ...ifAny(
        accounting.rejected,
        (rejected) =>
          `${pluralize(rejected, "listed document")}: see run_rejects, with a row for each reading that failed`,
      ),
    ],
    ["Differing", ...contradictionTexts(summary)],
    ["Drift", ...driftTexts(summary)],
    ["Checks", checksText(summary)],
    ["Delivered", ...ifAny(delivered.join(", "), (text) => text)],
    ["Warning", ...ifAny(failed.join(", "), (names) => `NOT delivered to ${names}`)],
    ["Removed", ...ifAny(removedRuns.length, (runs) => pluralize(runs, "old run"))],
    ["Warning", ...summary.warnings],
    ["Next", nextCommand(summary)],
  ];
}

function ifAny<Value>(value: Value | null | false, text: (value: Value) => string): string[] {
  return value ? [text(value)] : [];
}

function deliveryText({ target, state, milliseconds }: RunSummary["deliveries"][number]): string {
  return state === "present"
    ? `${target} already had it`
    : `to ${target} in ${duration(milliseconds / 1000)}`;
}

function itemsText({ accounting, changes, previousRun }: RunSummary): string {
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const became = [
    `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected`,
    ...ifAny(vanished, (items) => `${count(items)} vanished`),
    ...ifAny(unread, (items) => `${count(items)} unread`),
  ].join(", ");
  if (changes === null) return became;
  const edited = changes.edited === null ? "" : `, ${count(changes.edited)} edited`;
  return `${became}; ${count(changes.new)} new${edited}, ${count(changes.removed)} removed since ${previousRun}`;
}

function publishedText({ directory, bytesPublished, filesPublished, unchanged }: RunSummary): string {
  const size = megabytes(bytesPublished);
  if (unchanged === null) return `${directory} (${size})`;
  const { files, bytes } = unchanged;
  return `${directory} (${size}; ${count(files)} of ${pluralize(filesPublished, "file")}, ${megabytes(bytes)}, as in the run before)`;
}

/**
 * Fields in which documents of an item contradict each other. Fields that make the run unsettled are reasons instead.
 */
function contradictionTexts({ drift, modesDiffer, accounting: { loaded } }: RunSummary): string[] {
  const isExpected = ({ path }: DriftLine) => modesDiffer && path === "content.updated_at";
  const lines = (drift?.contradictions ?? []).filter(
    (line) =>
      line.count > 0 &&
      (line.kind === "views_differ" || isOfMostItems(line.count, loaded)) &&
      !isExpected(line),
  );
  if (lines.length === 0) return [];
  const named = lines.map(({ path, count: times }) => `${path} (${count(times)})`);
  return [
    `answers for one item contradict each other in ${pluralize(lines.length, "field")}: ${joinFirst(named, NAMED)}; the later answer counts`,
  ];
}

function evidenceText({ verdict, passes, accounting, modesDiffer }: RunSummary): string {
  const complete = verdict === "complete";
  const two = passes.length > 2 ? `of ${passes.length} passes the last two agree` : "two passes agree";
  const agree = {
    complete: two,
    unsettled: "the answers do not agree",
    limited: "not certified",
  }[verdict];
  const told = complete ? passes.slice(-2) : passes;
  const seen = told.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
  const times = complete && modesDiffer ? `; ${DIFFERENT_TIMES}` : "";
  return `${agree}: ${seen}; the service counts ${count(accounting.counted)}${times}`;
}

function rowsText({ tables }: RunSummary): string {
  const data = tables.filter(({ name }) => !isRunTable(name)).toSorted((a, b) => b.rows - a.rows);
  const total = data.reduce((sum, table) => sum + table.rows, 0);
  const named = data.slice(0, 3).map((table) => `${table.name} ${count(table.rows)}`);
  return `${count(total)} in ${pluralize(data.length, "table")} of data; most in ${named.join(", ")}`;
}

function checksText({ checks: { passed, warnings } }: RunSummary): string {
  if (warnings.length === 0) return `all ${pluralize(passed, "check")} passed`;
  const named = warnings.slice(0, 3).map(({ name, figure }) => `${name}: ${count(figure)}`);
  const more = warnings.length - named.length;
  const rest = more > 0 ? `; and ${count(more)} more, in "content-warehouse runs show current"` : "";
  return `${count(passed)} passed, ${pluralize(warnings.length, "warning")}: ${named.join("; ")}${rest}`;
}

/** Largest number of fields named in a line. */
const NAMED = 5;

/** Departures from the specification, by kind. What the personal-data policy does is none. */
const DRIFT: readonly (readonly [part: DriftPart, one: string, several: string])[] = [
  ["newFields", "new field", "new fields"],
  ["vanishedFields", "vanished field", "vanished fields"],
  ["changedTypes", "changed type", "changed types"],
  ["outsideContract", "field with values outside the contract", "fields with values outside the contract"],
];

/** The field appeared or vanished since the run before. */
function isFresh(line: DriftLine): boolean {
  return isNewDrift(line) || line.count === 0;
}

/** New departures by name, known ones as a figure. */
function driftTexts({ drift, previousRun }: RunSummary): string[] {
  if (drift === null) return [];
  const isTold = previousRun === null ? () => true : isFresh;
  const told = DRIFT.flatMap(([part, one, several]) => {
    const paths = drift[part].filter(isTold).map(({ path }) => path);
    const what = paths.length === 1 ? one : several;
    return ifAny(paths.length, (number) => `${count(number)} ${what}: ${joinFirst(paths, NAMED)}`);
  });
  const known = DRIFT.flatMap(([part]) => drift[part]).filter((line) => !isTold(line)).length;
  const lists = '"content-warehouse runs show --section drift" lists them';
  return [...told, ...ifAny(known, (number) => `${count(number)} known before; ${lists}`)];
}

/** The command that shows what is most worth a look. A limited run needs `--warehouse`. */
function nextCommand(summary: RunSummary): string {
  const { verdict, warehouse, accounting, mappedValues, changes, drift, previousRun } = summary;
  const isFreshDrift = drift !== null && DRIFT.some(([part]) => drift[part].some(isFresh));
  const place = verdict === "limited" ? ` --warehouse ${relative("", warehouse) || "."}` : "";
  const command = () => {
    if (accounting.rejected > 0) return "runs show --section rejects";
    if (previousRun !== null && isFreshDrift) return "runs show --section drift";
    if (mappedValues !== null && countWithoutAtReceivers(mappedValues) > 0) return "audit";
    return mappedValues !== null && changes !== null ? "diff" : 'sql "FROM content LIMIT 5"';
  };
  return `content-warehouse ${command()}${place}`;
}
