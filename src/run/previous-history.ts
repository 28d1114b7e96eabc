/** Finds the history that a run carries on, and its checks and warnings. */
import { type CheckResults, NO_CHECKS } from "../audit/checks/checks.ts";
import { pluralize } from "../common/figures.ts";
import { findHistory, type PreviousHistory } from "../load/history-previous.ts";
import type { Pipeline } from "../pipeline.ts";
import type { RunAsked } from "../raw/extract-record.ts";
import { HISTORY_TABLES } from "../tables/history.ts";
import { type Baseline, baselineOf, type PublishedBaseline } from "../warehouse/baseline.ts";
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
  { policy, keyId, customFieldIds }: RunAsked["personalData"],
): PreviousHistory {
  if (history.kind !== "carried" || policy === "keep") return history;
  const before = history.personalData;
  const treated = new Set(before.policy === policy && before.keyId === keyId ? before.customFieldIds : []);
  return { ...history, forgotten: customFieldIds.filter((id) => !treated.has(id)) };
}

function hasHistory({ tables }: Pipeline): boolean {
  return tables.some(({ stage }) => stage === "history");
}

/** No checks for a pipeline without history. */
export function judgeHistory(history: PreviousHistory, pipeline: Pipeline): CheckResults {
  if (!hasHistory(pipeline)) return NO_CHECKS;
  const name = "runs before this one whose history was carried on";
  const check = { name, verdict: "passed", figure: 0, expected: null } as const;
  if (history.kind === "none")
    return { checks: [{ ...check, detail: "none was published yet" }], warnings: [] };
  const { run } = history;
  if (history.kind === "anew") {
    const why = `${run} cannot be continued, because ${history.reason}`;
    const detail = `the history starts over: ${why}`;
    const text = `The history starts over with this run: the history of ${why}.`;
    return { checks: [{ ...check, verdict: "warning", detail }], warnings: [{ check: name, text }] };
  }
  const fields = pluralize(history.forgotten.length, "custom field");
  const text = `The history of ${fields} starts over with this run, because ${run} treated them under other \`personalFields\` or \`personalData\`.`;
  return {
    checks: [{ ...check, figure: 1, detail: run }],
    warnings: history.forgotten.length === 0 ? [] : [text],
  };
}
