/** `deliver`: delivers a published run to the configured targets. */

import { inTemporaryFolder } from "../../common/temporary-folder.ts";
import { writeResult } from "../../show/terminal.ts";
import { deliveryError } from "../../targets/deliver.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { findWholeRun } from "../../warehouse/retention.ts";
import { commandAdvice } from "../advice.ts";
import { CliCommand, openWarehouseFolder, processEnvironment, StopSignals } from "../command.ts";
import { chooseTargets, deliverRun, deliveryText, type TargetFlags } from "../targets.ts";

const HELP = `
Examples:
  $ content-warehouse deliver
  $ content-warehouse deliver 42 --target lake

A target that has the run already, or a later one, is left as it is; to take it
back, use "runs rollback RUN --deliver". Exit code 0: all targets have the run.
26: some do not; the same command continues where it stopped, unless the message
says that another delivery took over or that the run was rolled back. 31: no
target was asked, because the run is damaged.
`;

export function deliverCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("deliver")
    .argument("[run]", "name or number of a run", "current")
    .option("--target <name>", "deliver only to this target")
    .warehouse()
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", HELP)
    .action(async (wanted: string, options: TargetFlags) => {
      const { out } = environment;
      const folder = openWarehouseFolder(options.warehouse);
      const targets = await chooseTargets(environment, options);
      using stop = new StopSignals("nothing was delivered");
      const { run, deliveries } = await inTemporaryFolder("deliver", async (temporaryDirectory) => {
        await using _lock = await acquireLock(folder);
        await finishPublication(folder);
        const whole = await findWholeRun(folder, wanted);
        stop.signal.throwIfAborted();
        return await deliverRun(folder, whole, { targets, temporaryDirectory, signal: stop.signal });
      });
      const answer = options.json === true ? { run, deliveries } : deliveryText(run, deliveries);
      await writeResult(out, answer);
      const advice = await commandAdvice(environment, options);
      const command = advice(`deliver${wanted === "current" ? "" : ` ${wanted}`}`);
      const failure = deliveryError(run, deliveries, { command });
      if (failure !== undefined) throw failure;
    });
}
