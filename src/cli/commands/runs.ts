/** `runs`: lists, shows, rolls back and removes published runs. */
import { runsAnswer } from "../../audit/questions/runs.ts";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { joinWords } from "../../common/nearest.ts";
import { loadSettings } from "../../config/config.ts";
import type { Target } from "../../pipeline.ts";
import { printableText, writeAll } from "../../show/terminal.ts";
import { deliveryError, failedDeliveries } from "../../targets/deliver.ts";
import { readCurrentRun } from "../../targets/published-run.ts";
import { readTargetStatuses } from "../../targets/target-states.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { type PublishedRun, prune, RUNS_KEPT, rollback } from "../../warehouse/retention.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import {
  CliCommand,
  type CliEnvironment,
  type OutputStream,
  openWarehouseFolder,
  positive,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { chooseTargets, deliverRun, deliveryLines, type TargetFlags, targetsOfFolder } from "../targets.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import { showCommand } from "./runs-show.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse runs
  $ content-warehouse runs show 42
  $ content-warehouse runs rollback 41 --deliver
  $ content-warehouse runs prune --keep 14
`;

export function runsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("runs")
    .description("list, show, roll back and remove published runs")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand(environment), { isDefault: true })
    .addCommand(showCommand(environment))
    .addCommand(rollbackCommand(environment))
    .addCommand(pruneCommand(environment));
}

function subcommand(name: string, description: string, example: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .warehouse()
    .addHelpText("after", `\nExample:\n  $ content-warehouse runs ${example}\n`);
}

function listCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("list", "list the published runs, newest first", "list --warehouse /srv/warehouse")
    .answerForm()
    .action(async ({ warehouse, ...form }: AnswerFlags & { readonly warehouse: string }) => {
      await showAnswer(out, await runsAnswer(openWarehouseFolder(warehouse)), form);
    });
}

const ROLLBACK_HELP = `Exit code 0: the run is current. 26: it is current, but not at every target; the
same command continues where it stopped.
`;

function rollbackCommand(environment: CliEnvironment): CliCommand {
  return subcommand("rollback", "make an earlier run current", "rollback 41 --deliver")
    .argument("<run>", "name or number of a run")
    .option("--deliver", "bring the configured targets back to it as well")
    .addHelpText("after", ROLLBACK_HELP)
    .action(async (wanted: string, options: TargetFlags & { readonly deliver?: true }) => {
      const { out } = environment;
      const folder = openWarehouseFolder(options.warehouse);
      const targets = options.deliver === true ? await chooseTargets(environment, options) : null;
      using stop = new StopSignals("`current` may be moved already");
      await using lock = await acquireLock(folder);
      const current = await rollback(folder, wanted);
      await writeLines(out, [`current is now ${current.run}`]);
      if (targets === null) {
        // Targets may take long to answer; meanwhile a run can start.
        await lock[Symbol.asyncDispose]();
        return await writeLines(out, await targetLines(environment, folder, { options, stop }));
      }
      const failure = await deliverRollback(out, folder, { current, targets, stop });
      if (failure !== undefined) throw failure;
    });
}

/** Brings the targets to the run that is current now, and prints a line for each. The caller holds the lock. */
async function deliverRollback(
  out: OutputStream,
  folder: OutputFolder,
  {
    current: { run, sequence },
    targets,
    stop: { signal },
  }: { readonly current: PublishedRun; readonly targets: readonly Target[]; readonly stop: StopSignals },
): Promise<WarehouseError | undefined> {
  const { deliveries } = await inTemporaryFolder("rollback", (temporaryDirectory) =>
    deliverRun(folder, run, { targets, temporaryDirectory, signal, isRollback: true }),
  ).catch((thrown: unknown) => ({ deliveries: failedDeliveries(targets, thrown) }));
  await writeLines(out, deliveryLines(run, deliveries));
  return deliveryError(run, deliveries, { command: rollbackTo(sequence), state: "is current now, but " });
}

function rollbackTo(sequence: number): string {
  return `content-warehouse runs rollback ${sequence} --deliver`;
}

/**
 * Lines that say which run each target has, and which command brings the others to the current run. An error of the
 * configuration or of a target is a line too, because the rollback has succeeded.
 */
async function targetLines(
  { cwd, env }: CliEnvironment,
  folder: OutputFolder,
  { options, stop }: { readonly options: TargetFlags; readonly stop: StopSignals },
): Promise<readonly string[]> {
  try {
    const { targets: configured } = await loadSettings({ cwd, env, flags: options });
    const targets = await targetsOfFolder(folder, configured);
    const current = targets.length === 0 ? undefined : await readCurrentRun(folder);
    if (current === undefined) return [];
    const states = await readTargetStatuses(targets, current, stop.signal);
    const lines = states.map(
      ({ target, says, problem }) => `${target}: ${says}${problem === null ? "" : `: ${problem}`}`,
    );
    const others = states.flatMap(({ target, state }) => (state === "current" ? [] : [target]));
    if (others.length === 0) return lines;
    const command = `"${rollbackTo(current.sequence)}"`;
    const hasRolledBack = states.some(({ state, rollback_of }) => state === "other" && rollback_of !== null);
    const otherwise = hasRolledBack ? "; otherwise the next run continues from what they have" : "";
    return [...lines, `${command} brings ${joinWords(others, "and")} to run ${current.sequence}${otherwise}`];
  } catch (thrown) {
    stop.signal.throwIfAborted();
    if (!(thrown instanceof WarehouseError)) throw thrown;
    return [`the targets were not asked: ${asWarehouseError(thrown).message}`];
  }
}

function writeLines(out: OutputStream, lines: readonly string[]): Promise<void> {
  return writeAll(
    out,
    lines.map((line) => printableText(`${line}\n`)),
  );
}

function pruneCommand(environment: CliEnvironment): CliCommand {
  return subcommand("prune", "remove old runs, but never the current one", "prune --keep 14")
    .option("--keep <n>", `runs to keep (default: keepRuns or ${RUNS_KEPT})`, positive)
    .action(
      async ({
        keep: wanted,
        ...flags
      }: {
        readonly warehouse: string;
        readonly config?: string;
        readonly keep?: number;
      }) => {
        const folder = openWarehouseFolder(flags.warehouse);
        const keep = wanted ?? (await loadSettings({ ...environment, flags })).keepRuns;
        await using _lock = await acquireLock(folder);
        const removed = await prune(folder, keep);
        await writeLines(
          environment.out,
          removed.length === 0 ? ["nothing to remove"] : removed.map(({ run }) => `removed ${run}`),
        );
      },
    );
}
