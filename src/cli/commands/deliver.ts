import { Command } from "commander";
import { duration } from "../../common/figures.ts";
import { type Delivery, deliveryError } from "../../targets/deliver.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { delivered } from "../deliver-run.ts";
import {
  type CliEnvironment,
  CONFIG_OPTION,
  existingFolder,
  findWarehouse,
  processEnvironment,
  StopSignals,
  warehouseOption,
} from "../options.ts";
import { printableText, writeAll } from "../render/terminal.ts";
import { chosenTargets } from "../targets.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";

interface Options {
  readonly warehouse: string;
  readonly config?: string;
  readonly target?: string;
  readonly json?: true;
}

const HELP = `
Examples:
  $ content-warehouse deliver
  $ content-warehouse deliver 42 --target lake

RUN is a run's name, its number, or "current". A target that has the run already is left as it is; one that has a later
run keeps that. Neither the service nor its token is needed. Exit code 0: all have the run. 26: one has not; the message
says why, and the same command goes on where it stopped.
`;

/** `content-warehouse deliver [RUN]`: delivers a published run to the targets of the configuration. */
export function deliverCommand(environment: CliEnvironment = processEnvironment()): Command {
  return new Command("deliver")
    .description("deliver a published run to the configured targets, such as a lake or PostgreSQL")
    .argument("[run]", "name or number of a run, or current", "current")
    .option("--target <name>", "deliver to this target alone")
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
    .addOption(CONFIG_OPTION)
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", HELP)
    .action((run: string, options: Options) => deliverRun(run, options, environment));
}

async function deliverRun(wanted: string, options: Options, { cwd, out }: CliEnvironment): Promise<void> {
  const folder = existingFolder(options.warehouse);
  const targets = await chosenTargets(cwd, options);
  using stop = new StopSignals("nothing was delivered");
  const { run, deliveries } = await inTemporaryFolder("deliver", async (temporaryDirectory) => {
    await using _lock = await acquireLock(folder);
    await finishPublication(folder);
    stop.signal.throwIfAborted();
    return await delivered(folder, wanted, { targets, temporaryDirectory, signal: stop.signal });
  });
  const text =
    options.json === true
      ? `${JSON.stringify({ run, deliveries })}\n`
      : printableText(deliveries.map((each) => `${deliveryText(run, each)}\n`).join(""));
  await writeAll({ out, columns: undefined }, [text]);
  const failure = deliveryError(run, deliveries);
  if (failure !== undefined) throw failure;
}

function deliveryText(run: string, { target, state, milliseconds, failure }: Delivery): string {
  if (failure !== null) return `${target}: FAILED`;
  return state === "present"
    ? `${target}: has ${run} already`
    : `${target}: delivered ${run} in ${duration(milliseconds / 1000)}`;
}
