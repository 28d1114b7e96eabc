/** `runs`: lists, shows, rolls back and removes published runs. */
import { runsAnswer } from "../../audit/questions/runs.ts";
import { loadSettings } from "../../config/config.ts";
import { printableText, writeAll } from "../../show/terminal.ts";
import { deliveryError, failedDeliveries } from "../../targets/deliver.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { prune, RUNS_KEPT, rollback } from "../../warehouse/retention.ts";
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
import { chooseTargets, deliverRun, deliveryLines, type TargetFlags } from "../targets.ts";
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
      await using _lock = await acquireLock(folder);
      const { run, sequence } = await rollback(folder, wanted);
      const command = `content-warehouse runs rollback ${sequence} --deliver`;
      await writeLines(out, [`current is now ${run}`]);
      if (targets === null)
        return await writeLines(out, [`targets keep the run that they have; "${command}" brings them to it`]);
      const { signal } = stop;
      const { deliveries } = await inTemporaryFolder("rollback", (temporaryDirectory) =>
        deliverRun(folder, run, { targets, temporaryDirectory, signal, isRollback: true }),
      ).catch((thrown: unknown) => ({ deliveries: failedDeliveries(targets, thrown) }));
      await writeLines(out, deliveryLines(run, deliveries));
      const failure = deliveryError(run, deliveries, { command, state: "is current now, but " });
      if (failure !== undefined) throw failure;
    });
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
      async (flags: { readonly warehouse: string; readonly config?: string; readonly keep?: number }) => {
        const folder = openWarehouseFolder(flags.warehouse);
        const keep = flags.keep ?? (await loadSettings({ ...environment, flags })).keepRuns;
        await using _lock = await acquireLock(folder);
        const removed = await prune(folder, keep);
        const lines = removed.map(({ run }) => `removed ${run}`);
        await writeLines(environment.out, lines.length === 0 ? ["nothing to remove"] : lines);
      },
    );
}
