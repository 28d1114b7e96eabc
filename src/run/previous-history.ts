/** What a run carries on of the history, and what it says of that. */

import type { Check } from "../audit/checks/checks.ts";
import { pluralize } from "../common/figures.ts";
import type { Verdict } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import type { BuildRequest } from "../load/build-warehouse.ts";
import { findHistory, type PreviousHistory } from "../load/history-previous.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import { HISTORY_TABLES } from "../tables/history.ts";
import {
  type Baseline,
  baselineOf,
  type PersonalTreatment,
  type PublishedBaseline,
} from "../warehouse/baseline.ts";
import { type OutputFolder, parseRunName } from "../warehouse/layout.ts";
import type { PublishingRun } from "./context.ts";

/**
 * The history of the run before, or of the last run that it goes on from and that has one; anew where that run is damaged
 * or none has one. Throws `config.newer_version`.
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

/** The run itself where no run that it goes on from is kept and has a history. */
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
 * The history without the values of custom fields that are personal and that the run it comes from did not treat as this
 * one does: what it knows of them would be published once more.
 */
export function withoutPersonal(
  history: PreviousHistory,
  { policy, keyId, customFieldIds }: PersonalTreatment,
): PreviousHistory {
  if (history.kind !== "carried" || policy === "keep") return history;
  const before = history.personalData;
  const treated = new Set(before.policy === policy && before.keyId === keyId ? before.customFieldIds : []);
  return { ...history, forgotten: customFieldIds.filter((id) => !treated.has(id)) };
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
      `The history of ${pluralize(history.forgotten.length, "custom field")} starts anew with this run: what ${history.run} has of it was not treated as \`personalFields\` and \`personalData\` say now.`,
    ];
  }
  if (history.kind !== "anew") return [];
  return [
    `The history starts anew with this run: that of ${history.run} cannot be carried on, because ${history.reason}.`,
  ];
}

/** What the history says of a run whose documents have landed; its passes may agree where its documents do not. */
export function historyOf(
  run: Pick<PublishingRun, "staging" | "pipeline" | "history"> & { readonly verdict: Verdict },
  facts: ExtractRecord,
): BuildRequest["history"] {
  const { staging, pipeline, history, verdict } = run;
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
