import { Command } from "commander";
import { WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { targetError } from "../../targets/deliver.ts";
import { type KeepingTarget, keepsRuns, restoreRun } from "../../targets/restore.ts";
import { prepareOutput, runsIn } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { runCalled } from "../../warehouse/retention.ts";
import {
  type CliEnvironment,
  CONFIG_OPTION,
  findWarehouse,
  processEnvironment,
  StopSignals,
  warehouseOption,
} from "../options.ts";
import { printableText, writeAll } from "../render/terminal.ts";
import { chosenTarget } from "../targets.ts";

interface Options {
  readonly warehouse: string;
  readonly config?: string;
  readonly target?: string;
  readonly run?: string;
  readonly list?: true;
  readonly json?: true;
}

const HELP = `
Examples:
  $ content-warehouse restore
  $ content-warehouse restore --list
  $ content-warehouse restore --run 42 --warehouse /srv/warehouse

Without --run the last run that the target has is restored. Each file is verified, and the restored run becomes current. A
run on an empty disk restores the last one by itself. Exit code 0: the run is there. 26: the target cannot give it.
`;

/** `content-warehouse restore`: makes a local run from what a target keeps of it. */
export function restoreCommand(environment: CliEnvironment = processEnvironment()): Command {
  return new Command("restore")
    .description("bring a published run back from a lake into the warehouse folder")
    .option("--run <run>", "name or number of a run that the target keeps")
    .option("--list", "list the runs that can be restored, and change nothing")
    .option("--target <name>", "name of the target, where several keep runs")
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
    .addOption(CONFIG_OPTION)
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", HELP)
    .action((options: Options) => restore(options, environment));
}

async function restore(options: Options, { cwd, out }: CliEnvironment): Promise<void> {
  const target = await chosenTarget(cwd, options, "target that keeps runs", keepsRuns);
  using stop = new StopSignals("nothing was restored");
  const runs = await restorable(target, stop.signal);
  if (options.list === true) {
    const lines = runs.map(({ run }) => `${run}\n`).join("") || "no run can be restored\n";
    const text = options.json === true ? `${JSON.stringify({ target: target.name, runs })}\n` : lines;
    return writeAll({ out, columns: undefined }, [printableText(text)]);
  }
  const wanted = wantedRun(target, runs, options.run);
  await restoreInto(options.warehouse, target, wanted, stop.signal);
  const { run } = wanted;
  const line = `restored ${run} from ${target.name}; it is current now\n`;
  const text = options.json === true ? `${JSON.stringify({ target: target.name, run })}\n` : line;
  await writeAll({ out, columns: undefined }, [printableText(text)]);
}

async function restorable(target: KeepingTarget, signal: AbortSignal): Promise<readonly TargetRun[]> {
  try {
    return (await target.restorable?.(signal)) ?? [];
  } catch (thrown) {
    signal.throwIfAborted();
    throw targetError(target, thrown);
  }
}

function wantedRun(target: KeepingTarget, runs: readonly TargetRun[], wanted: string | undefined): TargetRun {
  const found = wanted === undefined ? runs[0] : runCalled(wanted, runs);
  if (found !== undefined) return found;
  throw new WarehouseError(
    "config.not_found",
    wanted === undefined
      ? `The target ${target.name} keeps no run yet; one is delivered by the next "content-warehouse run".`
      : `The target ${target.name} keeps no run "${wanted}"; "content-warehouse restore --list" shows what it keeps.`,
  );
}

async function restoreInto(
  warehouse: string,
  target: KeepingTarget,
  wanted: TargetRun,
  signal: AbortSignal,
): Promise<void> {
  const folder = await prepareOutput(warehouse);
  await using _lock = await acquireLock(folder);
  await finishPublication(folder);
  if ((await runsIn(folder)).some(({ run }) => run === wanted.run)) {
    throw new WarehouseError(
      "config.invalid",
      `${folder.root} has the run ${wanted.run} already; "content-warehouse runs rollback ${wanted.run}" makes it current.`,
    );
  }
  await restoreRun(folder, target, wanted, signal);
}
