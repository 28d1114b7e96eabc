/** Shows what a run did, at a glance. */
import { relative } from "node:path";
import { DIFFERENT_TIMES, isOfMostItems } from "../audit/checks/checks.ts";
import { countWithoutAtReceivers, valuesText } from "../audit/mapping/value-counts.ts";
import { type DriftLine, type DriftPart, isNewDrift } from "../audit/questions/drift.ts";
import { type Answer, FACT_COLUMNS, section } from "../common/answer.ts";
import { count, duration, megabytes, pluralize } from "../common/figures.ts";
import { joinFirst } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { Verdict } from "../common/verdict.ts";
import type { OutageTotals } from "../extract/http/outage.ts";
import type { ThrottleTotals } from "../extract/http/pace.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { isRunTable } from "../tables/all.ts";

const WORTH_A_LOOK: ReadonlySet<string> = new Set(["Unsettled", "Limited", "Rejected", "Warning"]);

export function summaryAnswer(summary: RunSummary): Answer {
  const { run, sequence, verdict, noMappedValues } = summary;
  // Line breaks in foreign texts must not begin a new line of the summary.
  const rows = fieldsOf(summary)
    .filter((field) => field !== false)
    .map(([name, text]) => ({
      name,
      text: text.replaceAll(/\s*\n\s*/g, " "),
      notable: WORTH_A_LOOK.has(name),
    }));
  return {
    lead: headline(summary),
    isWell: verdict !== "unsettled" && noMappedValues === null,
    facts: { run, sequence, verdict },
    sections: [section({ key: "summary", title: "Summary", columns: FACT_COLUMNS, rows, isLines: true })],
  };
}

type SummaryField = readonly [name: string, text: string];

function fieldsOf(summary: RunSummary): (SummaryField | false)[] {
  const { accounting, mappedValues, reasons, removedRuns, warnings, report } = summary;
  const { verdict } = summary;
  const failed = summary.deliveries.flatMap(({ target, failure }) =>
    failure === null ? [] : [`to ${printable(target)}`],
  );
  return [
    ["Items", itemsText(summary)],
    mappedValues !== null && ["Values", valuesText(mappedValues)],
    ["Evidence", evidenceText(summary)],
    ["Rows", rowsText(summary)],
    summary.replayOf === null && [
      "Requests",
      `${count(summary.requests)}, ${megabytes(summary.bytesReceived)} received`,
    ],
    summary.replayOf === null && summary.reused !== null && ["Reused", reuseText(summary.reused)],
    summary.throttled !== null && ["Throttled", throttleText(summary.throttled)],
    summary.outages !== null && ["Outages", outageText(summary.outages)],
    summary.resumed !== null && ["Resumed", resumeText(summary.resumed)],
    summary.replayOf !== null && ["Replay of", summary.replayOf],
    ["Published", publishedText(summary)],
    report !== null && ["Report", report],
    ...reasons.map((reason): SummaryField => [verdict === "limited" ? "Limited" : "Unsettled", reason]),
    accounting.rejected > 0 && [
      "Rejected",
      `${pluralize(accounting.rejected, "listed document")}: see run_rejects, with a row for each reading that failed`,
    ],
    ...contradictionTexts(summary).map((text): SummaryField => ["Differing", text]),
    ...driftTexts(summary).map((text): SummaryField => ["Drift", text]),
    ["Checks", checksText(summary)],
    deliveryText(summary.deliveries) !== "" && ["Delivered", deliveryText(summary.deliveries)],
    failed.length > 0 && ["Warning", `NOT delivered ${failed.join(", ")}: ${deliveryAdvice(summary)}`],
    removedRuns.length > 0 && ["Removed", pluralize(removedRuns.length, "old run")],
    ...warnings.map((warning): SummaryField => ["Warning", warning]),
    ["Next", nextCommand(summary)],
  ];
}

const HEADLINES: Readonly<Record<Verdict, { readonly word: string; readonly so: string }>> = {
  complete: { word: "Complete", so: "" },
  unsettled: { word: "UNSETTLED", so: "; published, but two passes do not agree; run again later" },
  limited: { word: "Limited", so: "; a run without --limit reads all items" },
};

function headline({ verdict, run, pipeline, milliseconds, noMappedValues }: RunSummary): string {
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  const { word, so } = HEADLINES[verdict];
  return `${word}${lacking}: run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}${so}`;
}

function itemsText({ accounting, changes, previousRun }: RunSummary): string {
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const parts = [
    `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected`,
    vanished > 0 && `${count(vanished)} vanished`,
    unread > 0 && `${count(unread)} unread`,
  ];
  const became = parts.filter((part) => part !== false).join(", ");
  if (changes === null) return became;
  const edited = changes.edited === null ? "" : `, ${count(changes.edited)} edited`;
  return `${became}; ${count(changes.new)} new${edited}, ${count(changes.removed)} removed since ${previousRun}`;
}

function throttleText({ ratePerSecond, refused }: ThrottleTotals): string {
  const refusals = `the service refused ${refused === 0 ? "none" : pluralize(refused, "request")}`;
  if (ratePerSecond === null) return `${refusals} for a while; \`ratePerSecond\` sets an upper bound`;
  const before = refused === 0 ? ", as found earlier" : "";
  return `limited to about ${ratePerSecond} requests a second${before}; ${refusals}; the next run starts at that rate, and \`ratePerSecond\` sets an upper bound`;
}

function reuseText({ reused: fromBefore, read }: NonNullable<RunSummary["reused"]>): string {
  return `${pluralize(fromBefore, "unchanged single item")}; ${count(read)} requested`;
}

function publishedText({ directory, bytesPublished, filesPublished, unchanged }: RunSummary): string {
  const size = megabytes(bytesPublished);
  if (unchanged === null) return `${directory} (${size})`;
  const { files, bytes } = unchanged;
  return `${directory} (${size}; ${count(files)} of ${pluralize(filesPublished, "file")}, ${megabytes(bytes)}, as in the run before)`;
}

function outageText({ count: number, seconds }: OutageTotals): string {
  const often = number === 1 ? "once" : pluralize(number, "time");
  return `the service was out ${often}; the run waited ${duration(seconds)} in all`;
}

function resumeText({ pages, items }: NonNullable<RunSummary["resumed"]>): string {
  const singly = items === 0 ? "" : ` and ${pluralize(items, "single item")}`;
  return `${pluralize(pages, "page")}${singly} from the interrupted run`;
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
    `answers for one item contradict each other in ${pluralize(lines.length, "field")}: ${joinFirst(named, FIELDS_NAMED)}; the later answer counts`,
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

const LARGEST = 3;

function rowsText({ tables }: RunSummary): string {
  const data = tables.filter(({ name }) => !isRunTable(name));
  const total = data.reduce((sum, table) => sum + table.rows, 0);
  const largest = data.filter((table) => table.rows > 0).toSorted((a, b) => b.rows - a.rows);
  const named = largest.slice(0, LARGEST).map((table) => `${table.name} ${count(table.rows)}`);
  const most = named.length === 0 ? "" : `; most in ${named.join(", ")}`;
  return `${count(total)} in ${count(data.length)} ${data.length === 1 ? "table" : "tables"} of data${most}`;
}

function deliveryAdvice({ deliveries }: RunSummary): string {
  const failures = deliveries.flatMap(({ failure }) => failure ?? []);
  const isFenced = failures.every(({ code }) => code === "target.fenced");
  return isFenced ? "the message says what to do" : '"content-warehouse deliver" repeats it';
}

function deliveryText(deliveries: RunSummary["deliveries"]): string {
  return deliveries
    .filter(({ state }) => state !== "failed")
    .map(({ target, state, milliseconds }) =>
      state === "present" ? `${target} already had it` : `to ${target} in ${duration(milliseconds / 1000)}`,
    )
    .join(", ");
}

/** Argument of commands that ask the current run by default. */
function runArgument({ run, current }: RunSummary): string {
  return current.run === run ? "" : ` ${run}`;
}

const CHECKS_NAMED = 3;

function checksText(summary: RunSummary): string {
  const { passed, warnings } = summary.checks;
  if (warnings.length === 0) return `all ${pluralize(passed, "check")} passed`;
  const named = warnings.slice(0, CHECKS_NAMED).map(({ name, figure }) => `${name}: ${count(figure)}`);
  const more = warnings.length - named.length;
  const asked = `"content-warehouse runs show${runArgument(summary) || " current"}"`;
  const rest = more > 0 ? `; and ${count(more)} more, in ${asked}` : "";
  return `${count(passed)} passed, ${pluralize(warnings.length, "warning")}: ${named.join("; ")}${rest}`;
}

const FIELDS_NAMED = 5;

/** The field appeared or vanished since the run before. */
function isFresh(line: DriftLine): boolean {
  return isNewDrift(line) || line.count === 0;
}

/** Departures from the specification, by kind. What the personal-data policy does is none. */
const DRIFT: readonly (readonly [
  part: Exclude<DriftPart, "policy" | "contradictions">,
  one: string,
  several: string,
])[] = [
  ["newFields", "new field", "new fields"],
  ["vanishedFields", "vanished field", "vanished fields"],
  ["changedTypes", "changed type", "changed types"],
  ["outsideContract", "field with values outside the contract", "fields with values outside the contract"],
];

/** New departures by name, known ones as a figure. */
function driftTexts(summary: RunSummary): string[] {
  const { drift, previousRun } = summary;
  if (drift === null) return [];
  const isTold = previousRun === null ? () => true : isFresh;
  const told = DRIFT.flatMap(([part, one, several]) => {
    const lines = drift[part].filter(isTold);
    if (lines.length === 0) return [];
    const names = lines.map(({ path }) => path);
    return [
      `${count(lines.length)} ${lines.length === 1 ? one : several}: ${joinFirst(names, FIELDS_NAMED)}`,
    ];
  });
  if (previousRun === null)
    return told.length === 0 ? [] : [`${told.join("; ")}; nothing to compare with yet`];
  const known = DRIFT.flatMap(([part]) => drift[part]).filter((line) => !isFresh(line)).length;
  if (known === 0) return told;
  const them = known === 1 ? "it" : "them";
  return [
    ...told,
    `${count(known)} known before; "content-warehouse runs show${runArgument(summary)} --section drift" lists ${them}`,
  ];
}

/** The command that shows what is most worth a look. A limited run needs `--warehouse`. */
function nextCommand(summary: RunSummary): string {
  const place = summary.verdict === "limited" ? ` --warehouse ${relative("", summary.warehouse) || "."}` : "";
  return `content-warehouse ${chooseNext(summary)}${place}`;
}

function chooseNext(summary: RunSummary): string {
  const { accounting, mappedValues, changes, drift, previousRun } = summary;
  const run = runArgument(summary);
  const sql = run === "" ? "sql" : `sql --run${run}`;
  if (accounting.rejected > 0) return `runs show${run} --section rejects`;
  if (drift !== null && previousRun !== null && DRIFT.some(([part]) => drift[part].some(isFresh)))
    return `runs show${run} --section drift`;
  if (mappedValues !== null && countWithoutAtReceivers(mappedValues) > 0) return `audit${run}`;
  if (mappedValues !== null && changes !== null) return run === "" ? "diff" : `diff ${previousRun}${run}`;
  return `${sql} "FROM content LIMIT 5"`;
}
