/** The last run that each target has, beside the one that readers of the warehouse folder see. */
import { type Answer, type AnswerRow, col, section } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import type { Target, TargetRun } from "../pipeline.ts";
import { isAmong, standingOf } from "../warehouse/identity.ts";
import { parseRunName } from "../warehouse/layout.ts";
import { targetError } from "./deliver.ts";
import type { CurrentRun } from "./published-run.ts";
import { isArchive } from "./restore.ts";

const TARGETS = {
  target: col.name({ required: true }),
  run: col.name({ required: true, head: "last run" }),
  sequence: col.count({ hidden: true }),
  published: col.instant(),
  /** Number of the latest run that it was rolled back from; null: it was not. */
  rollback_of: col.count({ hidden: true }),
  /** Number of the run that readers of the warehouse folder see. */
  here: col.count({ hidden: true }),
  /** `current`: it has the run that readers of the warehouse folder see. */
  state: col.text({
    required: true,
    of: ["current", "behind", "ahead", "other", "empty", "failed"],
    hidden: true,
  }),
  says: col.name({ required: true, head: "state" }),
  /** That brings it to the run that readers of the warehouse folder see, or that one to it. */
  command: col.text({ hidden: true }),
  /** Why it could not be asked. */
  code: col.text({ hidden: true }),
  problem: col.text({ hidden: true }),
} as const;
export type TargetStatus = AnswerRow<typeof TARGETS>;

/** Asks one target after the other. */
export async function readTargetStatuses(
  targets: readonly Target[],
  current: CurrentRun | undefined,
  signal: AbortSignal,
): Promise<TargetStatus[]> {
  const states: TargetStatus[] = [];
  for (const target of targets) states.push(await stateOf(target, current, signal));
  return states;
}

/** What `targets` answers. */
export function targetsAnswer(states: readonly TargetStatus[], current: CurrentRun | undefined): Answer {
  const rows = states.map((state) => ({
    ...state,
    command: state.command === null ? null : `content-warehouse ${state.command}`,
  }));
  return {
    lead: `The warehouse folder has ${current === undefined ? "no run" : `the run ${current.run}`}.`,
    facts: { current: current?.run ?? null },
    sections: [section({ key: "targets", title: "Targets", columns: TARGETS, rows, limit: 1000 })],
    next: states.flatMap(nextOf),
  };
}

function nextOf({ target, command, here }: TargetStatus): string[] {
  if (command === null) return [];
  const brings =
    command === RESTORE ? "brings that run here, as the next run does" : `brings it to run ${here}`;
  return [`${target}: "content-warehouse ${command}" ${brings}.`];
}

async function stateOf(
  target: Target,
  current: CurrentRun | undefined,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const here = current?.sequence ?? null;
  try {
    const manifest = current?.manifest;
    const instance = manifest instanceof WarehouseError ? undefined : manifest?.instance;
    const last = await target.last(instance ?? null, signal);
    const told = standingTold(target, last, current);
    const cells = { target: target.name, ...runCells(last), here, ...told };
    const unfinished = last?.isUnfinished === true ? "; a later delivery has not finished" : "";
    return { ...cells, says: told.says + unfinished, code: null, problem: null };
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = targetError(target, thrown);
    const unknown = { run: "not known", sequence: null, published: null, rollback_of: null };
    const told = { state: "failed", says: "could not be asked", command: null } as const;
    return { target: target.name, ...unknown, here, ...told, code, problem: message };
  }
}

function runCells(
  last: TargetRun | null,
): Pick<TargetStatus, "run" | "sequence" | "published" | "rollback_of"> {
  if (last === null) return { run: "none", sequence: null, published: null, rollback_of: null };
  const { run, sequence, rollbackOf } = last;
  const published = parseRunName(run)?.startedAt ?? null;
  return { run, sequence, published, rollback_of: rollbackOf?.sequence ?? null };
}

type Told = Pick<TargetStatus, "state" | "says" | "command">;

/** What a target has, in one sentence without its end, and the parts of that. */
export function standingTold(target: Target, last: TargetRun | null, current: CurrentRun | undefined): Told {
  const told = (state: TargetStatus["state"], says: string, command: string | null = null): Told => ({
    state,
    says,
    command,
  });
  const restore = isArchive(target) ? RESTORE : null;
  if (last === null) return told("empty", "nothing delivered yet", current ? DELIVER : null);
  const since =
    last.rollbackOf === undefined ? "" : `, after a rollback from run ${last.rollbackOf.sequence}`;
  const has = `run ${last.sequence}`;
  if (current === undefined) return told("ahead", `${has}${since}; this warehouse has no run yet`, restore);
  const here = `this warehouse is at ${current.sequence}`;
  const rollback = `runs rollback ${current.sequence} --deliver`;
  switch (standingOf(last, current)) {
    case "same":
      return told("current", `${has}, as here${since}`);
    case "later":
      if (isAmong(last, current.known))
        return told("ahead", `${has}${since}; ${here} after a rollback`, rollback);
      return told("ahead", `${has}${since}, made elsewhere; ${here}`, restore);
    case "undone":
      return told("other", `${has}${since}; ${here}`, rollback);
    case "other":
      return told("other", `another ${has}, made elsewhere`, restore);
    case "apart":
      if (isArchive(target)) return told("other", `${has}${since}, which ${here} without`, restore);
      return told("behind", `${has}${since}, which ${here} without`, DELIVER);
    case "earlier":
      return told("behind", `${has}${since}; ${here}`, DELIVER);
  }
}

const DELIVER = "deliver";
const RESTORE = "restore";
