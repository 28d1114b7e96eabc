/** Answers `runs`: which runs are published, and for a report, which of them came before its run. */
import { existsSync } from "node:fs";
import { type Answer, type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import {
  ancestorsOf,
  isAmong,
  isLaterRun,
  isReplaced,
  previousOf,
  type RunKey,
  withAncestors,
} from "../../warehouse/identity.ts";
import { type OutputFolder, parseRunName, stagingFolder, stagingLeftovers } from "../../warehouse/layout.ts";
import { type Manifest, runMs } from "../../warehouse/manifest.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { countWithoutAtReceivers, countWithoutValue } from "../mapping/value-counts.ts";
import { missingTables, type ReadableRun } from "../open-run.ts";

const RUNS = {
  /** `*`: the current run. `/`: a run outside of its history (replaced or rolled back). */
  mark: col.name({ head: "", required: true }),
  /** The same as a flag, for programs. */
  current: col.flag({ required: true }),
  run: col.name({ required: true }),
  sequence: col.count({ required: true }),
  started_at: col.instant(),
  /** `unreadable`: the manifest is missing or damaged; other cells are empty. */
  verdict: col.name({ required: true }),
  items: col.count(),
  change: col.name(),
  new: col.count(),
  edited: col.count(),
  removed: col.count(),
  /** Values that lost or gained their external value since the run before. */
  values: col.name({ isWords: true }),
  lost: col.count(),
  gained: col.count(),
  rejected: col.count(),
  /** Missing values at destinations that receive values. */
  without_external_value_receiving: col.count({ head: "missing" }),
  /** The same at all destinations. */
  without_external_value: col.count(),
  unmapped: col.count(),
  unknown_value: col.count(),
  empty: col.count(),
  took_ms: col.milliseconds({ head: "took" }),
  size_bytes: col.bytes({ head: "size" }),
  /** The run that it is a replay of; shown if there is one. */
  replay_of: col.name(),
} as const;
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
  const { items, mappedValues, mappedChanges, changes } = manifest ?? {};
  return {
    mark,
    current: mark === "*",
    run,
    sequence,
    started_at: manifest === undefined ? null : new Date(manifest.found.startedAt),
    verdict: manifest?.verdict ?? "unreadable",
    items: items?.loaded ?? null,
    change: manifest === undefined ? null : changeText(manifest),
    new: changes?.new ?? null,
    edited: changes?.edited ?? null,
    removed: changes?.removed ?? null,
    values: mappedChanges ? `-${count(mappedChanges.lost)} +${count(mappedChanges.gained)}` : null,
    lost: mappedChanges?.lost ?? null,
    gained: mappedChanges?.gained ?? null,
    rejected: items?.rejected ?? null,
    without_external_value: (mappedValues && countWithoutValue(mappedValues)) ?? null,
    unmapped: mappedValues?.unmapped ?? null,
    unknown_value: mappedValues?.unknown ?? null,
    empty: mappedValues?.empty ?? null,
    without_external_value_receiving: (mappedValues && countWithoutAtReceivers(mappedValues)) ?? null,
    took_ms: manifest === undefined ? null : runMs(manifest),
    size_bytes: manifest === undefined ? null : manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    replay_of: manifest?.replayOf ?? null,
  };
}

/** Lists the runs, the newest first. */
export async function runsAnswer(folder: OutputFolder): Promise<Answer> {
  const unpublished = await unpublishedRun(folder);
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  const past = withAncestors(current);
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
const RUNS_LEGEND =
  "change: new +, edited ~, removed - since the run before; values: those that lost - or gained + their external value";

function keptRunsSection(runs: readonly RunListRow[]): Section {
  const outside = "; / is not in the history of the current run: replaced or rolled back";
  return section({
    key: "runs",
    title: "Runs",
    lead:
      runs.length === 0
        ? undefined
        : `* is the current one; ${RUNS_LEGEND}${runs.some(({ mark }) => mark === "/") ? outside : ""}.`,
    none: "nothing was published yet",
    columns: RUNS,
    shows: ["mark", "run", "verdict", "items", "change", "values", "replay_of"],
    rows: runs,
    limit: 1000,
  });
}

/** The runs before that of a report. */
export function earlierRunsSection({ listed }: EarlierRuns): Section {
  const lead = `Columns: ${RUNS_LEGEND}.`;
  return { ...keptRunsSection(listed), title: "Runs before this one", lead, none: "none is kept" };
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
  const what =
    existsSync(result) && !existsSync(resumeRecord)
      ? "which failed a check or test; its tables stay for inspection until the next run, which starts over"
      : "which is under way or ended early; the next run resumes it if it can";
  return [`Not published: ${unpublished}, ${what}.`];
}

export type EarlierRuns = ReturnType<typeof findEarlierRuns>;

/** Runs listed in a report, its own included. */
const RUNS_SHOWN = 30;

/** `published`: runs of the warehouse, the newest first. */
export function findEarlierRuns(
  published: readonly PublishedRun[],
  stated: Pick<Manifest, "sequence" | "verdict" | "previousRun" | "previousSha256" | "ancestors">,
) {
  // Runs without a readable manifest are skipped.
  const runs = published.flatMap((run): ReadableRun[] => {
    const { manifest } = run;
    return manifest instanceof WarehouseError ? [] : [{ ...run, manifest }];
  });
  const before = previousOf(stated, runs);
  const past = ancestorsOf(stated);
  const shown = runs
    .filter((run) => run.sequence < stated.sequence && !isReplaced(run, past))
    // A limited run has no earlier runs.
    .slice(0, stated.verdict === "limited" ? 0 : RUNS_SHOWN - 1);
  const isComparable = before !== undefined && missingTables(before.manifest.rows).length === 0;
  const compared: Pick<ReadableRun, "run" | "sequence" | "directory" | "manifest"> | undefined = isComparable
    ? before
    : undefined;
  return {
    /** Number of the run that this one continues; null for the first run. */
    previous: parseRunName(stated.previousRun ?? "")?.sequence ?? null,
    /** That run; undefined if there is none, or it is not kept, cannot be read or has no mapped values. */
    before: compared,
    /** The newest first. */
    listed: shown.map((run) => runListRow(run, run.manifest, "")),
  };
}

/** Says which run the figures are compared with, or why with none. */
export function comparisonText({ previous, before }: EarlierRuns): string {
  if (before !== undefined) return `Compared with run ${before.sequence}.`;
  if (previous === null) return "This is the first run, so there is nothing to compare it with.";
  return `Run ${previous}, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it.`;
}

/** `+3 ~12 -1`; null for a run that was not compared. */
function changeText({ changes }: Pick<Manifest, "changes">): string | null {
  if (changes === null) return null;
  const edited = changes.edited === null ? "" : ` ~${count(changes.edited)}`;
  return `+${count(changes.new)}${edited} -${count(changes.removed)}`;
}
