/** `restore`: brings the last run back from a target that keeps runs. */
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { writeResult } from "../../show/terminal.ts";
import { isArchive, probeTargets, restoreRun } from "../../targets/restore.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { acquireLock, prepareOutput } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, processEnvironment, StopSignals } from "../command.ts";
import { chooseTarget, type TargetFlags } from "../targets.ts";

const HELP = `
Examples:
  $ content-warehouse restore
  $ content-warehouse restore --warehouse /srv/warehouse

Verifies each file and makes the run current. A run on an empty disk does so by
itself. Exit code 0: the run is there. 26: the target cannot provide it.
`;

export function restoreCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("restore")
    .option("--target <name>", "name of the target, if several keep runs")
    .warehouse()
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", HELP)
    .action((options: TargetFlags) => restore(options, environment));
}

async function restore(options: TargetFlags, environment: CliEnvironment): Promise<void> {
  const target = await chooseTarget(environment, options, "target that keeps runs", isArchive);
  using stop = new StopSignals("nothing was restored");
  const asked = { instance: null, signal: stop.signal };
  const [probe] = await probeTargets(outputFolder(options.warehouse), [target], asked);
  if (probe?.failure) throw probe.failure;
  const wanted = probe?.last;
  if (!wanted)
    throw new WarehouseError(
      "config.not_found",
      `The target ${target.name} has no run yet; one is delivered by the next "content-warehouse run".`,
    );
  const folder = await prepareOutput(options.warehouse);
  await using _lock = await acquireLock(folder);
  await finishPublication(folder);
  const there = (await listRuns(folder)).find((each) => sameRun(each, wanted));
  if (there?.current === true) {
    const already = `${folder.root} already has run ${there.run}, and it is current\n`;
    const answer = options.json === true ? { target: target.name, run: there.run } : already;
    return await writeResult(environment.out, answer);
  }
  if (there !== undefined) {
    const rollback = `"content-warehouse runs rollback ${there.run}"`;
    throw invalidConfig(`${folder.root} already has run ${there.run}; ${rollback} makes it current.`);
  }
  const run = await restoreRun(folder, target, wanted, stop.signal);
  const place = run === wanted.run ? "" : `, as ${run}, because the folder has another run of that name`;
  const line = `restored ${wanted.run} from ${target.name}${place}; it is current now\n`;
  await writeResult(environment.out, options.json === true ? { target: target.name, run } : line);
}
