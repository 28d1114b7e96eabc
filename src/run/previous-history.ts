/** What a run carries on of the history, and what it says of that. */

import type { Check } from "../audit/checks/checks.ts";
import { counted } from "../common/figures.ts";
import type { Verdict } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import type { BuildRequest } from "../load/build-warehouse.ts";
import {
  findHistory,
  type PreviousHistory,
  type PreviousRun,
  renamedHistory,
  undoneHistory,
} from "../load/history-previous.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { Baseline, Before, PersonalTreatment } from "../warehouse/baseline.ts";
import { type OutputFolder, parseRunName, type StagingFolder } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import type { NewNames } from "../warehouse/replacement/numbers.ts";
import { pipelineFingerprint } from "./resume.ts";

/** The history of the run before; anew where that run is damaged or has none. Throws `config.newer_version`. */
export async function previousHistory(
  baseline: Baseline,
  pipeline: Pipeline,
  folder: OutputFolder,
): Promise<PreviousHistory> {
  if (baseline.kind === "none" || !hasHistory(pipeline)) return { kind: "none" };
  const { run } = baseline;
  if (baseline.kind === "damaged") return { kind: "anew", run, reason: baseline.reason.replace(/\.$/, "") };
  return findHistory(baseline, folder.staging);
}

/**
 * The history without the values of custom fields that are personal and that the run before did not treat as this one
 * does: what it knows of them would be published once more.
 */
export function withoutPersonal(
  history: PreviousHistory,
  baseline: Baseline,
  { policy, keyId, customFieldIds }: PersonalTreatment,
): PreviousHistory {
  if (history.kind !== "carried" || baseline.kind !== "run" || policy === "keep") return history;
  const before = baseline.manifest.personalData;
  const treated = new Set(before.policy === policy && before.keyId === keyId ? before.customFieldIds : []);
  return { ...history, forgotten: customFieldIds.filter((id) => !treated.has(id)) };
}

type RunBefore = Extract<Baseline, { kind: "run" }>;

/** A published run that is built again, and the run before it where that is kept. */
interface Again {
  readonly own: PreviousRun & { readonly manifest: Manifest };
  readonly kept: RunBefore | undefined;
  /** That it is built by. */
  readonly pipeline: Pipeline;
  /** Names of runs that are replaced, to their new ones. */
  readonly renamed: NewNames;
  readonly temporaryDirectory: string;
}

/**
 * What a run that is built again is held against, and the history that it carries on: of the run before, or, where that
 * is pruned, its own with what it added and ended taken back.
 */
export async function heldAgainst(
  { before, history, pipeline: { fingerprint } }: Pick<ExtractRecord, "before" | "history" | "pipeline">,
  again: Again,
): Promise<{ before: Before; history: PreviousHistory }> {
  const { own, kept, renamed, pipeline } = again;
  const carried = await carriedAgain(history, again);
  if (before.kind !== "run") return { before, history: carried };
  const { run, sha256, rows, emptyColumns, columns } = before;
  const now = renamed.get(run);
  const pruned: Before = {
    kind: "pruned",
    run: now ?? run,
    // The manifest of a run that is replaced would be another.
    sha256: (now === undefined && sha256) || undefined,
    manifest: { rows, emptyColumns: [...emptyColumns], columns: columns && [...columns] },
    own,
    changes: own.manifest.changes,
    isSamePipeline: pipelineFingerprint(pipeline) === fingerprint,
  };
  return { before: kept ?? pruned, history: carried };
}

/** The same where the run before is kept, or was made anew: as a night is held against it. */
export async function heldAgainstRun(
  before: RunBefore,
  {
    facts,
    pipeline,
    folder,
  }: { readonly facts: ExtractRecord; readonly pipeline: Pipeline; readonly folder: OutputFolder },
): Promise<{ before: Before; history: PreviousHistory }> {
  const history = await previousHistory(before, pipeline, folder);
  return { before, history: withoutPersonal(history, before, facts.personalData) };
}

async function carriedAgain(
  history: ExtractRecord["history"],
  { own, kept, renamed, temporaryDirectory }: Again,
): Promise<PreviousHistory> {
  if (history.kind !== "carried") return history;
  const found =
    kept === undefined
      ? await undoneHistory(own, history.run, temporaryDirectory)
      : await findHistory(kept, temporaryDirectory);
  if (found.kind !== "carried") return found;
  return renamedHistory({ ...found, forgotten: history.forgotten }, renamed);
}

export function hasHistory({ tables }: Pipeline): boolean {
  return tables.some(({ stage }) => stage === "history");
}

/** For `run_checks`; nothing where the pipeline has no history. */
export function historyChecks(history: PreviousHistory, pipeline: Pipeline): Check[] {
  if (!hasHistory(pipeline)) return [];
  const check = (verdict: Check["verdict"], figure: number, detail: string): Check[] => [
    { name: "runs before this one whose history was carried on", verdict, figure, expected: null, detail },
  ];
  switch (history.kind) {
    case "none":
      return check("passed", 0, "none was published yet");
    case "anew": {
      const { run, reason } = history;
      return check("warning", 0, `the history starts anew: ${run} cannot be carried on, because ${reason}`);
    }
    case "carried":
      return check("passed", 1, history.run);
  }
}

export function historyWarnings(history: PreviousHistory): string[] {
  if (history.kind === "carried" && history.forgotten.length > 0) {
    return [
      `The history of ${counted(history.forgotten.length, "custom field")} starts anew with this run: what ${history.run} has of it was not treated as \`personalFields\` and \`personalData\` say now.`,
    ];
  }
  if (history.kind !== "anew") return [];
  return [
    `The history starts anew with this run: that of ${history.run} cannot be carried on, because ${history.reason}.`,
  ];
}

/** What the history says of a run whose documents have landed. */
export function historyOf(
  { staging, pipeline, history, verdict }: HistoryPlace,
  facts: ExtractRecord,
): BuildRequest["history"] {
  const { removed, vanished, unreadable, rejectedWithoutId } = facts;
  const identity = parseRunName(staging.run);
  return {
    previous: history,
    run: {
      run: staging.run,
      sequence: staging.sequence,
      startedAt: identity?.startedAt ?? new Date(facts.startedAt),
      extractedMs: Date.parse(facts.extractedAt),
      pipeline: pipeline.name,
      verdict,
      packageVersion: VERSION,
    },
    absences: {
      confirmed: new Set([...removed, ...vanished]),
      unread: new Set(unreadable),
      listIsWhole: verdict === "complete" && !rejectedWithoutId,
    },
  };
}

/** Whose history it is, and what it carries on. */
interface HistoryPlace {
  readonly staging: StagingFolder;
  readonly pipeline: Pipeline;
  readonly history: PreviousHistory;
  /** Of the run; its passes may agree where its documents do not. */
  readonly verdict: Verdict;
}
