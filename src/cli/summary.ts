/** What a run did, to be read at a glance. */
import type { RunSummary } from "../run/run.ts";
import { count, duration, megabytes } from "./display.ts";
import { printableText } from "./terminal.ts";

const SHOWN_TABLES = 8;

export function summaryText(summary: RunSummary): string {
  const { verdict, accounting, tables } = summary;
  const data = tables.filter(({ name }) => !name.startsWith("_"));
  const rows = data.reduce((sum, table) => sum + table.rows, 0);
  const largest = data.toSorted((a, b) => b.rows - a.rows).slice(0, SHOWN_TABLES);
  const lines = [
    `${verdict === "complete" ? "Complete" : "UNSETTLED"}: run ${summary.run} (${summary.pipeline}), ${duration(summary.milliseconds / 1000)}`,
    "",
    field("Items", items(summary)),
    field(
      "Rows",
      `${count(rows)} in ${data.length} tables; ${largest.map((each) => `${each.name} ${count(each.rows)}`).join(", ")}, ...`,
    ),
    field("Requests", `${count(summary.requests)}, ${megabytes(summary.bytesReceived)} received`),
    field("Evidence", evidence(summary)),
    field("Published", `${summary.directory} (${megabytes(summary.bytesPublished)})`),
  ];
  if (summary.drift > 0) lines.push(field("Drift", `${count(summary.drift)} kinds, see the table _drift`));
  if (accounting.rejected > 0)
    lines.push(field("Rejected", `${count(accounting.rejected)}, see the table _rejects`));
  for (const reason of summary.reasons) lines.push(field("Unsettled", reason));
  for (const warning of summary.warnings) lines.push(field("Warning", warning));
  return `${printableText(lines.join("\n"))}\n`;
}

function field(name: string, value: string): string {
  return `  ${name.padEnd(10)} ${value}`;
}

function items({ accounting }: RunSummary): string {
  const { listed, loaded, rejected, vanished } = accounting;
  const rest = [
    rejected > 0 ? `${count(rejected)} rejected` : "",
    vanished > 0 ? `${count(vanished)} vanished` : "",
  ];
  return [`${count(listed)} listed, ${count(loaded)} loaded`, ...rest.filter((text) => text !== "")].join(
    ", ",
  );
}

function evidence(summary: RunSummary): string {
  const passes = summary.sweeps.map((sweep) => `${sweep.mode} ${count(sweep.distinctItems)}`).join(", ");
  const agree = summary.verdict === "complete" ? "two passes agree" : "the passes do not agree";
  return `${agree} (${passes}; the service counts ${count(summary.accounting.counted)})`;
}
