/** What the commands on the lake say. */
import { count, counted, fileSize, minuteOf } from "../../common/figures.ts";
import type { Damage, InstanceStatus, LakeStatus } from "../../targets/lake/status.ts";
import type { Vacuumed } from "../../targets/lake/vacuum.ts";
import type { LakeVerification } from "../../targets/lake/verify.ts";
import { drawInParts, drawTable, left, right, whole } from "./table.ts";

export function lakeStatusText(
  { address, tables, instances, damaged }: LakeStatus,
  width: number | undefined,
): string {
  if (instances.length + damaged.length === 0) return `nothing was delivered to ${address} yet\n`;
  return `${instancesText(instances, width)}\n${tablesText(tables, width)}${damageText(damaged)}`;
}

function damageText(damaged: readonly Damage[]): string {
  return damaged.map(({ problem }) => `\nDAMAGED: ${problem}\n`).join("");
}

function instancesText(instances: readonly InstanceStatus[], width: number | undefined): string {
  const columns = [
    whole("instance"),
    whole("last run"),
    whole("verdict"),
    whole("delivered"),
    left("service"),
  ];
  const rows = instances.map(({ instance, run, verdict, deliveredAt, origin, finished }) => [
    instance,
    run ?? "none",
    verdict ?? "",
    run === null ? "nothing yet" : deliveryText(deliveredAt, finished),
    origin ?? "",
  ]);
  return drawInParts({ columns, rows }, 2, width);
}

function deliveryText(deliveredAt: string | null, finished: boolean | null): string {
  if (finished === null) return "unknown";
  return finished && deliveredAt !== null ? minuteOf(new Date(deliveredAt)) : "not finished";
}

function tablesText(tables: LakeStatus["tables"], width: number | undefined): string {
  const columns = [
    left("table"),
    right("version"),
    right("instances"),
    right("rows"),
    right("files"),
    right("size"),
  ];
  const rows = tables.map(({ table, version, instances, rows, files, bytes }) => [
    table,
    count(version),
    count(instances),
    rows === null ? "" : count(rows),
    count(files),
    fileSize(bytes),
  ]);
  return drawTable({ columns, rows }, width).text;
}

/** More of them say nothing new to a person; `--json` has them all. */
const SHOWN = 20;

export function lakeVerificationText(found: LakeVerification): string {
  const { instance, run, tables, files, bytes, rows, findings } = found;
  const name = `run ${run} of ${instance}`;
  if (findings.length === 0) {
    const size = `${counted(files, "file")} (${fileSize(bytes)})`;
    return `Whole: ${name}, ${size}, ${count(rows)} rows in ${counted(tables, "table")}\n`;
  }
  const shown = findings.slice(0, SHOWN).map((finding) => `  ${finding}\n`);
  const more = findings.length - SHOWN;
  const rest = more > 0 ? `  and ${count(more)} more\n` : "";
  return `DAMAGED: ${name}, ${counted(findings.length, "finding")}\n${shown.join("")}${rest}`;
}

export function vacuumedText({ files, bytes, runs, damaged }: Vacuumed): string {
  const size = `${counted(files, "data file")} (${fileSize(bytes)})`;
  const removed =
    files === 0 && runs === 0
      ? "nothing to remove"
      : `removed ${size} and the copies of ${counted(runs, "run")}`;
  return `${removed}\n${damageText(damaged)}`;
}
