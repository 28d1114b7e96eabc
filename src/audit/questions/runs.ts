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
import { isNoAncestor, withAncestors } from "../../warehouse/identity.ts";
import { type OutputFolder, stagingFolder, stagingLeftovers } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { runBefore, unchangedFiles } from "../../warehouse/publish.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { readChecks } from "../checks/checks.ts";
import {
  countWithoutAtReceivers,
  countWithoutValue,
  type MappedCounts,
  valuesText,
} from "../mapping/value-counts.ts";
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
export type RunListRow = AnswerRow<typeof RUNS>;

/** A row of the list. `run`: name of the folder, if it differs from the manifest's. */
export function runListRow(
  manifest: Omit<Manifest, "rows">,
  mark: RunListRow["mark"],
  run = manifest.run,
): RunListRow {
  const { sequence, startedAt, verdict, items, mappedValues, changes, files } = manifest;
  return {
    mark,
    current: mark === "*",
    run,
    sequence,
    started_at: new Date(startedAt),
    verdict,
    items: items.loaded,
    change: changeText(manifest),
    new: changes?.new ?? null,
    edited: changes?.edited ?? null,
    removed: changes?.removed ?? null,
    rejected: items.rejected,
    without_external_value: (mappedValues && countWithoutValue(mappedValues)) ?? null,
    unmapped: mappedValues?.unmapped ?? null,
    unknown_value: mappedValues?.unknown ?? null,
    without_external_value_receiving: (mappedValues && countWithoutAtReceivers(mappedValues)) ?? null,
    took_ms: tookMs(manifest),
    size_bytes: sizeOf(files),
    replay_of: manifest.replayOf ?? null,
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
    return each.manifest instanceof WarehouseError
      ? unreadable(each, mark)
      : runListRow(each.manifest, mark, each.run);
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

function unreadable({ run, sequence }: PublishedRun, mark: RunListRow["mark"]): RunListRow {
  const nothing = { started_at: null, items: null, change: null, new: null, edited: null, removed: null };
  const values = {
    without_external_value: null,
    unmapped: null,
    unknown_value: null,
    without_external_value_receiving: null,
  };
  const unknown = { rejected: null, ...values, took_ms: null, size_bytes: null, replay_of: null };
  return { mark, current: mark === "*", run, sequence, verdict: "unreadable", ...nothing, ...unknown };
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
    mappedValues: mappedValues === undefined ? null : statedValues(mappedValues),
    previousRun,
    replayOf: replayOf ?? null,
    personalData: { policy: personalData.policy, keyId: personalData.keyId },
    versions,
    bytes: sizeOf(files),
    files: files.length,
    unchanged: before === undefined ? null : { ...unchangedFiles(files, before) },
  };
}

function statedValues(values: MappedCounts) {
  const { mapped, unmapped, unknown, destinations } = values;
  return { mapped, withoutExternalValue: countWithoutValue(values), unmapped, unknown, destinations };
}

function aboutSection(found: ReadableRun, before: Manifest["files"] | undefined): Section {
  const { run, manifest, current } = found;
  const { pipeline, instance, verdict, startedAt, versions, personalData, previousRun } = manifest;
  const { items, mappedValues, replayOf } = manifest;
  const change = changeText(manifest);
  const took = duration(tookMs(manifest) / 1000);
  const lines: ([string, string] | false)[] = [
    ["Run", current ? `${run} (current)` : run],
    ["Pipeline", pipeline],
    ["Service", instance.id === null ? instance.origin : `${instance.origin}, instance ${instance.id}`],
    ["Started", `${minuteOf(new Date(startedAt))} UTC, took ${took}`],
    ["Verdict", verdict],
    ["Items", itemsText(items)],
    change !== null && ["Change", change],
    mappedValues !== undefined && ["Values", valuesText(mappedValues)],
    ["Before it", previousRun ?? "no run"],
    replayOf !== undefined && ["Replay of", replayOf],
    [
      "Personal data",
      personalData.policy + (personalData.keyId === null ? "" : `, key ${personalData.keyId}`),
    ],
    ["Made by", `content-warehouse ${versions.package}, DuckDB ${versions.duckdb}, Node ${versions.node}`],
    ["Size", sizeText(manifest.files, before)],
  ];
  const rows = lines.filter((line) => line !== false).map(([name, text]) => ({ name, text, notable: false }));
  return section({ key: "about", title: "Run", columns: FACT_COLUMNS, rows, isLines: true });
}

function itemsText({ listed, loaded, rejected, vanished, unread }: Manifest["items"]): string {
  const gone = vanished === 0 ? "" : `, ${count(vanished)} vanished`;
  const rest = unread === 0 ? gone : `${gone}, ${count(unread)} unread`;
  return `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected${rest}`;
}

/** `before`: files of the run before, if kept. */
function sizeText(files: Manifest["files"], before: Manifest["files"] | undefined): string {
  const size = `${fileSize(sizeOf(files))} in ${pluralize(files.length, "file")}`;
  if (before === undefined) return size;
  const same = unchangedFiles(files, before);
  return `${size}; ${count(same.files)} of them, ${fileSize(same.bytes)}, as in the run before`;
}

function sizeOf(files: Manifest["files"]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

function tookMs({ startedAt, endedAt }: Pick<Manifest, "startedAt" | "endedAt">): number {
  return Date.parse(endedAt) - Date.parse(startedAt);
}
