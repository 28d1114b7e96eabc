/** Answers `runs` and `runs show`: which runs are published, and the facts of one run. */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import {
  type Answer,
  type AnswerRow,
  col,
  FACT_COLUMNS,
  type Section,
  section,
} from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count, duration, fileSize, minuteOf, pluralize } from "../../common/figures.ts";
import { isAmong, isLaterRun, type RunKey, withAncestors } from "../../warehouse/identity.ts";
import { type OutputFolder, stagingFolder, stagingLeftovers } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { runBefore, unchangedFiles } from "../../warehouse/publish.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { readChecks } from "../checks/checks.ts";
import { countWithoutAtReceivers, countWithoutValue, valuesText } from "../mapping/value-counts.ts";
import type { ReadableRun } from "../open-run.ts";
import {
  checksSection,
  failingRowsSection,
  passesSection,
  requestsSection,
  tablesSection,
} from "./run-sections.ts";

const RUNS = {
  /** `*`: the current run. `/`: a run outside of its history (replaced or rolled back). */
  mark: col.name({ head: "", required: true }),
  /** The same as a flag, for programs. */
  current: col.flag({ required: true, hidden: true }),
  run: col.name({ required: true }),
  sequence: col.count({ required: true, hidden: true }),
  started_at: col.instant({ hidden: true }),
  /** `unreadable`: the manifest is missing or damaged; other cells are empty. */
  verdict: col.name({ required: true }),
  items: col.count(),
  change: col.name(),
  new: col.count({ hidden: true }),
  edited: col.count({ hidden: true }),
  removed: col.count({ hidden: true }),
  rejected: col.count({ dispensable: 1 }),
  /** At all destinations: unmapped and unknown values. */
  without_external_value: col.count({ head: "without", dispensable: 2 }),
  unmapped: col.count({ dispensable: 6 }),
  unknown_value: col.count({ head: "unknown", dispensable: 7 }),
  /** At destinations that receive values. */
  without_external_value_receiving: col.count({ head: "receiving", dispensable: 5 }),
  took_ms: col.milliseconds({ head: "took", dispensable: 3 }),
  size_bytes: col.bytes({ head: "size", dispensable: 4 }),
  /** The run that it is a replay of; shown if there is one. */
  replay_of: col.name({ hidden: true }),
} as const;
const WITH_REPLAYS = { ...RUNS, replay_of: col.name({ head: "replay of" }) };
type RunListRow = AnswerRow<typeof RUNS>;

/** Whether a run certainly does not belong to this history. The history is unknown before its oldest run. */
function isNoAncestor(run: RunKey, past: readonly RunKey[]): boolean {
  const oldest = past.at(-1);
  return oldest !== undefined && !isAmong(run, past) && !isLaterRun(oldest, run);
}

/** A row of the list. `manifest`: undefined if it cannot be read. */
export function runListRow(
  { run, sequence }: Pick<PublishedRun, "run" | "sequence">,
  manifest: Omit<Manifest, "rows"> | undefined,
  mark: RunListRow["mark"],
): RunListRow {
  const { items, mappedValues, changes } = manifest ?? {};
  return {
    mark,
    current: mark === "*",
    run,
    sequence,
    started_at: manifest === undefined ? null : new Date(manifest.startedAt),
    verdict: manifest?.verdict ?? "unreadable",
    items: items?.loaded ?? null,
    change: manifest === undefined ? null : changeText(manifest),
    new: changes?.new ?? null,
    edited: changes?.edited ?? null,
    removed: changes?.removed ?? null,
    rejected: items?.rejected ?? null,
    without_external_value: (mappedValues && countWithoutValue(mappedValues)) ?? null,
    unmapped: mappedValues?.unmapped ?? null,
    unknown_value: mappedValues?.unknown ?? null,
    without_external_value_receiving: (mappedValues && countWithoutAtReceivers(mappedValues)) ?? null,
    took_ms: manifest === undefined ? null : tookMs(manifest),
    size_bytes: manifest === undefined ? null : sizeOf(manifest.files),
    replay_of: manifest?.replayOf ?? null,
  };
}

/** Lists the runs, the newest first. */
export async function runsAnswer(folder: OutputFolder): Promise<Answer> {
  const unpublished = await unpublishedRun(folder);
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  const past = withAncestors(current, runs);
  const listed = runs.map((each) => {
    // A run that is being published is in no history yet.
    const isAside = each.run !== unpublished && isNoAncestor(each, past);
    const mark = each.current ? "*" : isAside ? "/" : "";
    return runListRow(each, each.manifest instanceof WarehouseError ? undefined : each.manifest, mark);
  });
  const problems = runs.flatMap(({ manifest }) =>
    manifest instanceof WarehouseError ? [manifest.message] : [],
  );
  return {
    lead: "",
    facts: { current: current?.run ?? null },
    sections: [keptRunsSection(listed)],
    next: [...problems, ...unpublishedText(folder, runs, unpublished)],
  };
}

/** Explains the columns of the list. */
export const RUNS_LEGEND =
  "change: new +, edited ~, removed -, since the run before; without: values without an external value; receiving: those of them at destinations that receive values";

export function keptRunsSection(runs: readonly RunListRow[]): Section {
  const outside = "; / is not in the history of the current run: replaced or rolled back";
  return section({
    key: "runs",
    title: "Runs",
    lead:
      runs.length === 0
        ? undefined
        : `* is the current one; ${RUNS_LEGEND}${runs.some(({ mark }) => mark === "/") ? outside : ""}.`,
    none: "nothing was published yet",
    columns: runs.some(({ replay_of }) => replay_of !== null) ? WITH_REPLAYS : RUNS,
    rows: runs,
    limit: 1000,
  });
}

/** Name of the latest run with staged files. Only their owner can read them. */
async function unpublishedRun(folder: OutputFolder): Promise<string | undefined> {
  const staged = await stagingLeftovers(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "EACCES" || thrown.code === "EPERM") return [];
    throw thrown;
  });
  return staged[0]?.run;
}

/** A published run keeps its staged files for a moment. */
function unpublishedText(
  folder: OutputFolder,
  runs: readonly PublishedRun[],
  unpublished: string | undefined,
): string[] {
  if (unpublished === undefined || runs.some(({ run }) => run === unpublished)) return [];
  const { result, resumeRecord } = stagingFolder(folder, unpublished);
  const isLeft = existsSync(result) && !existsSync(resumeRecord);
  const what = isLeft
    ? "which failed a check or test; its tables stay for inspection until the next run, which starts over"
    : "which is under way or ended early; the next run resumes it if it can";
  return [`Not published: ${unpublished}, ${what}.`];
}

/** `+3 ~12 -1`; null for a run that was not compared. */
function changeText({ changes }: Pick<Manifest, "changes">): string | null {
  if (changes === undefined) return null;
  const edited = changes.edited === null ? "" : ` ~${count(changes.edited)}`;
  return `+${count(changes.new)}${edited} -${count(changes.removed)}`;
}

export const RUN_SECTIONS = ["about", "checks", "failing_rows", "passes", "requests", "tables"] as const;

/** Shows one run. `connection`: has its tables; undefined if it has no tables about the run. */
export async function runAnswer(
  found: ReadableRun,
  connection: DuckDBConnection | undefined,
): Promise<Answer> {
  const { manifest } = found;
  const before = await runBefore(dirname(found.directory), manifest);
  const ofTable = (name: string) => manifest.files.filter(({ path }) => path.startsWith(`parquet/${name}/`));
  const tables = Object.entries(manifest.rows).map(([table, rows]) => ({
    table,
    rows,
    parquet_bytes: sizeOf(ofTable(table)),
  }));
  const checks = connection && (await readChecks(connection));
  const ofRun =
    connection === undefined || checks === undefined
      ? []
      : [
          checksSection(checks),
          failingRowsSection(checks),
          await passesSection(connection),
          await requestsSection(connection),
        ];
  return {
    lead: "",
    facts: figuresOf(found, before?.manifest.files),
    sections: [aboutSection(found, before?.manifest.files), ...ofRun, tablesSection(tables)],
  };
}

/** Facts of the run for programs. `before`: files of the run before, if kept. */
function figuresOf(
  { run, manifest, current }: ReadableRun,
  before: Manifest["files"] | undefined,
): Answer["facts"] {
  const { sequence, pipeline, instance, verdict, startedAt, endedAt, versions } = manifest;
  const { items, changes, mappedValues, previousRun, personalData, files } = manifest;
  const { replayOf } = manifest;
  return {
    run,
    sequence,
    current,
    pipeline,
    service: { url: instance.origin, instance: instance.id },
    startedAt,
    endedAt,
    milliseconds: tookMs(manifest),
    verdict,
    items,
    changes: changes ?? null,
    mappedValues:
      mappedValues === undefined
        ? null
        : Object.assign({ mapped: 0, withoutExternalValue: countWithoutValue(mappedValues) }, mappedValues),
    previousRun,
    replayOf: replayOf ?? null,
    personalData: { policy: personalData.policy, keyId: personalData.keyId },
    versions,
    bytes: sizeOf(files),
    files: files.length,
    unchanged: before === undefined ? null : { ...unchangedFiles(files, before) },
  };
}

function aboutSection(found: ReadableRun, before: Manifest["files"] | undefined): Section {
  const { run, manifest, current } = found;
  const { pipeline, instance, verdict, startedAt, versions, personalData, previousRun } = manifest;
  const { items, mappedValues, replayOf } = manifest;
  const change = changeText(manifest);
  const took = duration(tookMs(manifest) / 1000);
  const { listed, loaded, rejected, vanished, unread } = items;
  const rest = [vanished > 0 && `${count(vanished)} vanished`, unread > 0 && `${count(unread)} unread`];
  const counts = [
    `${count(listed)} listed`,
    `${count(loaded)} loaded`,
    `${count(rejected)} rejected`,
    ...rest,
  ];
  const same = before && unchangedFiles(manifest.files, before);
  const unchanged =
    same === undefined ? "" : `; ${count(same.files)} of them, ${fileSize(same.bytes)}, as in the run before`;
  const size = `${fileSize(sizeOf(manifest.files))} in ${pluralize(manifest.files.length, "file")}${unchanged}`;
  const lines: ([string, string] | false)[] = [
    ["Run", current ? `${run} (current)` : run],
    ["Pipeline", pipeline],
    ["Service", instance.id === null ? instance.origin : `${instance.origin}, instance ${instance.id}`],
    ["Started", `${minuteOf(new Date(startedAt))} UTC, took ${took}`],
    ["Verdict", verdict],
    ["Items", counts.filter((text) => text !== false).join(", ")],
    change !== null && ["Change", change],
    mappedValues !== undefined && ["Values", valuesText(mappedValues)],
    ["Before it", previousRun ?? "no run"],
    replayOf !== undefined && ["Replay of", replayOf],
    [
      "Personal data",
      personalData.policy + (personalData.keyId === null ? "" : `, key ${personalData.keyId}`),
    ],
    ["Made by", `content-warehouse ${versions.package}, DuckDB ${versions.duckdb}, Node ${versions.node}`],
    ["Size", size],
  ];
  const rows = lines.filter((line) => line !== false).map(([name, text]) => ({ name, text, notable: false }));
  return section({ key: "about", title: "Run", columns: FACT_COLUMNS, rows, isLines: true });
}

function sizeOf(files: Manifest["files"]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

function tookMs({ startedAt, endedAt }: Pick<Manifest, "startedAt" | "endedAt">): number {
  return Date.parse(endedAt) - Date.parse(startedAt);
}
