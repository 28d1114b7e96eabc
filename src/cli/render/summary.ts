/** What a run did, to be read at a glance. */

import { count, counted, duration, megabytes } from "../../common/figures.ts";
import type { Throttled } from "../../extract/http/throttle.ts";
import type { Resumed, RunSummary } from "../../run/summary.ts";
import { isAboutTheRun } from "../../tables/all.ts";
import { printableText } from "./terminal.ts";

export function summaryText(summary: RunSummary): string {
  const { accounting, drift, reasons, removedRuns, warnings } = summary;
  const lines = [
    headline(summary),
    "",
    field("Items", items(summary)),
    field("Evidence", evidence(summary)),
    field("Rows", rows(summary)),
    field("Requests", `${count(summary.requests)}, ${megabytes(summary.bytesReceived)} received`),
    summary.throttled !== null && field("Throttled", throttled(summary.throttled)),
    summary.resumed !== null && field("Resumed", resumed(summary.resumed)),
    field("Published", `${summary.directory} (${megabytes(summary.bytesPublished)})`),
    ...reasons.map((reason) => field("Unsettled", reason)),
    accounting.rejected > 0 &&
      field(
        "Rejected",
        `${counted(accounting.rejected, "listed thing")}: see run_rejects, with a row for each reading that failed`,
      ),
    drift > 0 && field("Drift", `${count(drift)} kinds: see the table run_drift`),
    removedRuns.length > 0 && field("Removed", counted(removedRuns.length, "old run")),
    ...warnings.map((warning) => field("Warning", warning)),
  ];
  return `${printableText(lines.filter((line) => line !== false).join("\n"))}\n`;
}

function headline({ verdict, run, pipeline, milliseconds, noMappedValues }: RunSummary): string {
  const what = `run ${run} of ${pipeline}, ${duration(milliseconds / 1000)}`;
  const lacking = noMappedValues === null ? "" : ", WITHOUT MAPPED VALUES";
  if (verdict === "complete") return `Complete${lacking}: ${what}`;
  return `UNSETTLED${lacking}: ${what}; published, but the passes do not agree, so run again`;
}

/** A line break in a text of foreign origin does not begin a field of its own. */
function field(name: string, value: string): string {
  return `  ${name.padEnd(10)} ${value.replaceAll(/\s*\n\s*/g, " ")}`;
}

function items({ accounting }: RunSummary): string {
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const parts = [
    `${count(listed)} listed, ${count(loaded)} loaded`,
    rejected > 0 && `${count(rejected)} rejected`,
    vanished > 0 && `${count(vanished)} vanished`,
    unread > 0 && `${count(unread)} unread`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function throttled({ ratePerSecond, refused }: Throttled): string {
  const refusals = `the service refused ${refused === 0 ? "none" : counted(refused, "request")}`;
  if (ratePerSecond === null) return `${refusals} for a while; \`ratePerSecond\` sets an upper bound`;
  const before = refused === 0 ? ", as in the run before" : "";
  return `held to about ${ratePerSecond} requests a second${before}; ${refusals}; the next run starts at that rate, and \`ratePerSecond\` sets an upper bound`;
}

function resumed({ pages, items }: Resumed): string {
  const singly = items === 0 ? "" : ` and ${counted(items, "single item")}`;
  return `${counted(pages, "page")}${singly} from before the run was ended early`;
}

function evidence({ verdict, passes, accounting }: RunSummary): string {
  const two = passes.length > 2 ? "the last two passes agree" : "two passes agree";
  const agree = verdict === "complete" ? two : "the passes do not agree";
  const seen = passes.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
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
