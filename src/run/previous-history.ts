/** Finds the history that a run carries on, and its checks and warnings. */
import type { Check } from "../audit/checks/checks.ts";
import { pluralize } from "../common/figures.ts";
import { findHistory, type PreviousHistory } from "../load/history-previous.ts";
import type { Pipeline } from "../pipeline.ts";
import { HISTORY_TABLES } from "../tables/history.ts";
import {
  type Baseline,
  baselineOf,
  type PersonalDataTreatment,
  type PublishedBaseline,
} from "../warehouse/baseline.ts";
import type { OutputFolder } from "../warehouse/layout.ts";

/**
 * History of the run before, or of the latest run that it goes on from and that has one. It starts anew if the run before
 * is damaged. Throws `config.newer_version`.
 */
export async function previousHistory(
  baseline: Baseline,
  pipeline: Pipeline,
  folder: OutputFolder,
): Promise<PreviousHistory> {
  if (baseline.kind === "none" || !hasHistory(pipeline)) return { kind: "none" };
  const { run } = baseline;
  if (baseline.kind === "damaged") return { kind: "anew", run, reason: baseline.reason.replace(/\.$/, "") };
  return findHistory(await lastWithHistory(baseline, folder), folder.staging);
}

/** Latest kept run with a history, from `baseline` backwards; `baseline` itself if there is none. */
async function lastWithHistory(
  baseline: PublishedBaseline,
  folder: OutputFolder,
): Promise<PublishedBaseline> {
  for (let found = baseline; ; ) {
    const { rows, previousRun, previousSha256 } = found.manifest;
    if (HISTORY_TABLES.every(({ name }) => name in rows)) return found;
    const before = previousRun === null ? null : await baselineOf(folder, previousRun);
    if (before?.kind !== "run" || before.sha256 !== previousSha256) return baseline;
    found = before;
  }
}

/**
 * The history without the personal custom fields that the run before treated otherwise: it would publish their values once
 * more.
 */
export function removePersonal(
  history: PreviousHistory,
  { policy, keyId, customFieldIds }: PersonalDataTreatment,
): PreviousHistory {
  if (history.kind !== "carried" || policy === "keep") return history;
  const before = history.personalData;
  const treated = new Set(before.policy === policy && before.keyId === keyId ? before.customFieldIds : []);
  return { ...history, forgotten: customFieldIds.filter((id) => !treated.has(id)) };
}

export function hasHistory({ tables }: Pipeline): boolean {
  return tables.some(({ stage }) => stage === "history");
}

/** Rows of `run_checks`; none for a pipeline without history. */
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
      return check("warning", 0, `the history starts over: ${run} cannot be continued, because ${reason}`);
    }
    case "carried":
      return check("passed", 1, history.run);
  }
}

export function historyWarnings(history: PreviousHistory): string[] {
  if (history.kind === "carried" && history.forgotten.length > 0) {
    return [
      `The history of ${pluralize(history.forgotten.length, "custom field")} starts over with this run, because ${history.run} treated them under other \`personalFields\` or \`personalData\`.`,
    ];
  }
  if (history.kind !== "anew") return [];
  return [
    `The history starts over with this run: the history of ${history.run} cannot be continued, because ${history.reason}.`,
  ];
}
