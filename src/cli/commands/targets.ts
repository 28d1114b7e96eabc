import { WarehouseError } from "../../common/errors.ts";
import { counted, minuteOf } from "../../common/figures.ts";
import type { Target, TargetRun } from "../../pipeline.ts";
import { drawInParts, tableOf, whole } from "../../show/table.ts";
import { writeAnswer } from "../../show/terminal.ts";
import { targetError } from "../../targets/deliver.ts";
import { keepsRuns } from "../../targets/restore.ts";
import { inHistory, type RunInHistory, type Standing, standingOf } from "../../warehouse/identity.ts";
import { outputFolder, parseRunName } from "../../warehouse/layout.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { CliCommand, processEnvironment, StopSignals } from "../command.ts";
import { chosenTargets, type TargetOptions } from "../targets.ts";

const HELP = `
Examples:
  $ content-warehouse targets
  $ content-warehouse targets --json

Exit code 0: each target could be asked, whatever it has. 26: one could not.
`;

/** What a target says. `current`: it has the run that readers of the warehouse folder see. */
interface State {
  readonly target: string;
  readonly state: "current" | "behind" | "ahead" | "other" | "empty" | "failed";
  readonly last: TargetRun | null;
  /** Why it could not be asked. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

export function targetsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("targets")
    .description("list the configured targets with the last run that each has")
    .warehouse()
    .config()
    .option("--json", "print one JSON object instead of the table")
    .addHelpText("after", HELP)
    .action(async (options: TargetOptions) => {
      const { cwd, out } = environment;
      const targets = await chosenTargets(cwd, options);
      const current = await currentOf(options.warehouse);
      using stop = new StopSignals("nothing was changed");
      const states: State[] = [];
      for (const target of targets) states.push(await stateOf(target, current, stop.signal));
      const json = { current: current?.run ?? null, targets: states };
      await writeAnswer(out, options.json === true ? json : tableText(states, current, out.columns));
      const failures = states.flatMap(({ failure }) => failure ?? []);
      const [first] = failures;
      if (first === undefined) return;
      throw new WarehouseError(
        "target.unavailable",
        `${counted(failures.length, "target")} could not be asked: ${first.message}`,
      );
    });
}

type Current = PublishedRun & RunInHistory;

/** Undefined: nothing is published in the folder, or it is not there. */
async function currentOf(warehouse: string): Promise<Current | undefined> {
  const runs = await listRuns(outputFolder(warehouse));
  const current = runs.find((each) => each.current);
  return current && { ...current, ...inHistory(current, runs) };
}

async function stateOf(target: Target, current: Current | undefined, signal: AbortSignal): Promise<State> {
  try {
    const manifest = current?.manifest;
    const instance = manifest instanceof WarehouseError ? undefined : manifest?.instance;
    const last = await target.last(instance ?? null, signal);
    return { target: target.name, state: comparison(target, last, current), last, failure: null };
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = targetError(target, thrown);
    return { target: target.name, state: "failed", last: null, failure: { code, message } };
  }
}

function comparison(target: Target, last: TargetRun | null, current: Current | undefined): State["state"] {
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
} as const satisfies Readonly<Record<Standing, State["state"]>>;

const WORDS: Readonly<Record<State["state"], (last: TargetRun | null) => string>> = {
  current: () => "has the current run",
  behind: () => 'is behind: "content-warehouse deliver" catches up',
  ahead: () => "has a later run",
  other: (last) => `has another run ${last?.sequence}, made elsewhere: run again`,
  empty: () => "has no run yet",
  failed: () => "could not be asked",
};

function tableText(
  states: readonly State[],
  current: Current | undefined,
  width: number | undefined,
): string {
  const table = tableOf(states, [
    whole("target", ({ target }) => target),
    whole("last run", ({ last, state }) => last?.run ?? (state === "failed" ? "not known" : "none")),
    whole("published", ({ last }) => {
      const startedAt = parseRunName(last?.run ?? "")?.startedAt;
      return startedAt === undefined ? "" : minuteOf(startedAt);
    }),
    whole("state", ({ state, last }) => WORDS[state](last)),
  ]);
  const here = current === undefined ? "no run" : `the run ${current.run}`;
  return `${drawInParts(table, 1, width)}the warehouse folder has ${here}\n`;
}
