import { WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { writeAnswer } from "../../show/terminal.ts";
import { targetError } from "../../targets/deliver.ts";
import { type KeepingTarget, keepsRuns, restoreRun } from "../../targets/restore.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { prepareOutput } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { listRuns, runCalled } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, invalid, processEnvironment, StopSignals } from "../command.ts";
import { chosenTarget, type TargetOptions } from "../targets.ts";

interface Options extends TargetOptions {
  readonly run?: string;
  readonly list?: true;
}

const HELP = `
Examples:
  $ content-warehouse restore
  $ content-warehouse restore --list
  $ content-warehouse restore --run 42 --warehouse /srv/warehouse

Without --run the last run that the target has is restored. Each file is verified, and the restored run becomes current. A
run on an empty disk restores the last one by itself. Exit code 0: the run is there. 26: the target cannot give it.
`;

export function restoreCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("restore")
    .description("bring a published run back from a lake")
    .option("--run <run>", "name or number of a run that the target keeps")
    .option("--list", "list the runs that can be restored, and change nothing")
    .option("--target <name>", "name of the target, where several keep runs")
    .warehouse()
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
    return writeAnswer(out, options.json === true ? { target: target.name, runs } : lines);
  }
  const wanted = wantedRun(target, runs, options.run);
  const folder = await prepareOutput(options.warehouse);
  await using _lock = await acquireLock(folder);
  await finishPublication(folder);
  const there = (await listRuns(folder)).find((each) => sameRun(each, wanted));
  if (there !== undefined) {
    const rollback = `"content-warehouse runs rollback ${there.run}"`;
    throw invalid(`${folder.root} has the run ${there.run} already; ${rollback} makes it current.`);
  }
  const run = await restoreRun(folder, target, wanted, stop.signal);
  const place = run === wanted.run ? "" : `, as ${run}, because the folder has another run of that name`;
  const line = `restored ${wanted.run} from ${target.name}${place}; it is current now\n`;
  await writeAnswer(out, options.json === true ? { target: target.name, run } : line);
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
