/** The last run that each target has, beside the one that readers of the warehouse folder see. */
import { type Answer, col, type RowOf, section } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import type { Target, TargetRun } from "../pipeline.ts";
import { inHistory, type RunInHistory, type Standing, standingOf } from "../warehouse/identity.ts";
import { type OutputFolder, parseRunName } from "../warehouse/layout.ts";
import { listRuns, type PublishedRun } from "../warehouse/retention.ts";
import { targetError } from "./deliver.ts";
import { keepsRuns } from "./restore.ts";

const TARGETS = {
  target: col.name({ required: true }),
  run: col.name({ required: true, head: "last run" }),
  sequence: col.count({ hidden: true }),
  published: col.instant(),
  /** `current`: it has the run that readers of the warehouse folder see. */
  state: col.text({
    required: true,
    of: ["current", "behind", "ahead", "other", "empty", "failed"],
    hidden: true,
  }),
  says: col.name({ required: true, head: "state" }),
  /** Why it could not be asked. */
  code: col.text({ hidden: true }),
  problem: col.text({ hidden: true }),
} as const;
export type TargetState = RowOf<typeof TARGETS>;

type Current = PublishedRun & RunInHistory;

/** Asks one target after the other. */
export async function targetStates(
  targets: readonly Target[],
  current: Current | undefined,
  signal: AbortSignal,
): Promise<TargetState[]> {
  const states: TargetState[] = [];
  for (const target of targets) states.push(await stateOf(target, current, signal));
  return states;
}

/** Undefined: nothing is published in the folder, or it is not there. */
export async function currentIn(folder: OutputFolder): Promise<Current | undefined> {
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  return current && { ...current, ...inHistory(current, runs) };
}

/** What `targets` answers. */
export function targetsAnswer(states: readonly TargetState[], current: Current | undefined): Answer {
  return {
    lead: `The warehouse folder has ${current === undefined ? "no run" : `the run ${current.run}`}.`,
    facts: { current: current?.run ?? null },
    sections: [section({ key: "targets", title: "Targets", columns: TARGETS, rows: states, limit: 1000 })],
  };
}

async function stateOf(
  target: Target,
  current: Current | undefined,
  signal: AbortSignal,
): Promise<TargetState> {
  try {
    const manifest = current?.manifest;
    const instance = manifest instanceof WarehouseError ? undefined : manifest?.instance;
    const last = await target.last(instance ?? null, signal);
    const state = comparison(target, last, current);
    return {
      target: target.name,
      ...runCells(last),
      state,
      says: last?.waits === undefined ? WORDS[state](last) : `${WORDS[state](last)}, but some tables wait`,
      code: last?.waits === undefined ? null : "target.waits",
      problem: last?.waits ?? null,
    };
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = targetError(target, thrown);
    const unknown = { run: "not known", sequence: null, published: null };
    return {
      target: target.name,
      ...unknown,
      state: "failed",
      says: WORDS.failed(null),
      code,
      problem: message,
    };
  }
}

function runCells(last: TargetRun | null): Pick<TargetState, "run" | "sequence" | "published"> {
  if (last === null) return { run: "none", sequence: null, published: null };
  return { run: last.run, sequence: last.sequence, published: parseRunName(last.run)?.startedAt ?? null };
}

function comparison(
  target: Target,
  last: TargetRun | null,
  current: Current | undefined,
): TargetState["state"] {
  if (last === null) return "empty";
  if (current === undefined) return "ahead";
  const standing = standingOf(last, current);
  return standing === "apart" && !keepsRuns(target) ? "behind" : STATES[standing];
}

const STATES = {
  same: "current",
  earlier: "behind",
  later: "ahead",
  other: "other",
  apart: "other",
} as const satisfies Readonly<Record<Standing, TargetState["state"]>>;

const WORDS: Readonly<Record<TargetState["state"], (last: TargetRun | null) => string>> = {
  current: () => "has the current run",
  behind: () => 'is behind: "content-warehouse deliver" catches up',
  ahead: () => "has a later run",
  other: (last) => `has another run ${last?.sequence}, made elsewhere: run again`,
  empty: () => "has no run yet",
  failed: () => "could not be asked",
};
