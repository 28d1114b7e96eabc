/** What a run did, to be read at a glance. */

import { resolve } from "node:path";
import { count, counted, duration, megabytes } from "../../common/figures.ts";
import type { Throttled } from "../../extract/http/throttle.ts";
import type { Resumed, RunSummary } from "../../run/summary.ts";
import { isAboutTheRun } from "../../tables/all.ts";
import { isUneventful, summaryOfDrift } from "./drift-summary.ts";
import { PLAIN, type Style } from "./style.ts";
import { paragraph, printableLine, printableText } from "./terminal.ts";

/** Where a summary is read. */
export interface SummaryReader {
  /** Of the screen; undefined: no screen, and no line is broken. */
  readonly width: number | undefined;
  readonly style: Style;
  /** Working directory: commands name the warehouse where they would not find it from there. */
  readonly cwd: string;
}

const NO_SCREEN: SummaryReader = { width: undefined, style: PLAIN, cwd: "/" };

/** Its name and what it says: a sentence, which a narrow screen breaks, or lines to copy. */
type Field = readonly [name: string, value: string | readonly string[]];

export function summaryText(summary: RunSummary, reader: SummaryReader = NO_SCREEN): string {
  const { accounting, reasons, removedRuns, warnings, report, namelessDestinations } = summary;
  const fields: (Field | false)[] = [
    ["Items", items(summary)],
    summary.mappedValues !== null && ["Values", mappedValues(summary.mappedValues)],
    ["Evidence", evidence(summary)],
    ["Rows", rows(summary)],
    ["Requests", `${count(summary.requests)}, ${megabytes(summary.bytesReceived)} received`],
    summary.throttled !== null && ["Throttled", throttled(summary.throttled)],
    summary.resumed !== null && ["Resumed", resumed(summary.resumed)],
    ["Published", `${summary.directory} (${megabytes(summary.bytesPublished)})`],
    report !== null && ["Report", report],
    ...reasons.map((reason): Field => ["Unsettled", reason]),
    accounting.rejected > 0 && [
      "Rejected",
      `${counted(accounting.rejected, "listed thing")}: see run_rejects, with a row for each reading that failed`,
    ],
    ...summaryOfDrift(summary).map((text): Field => ["Drift", text]),
    ...checks(summary.checks),
    ...delivered(summary.deliveries),
    removedRuns.length > 0 && ["Removed", counted(removedRuns.length, "old run")],
    ...warnings.map((warning): Field => ["Warning", warning]),
    namelessDestinations.length > 0 && ["To add", linesToAdd(namelessDestinations)],
    ["Next", nextCommand(summary, reader.cwd)],
  ];
  const lines = fields.filter((field) => field !== false).map((field) => fieldText(field, reader));
  return `${headline(summary, reader)}\n${lines.join("")}`;
}

function headline(summary: RunSummary, { width, style }: SummaryReader): string {
  const { verdict, run, pipeline, milliseconds, noMappedValues } = summary;
  const what = `run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}`;
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  const word = `${verdict === "complete" ? "Complete" : "UNSETTLED"}${lacking}`;
  const so = verdict === "complete" ? "" : "; published, but the passes do not agree, so run again";
  const paint = verdict === "complete" && lacking === "" ? style.good : style.poor;
  const text = paragraph("", printableText(`${word}: ${what}${so}`), width);
  return text.startsWith(word) ? paint(word) + text.slice(word.length) : text;
}

const NAME_WIDTH = 10;
const WORTH_A_LOOK: ReadonlySet<string> = new Set(["Unsettled", "Rejected", "Warning", "To add"]);

/** A line break in a text of foreign origin does not begin a field of its own. */
function fieldText([name, value]: Field, { width, style }: SummaryReader): string {
  const lead = `  ${name.padEnd(NAME_WIDTH)} `;
  const text =
    typeof value === "string"
      ? paragraph(lead, printableText(value.replaceAll(/\s*\n\s*/g, " ")), width)
      : value.map((line, index) => `${index === 0 ? lead : " ".repeat(lead.length)}${line}\n`).join("");
  const paint = WORTH_A_LOOK.has(name) ? style.poor : style.faint;
  return `  ${paint(name)}${text.slice(2 + name.length)}`;
}

function items({ accounting, changes, previousRun }: RunSummary): string {
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const parts = [
    `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected`,
    vanished > 0 && `${count(vanished)} vanished`,
    unread > 0 && `${count(unread)} unread`,
  ];
  const became = parts.filter((part) => part !== false).join(", ");
  if (changes === null) return became;
  const changed = changes.changed === null ? "" : `, ${count(changes.changed)} changed`;
  return `${became}; ${count(changes.new)} new${changed}, ${count(changes.removed)} removed since ${previousRun}`;
}

function mappedValues({ mapped, unmapped }: NonNullable<RunSummary["mappedValues"]>): string {
  return `${count(mapped)} mapped, ${count(unmapped)} unmapped`;
}

function throttled({ ratePerSecond, refused }: Throttled): string {
  const refusals = `the service refused ${refused === 0 ? "none" : counted(refused, "request")}`;
  if (ratePerSecond === null) return `${refusals} for a while; \`ratePerSecond\` sets an upper bound`;
  const before = refused === 0 ? ", as found earlier" : "";
  return `held to about ${ratePerSecond} requests a second${before}; ${refusals}; the next run starts at that rate, and \`ratePerSecond\` sets an upper bound`;
}

function resumed({ pages, items }: Resumed): string {
  const singly = items === 0 ? "" : ` and ${counted(items, "single item")}`;
  return `${counted(pages, "page")}${singly} from before the run was ended early`;
}

function evidence({ verdict, passes, accounting }: RunSummary): string {
  const complete = verdict === "complete";
  const two = passes.length > 2 ? `of ${passes.length} passes the last two agree` : "two passes agree";
  const agree = complete ? two : "the passes do not agree";
  const told = complete ? passes.slice(-2) : passes;
  const seen = told.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
  return `${agree}: ${seen}; the service counts ${count(accounting.counted)}`;
}

const LARGEST = 3;

function rows({ tables }: RunSummary): string {
  const data = tables.filter(({ name }) => !isAboutTheRun(name));
  const total = data.reduce((sum, table) => sum + table.rows, 0);
  const largest = data.filter((table) => table.rows > 0).toSorted((a, b) => b.rows - a.rows);
  const named = largest.slice(0, LARGEST).map((table) => `${table.name} ${count(table.rows)}`);
  const most = named.length === 0 ? "" : `; most in ${named.join(", ")}`;
  return `${count(total)} in ${count(data.length)} ${data.length === 1 ? "table" : "tables"} of data${most}`;
}

/** What targets have, and which do not: why, is said beside the summary. */
function delivered(deliveries: RunSummary["deliveries"]): Field[] {
  const texts = deliveries.flatMap(({ target, state, milliseconds }) => {
    if (state === "failed") return [];
    return [state === "present" ? `${target} had it` : `to ${target} in ${duration(milliseconds / 1000)}`];
  });
  const failed = deliveries.flatMap(({ target, state }) => (state === "failed" ? [target] : []));
  return [
    ...(texts.length === 0 ? [] : [["Delivered", texts.join(", ")] as const]),
    ...(failed.length === 0
      ? []
      : [
          [
            "Warning",
            `NOT delivered to ${failed.join(", ")}: "content-warehouse deliver" repeats it`,
          ] as const,
        ]),
  ];
}

const CHECKS_NAMED = 3;

/** Those that warn, the first few by name. */
function checks({ passed, warnings }: RunSummary["checks"]): Field[] {
  if (warnings.length === 0) return [["Checks", `all ${counted(passed, "check")} passed`]];
  const named = warnings.slice(0, CHECKS_NAMED).map(({ name, figure }) => `${name}: ${count(figure)}`);
  const more = warnings.length - named.length;
  const rest = more > 0 ? `; and ${count(more)} more, in "content-warehouse runs show current"` : "";
  return [
    ["Checks", `${count(passed)} passed, ${counted(warnings.length, "warning")}: ${named.join("; ")}${rest}`],
  ];
}

/** A mapping has the ID of its destination alone, so only people can say the name. */
function linesToAdd(ids: readonly string[]): string[] {
  const names = ids.map((id, index) => {
    const comma = index < ids.length - 1 ? "," : "";
    return `  { "name": "<name of ${printableLine(id)}>" }${comma}`;
  });
  return ['"destinations": [', ...names, "]"];
}

/** The one command that shows what this run is worth a look for. */
function nextCommand(summary: RunSummary, cwd: string): string {
  const { warehouse } = summary;
  const where = warehouse === resolve(cwd, "warehouse") ? "" : ` --warehouse ${shellWord(warehouse)}`;
  return `content-warehouse ${nextQuestion(summary)}${where}`;
}

function nextQuestion(summary: RunSummary): string {
  const { accounting, mappedValues, changes } = summary;
  if (accounting.rejected > 0) return "rejects";
  if (!isUneventful(summary)) return "drift";
  if (mappedValues !== null && mappedValues.unmapped > 0) return "audit";
  if (mappedValues !== null && changes !== null) return "diff";
  return 'sql "FROM content LIMIT 5"';
}

/** A path as a shell takes it. */
function shellWord(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
