/** Compares the last run of each target with the one that readers of the warehouse folder see. */
import { type Answer, type AnswerRow, col, section } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import type { Target, TargetRun } from "../pipeline.ts";
import { isAmong, standingOf } from "../warehouse/identity.ts";
import { parseRunName } from "../warehouse/layout.ts";
import { targetError } from "./deliver.ts";
import type { CurrentRun } from "./published-run.ts";

const TARGETS = {
  target: col.name({ required: true }),
  run: col.name({ required: true, head: "last run" }),
  sequence: col.count(),
  published: col.instant(),
  /** After a rollback: number of the latest run that the target had. */
  rollback_of: col.count(),
  /** Number of the run that readers of the warehouse folder see. */
  here: col.count(),
  /** `current`: the target has the run that readers of the warehouse folder see. */
  state: col.text({
    required: true,
    of: ["current", "behind", "ahead", "other", "empty", "failed"],
  }),
  says: col.name({ required: true, head: "state" }),
  /** Arguments of the command that makes the two equal. */
  command: col.text(),
  /** Why the target could not be asked. */
  code: col.text(),
  problem: col.text(),
} as const;
type TargetStatus = AnswerRow<typeof TARGETS>;

/** Asks one target after the other. `failed`: those that could not be asked. */
export async function compareTargets(
  targets: readonly Target[],
  current: CurrentRun | undefined,
  signal: AbortSignal,
): Promise<{ readonly answer: Answer; readonly failed: readonly TargetStatus[] }> {
  const statuses: TargetStatus[] = [];
  for (const target of targets) statuses.push(await readStatus(target, current, signal));
  const rows = statuses.map((status) => ({
    ...status,
    command: status.command && `content-warehouse ${status.command}`,
  }));
  const answer = {
    lead: `The warehouse folder has ${current === undefined ? "no run" : `the run ${current.run}`}.`,
    facts: { current: current?.run ?? null },
    sections: [
      section({
        key: "targets",
        title: "Targets",
        columns: TARGETS,
        shows: ["target", "run", "published", "says"],
        rows,
        limit: 1000,
      }),
    ],
    next: rows.flatMap(({ target, command, here }) => {
      if (command === null) return [];
      const effect = command.endsWith(RESTORE)
        ? "fetches that run, as the next run does"
        : `brings it to run ${here}`;
      return [`${target}: "${command}" ${effect}.`];
    }),
  };
  return { answer, failed: statuses.filter(({ state }) => state === "failed") };
}

async function readStatus(
  target: Target,
  current: CurrentRun | undefined,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const shared = { target: target.name, here: current?.sequence ?? null };
  try {
    const manifest = current?.manifest;
    const instance = manifest instanceof WarehouseError ? undefined : manifest?.instance;
    const last = await target.last(instance ?? null, signal);
    const [state, says, command = null] = compareWith(current, target, last);
    const unfinished = last?.isUnfinished === true ? "; a later delivery has not finished" : "";
    return {
      ...shared,
      run: last?.run ?? "none",
      sequence: last?.sequence ?? null,
      published: parseRunName(last?.run ?? "")?.startedAt ?? null,
      rollback_of: last?.rollbackOf?.sequence ?? null,
      state,
      says: says + unfinished,
      command,
      code: null,
      problem: null,
    };
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message: problem } = targetError(target, thrown);
    const unknown = { run: "not known", sequence: null, published: null, rollback_of: null };
    const says = "could not be asked";
    return { ...shared, ...unknown, state: "failed", says, command: null, code, problem };
  }
}

/** State of a target, a clause about it, and the command that makes it equal to the folder or the folder to it. */
function compareWith(
  current: CurrentRun | undefined,
  target: Target,
  last: TargetRun | null,
): readonly [state: TargetStatus["state"], says: string, command?: string | null] {
  const restore = target.restore === undefined ? null : RESTORE;
  if (last === null) return ["empty", "nothing delivered yet", current ? DELIVER : null];
  const since =
    last.rollbackOf === undefined ? "" : `, after a rollback from run ${last.rollbackOf.sequence}`;
  const has = `run ${last.sequence}${since}`;
  if (current === undefined) return ["ahead", `${has}; this warehouse has no run yet`, restore];
  const here = `this warehouse is at ${current.sequence}`;
  const rollback = `runs rollback ${current.sequence} --deliver`;
  switch (standingOf(last, current)) {
    case "same":
      return ["current", `run ${last.sequence}, as here${since}`];
    case "later":
      if (isAmong(last, current.known)) return ["ahead", `${has}; ${here} after a rollback`, rollback];
      return ["ahead", `${has}, from another machine; ${here}`, restore];
    case "undone":
      return ["other", `${has}; ${here}`, rollback];
    case "other":
      return ["other", `another run ${last.sequence}, from another machine`, restore];
    case "apart": {
      const says = `${has}, from another history; ${here}`;
      return restore === null ? ["behind", says, DELIVER] : ["other", says, restore];
    }
    case "earlier":
      return ["behind", `${has}; ${here}`, DELIVER];
  }
}

const DELIVER = "deliver";
const RESTORE = "restore";
