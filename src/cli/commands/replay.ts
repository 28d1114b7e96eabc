/** `replay`: builds the current run again from its raw documents. */
import { loadReplaySettings } from "../../config/config.ts";
import { thisMachine } from "../../run/inputs.ts";
import { replay } from "../../run/replay.ts";
import { pipelineUrl } from "../../transform/pipelines.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { CliCommand, logTo, openWarehouseFolder, processEnvironment, StopSignals } from "../command.ts";
import { interruptStatementsOn } from "../temporary-folder.ts";
import { endRun } from "./run.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse replay
  $ content-warehouse replay --pipeline ./my-pipeline.mts

Makes no request. Publishes and delivers the result as the next run, with the
verdict and exit code of the current one. Nothing is published with exit code 2,
if the pipeline needs what the run did not request or the settings for personal
data differ from those of the documents, and with 31, if a raw file is damaged.
`;

export function replayCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("replay")
    .option("--pipeline <pipeline>", "another pipeline than that of the run, by name or path")
    .option("--accept-pipeline", "allow this pipeline to lack tables or files of the current run")
    .warehouse()
    .option("--json", "print the summary as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(
      async (options: {
        readonly warehouse: string;
        readonly pipeline?: string;
        readonly config?: string;
        readonly acceptPipeline?: true;
        readonly json?: true;
      }) => {
        const { cwd, env, err } = environment;
        const folder = openWarehouseFolder(options.warehouse);
        const settings = await loadReplaySettings({ cwd, env, flags: options });
        const log = logTo(err, { level: "warn", format: "text", secrets: [] });
        await using _lock = await acquireLock(folder);
        using stop = new StopSignals("nothing was published");
        using _interrupting = interruptStatementsOn(stop.signal);
        const ended = await replay({
          folder,
          pipelineUrl: options.pipeline === undefined ? null : pipelineUrl(options.pipeline, cwd),
          settings,
          acceptPipeline: options.acceptPipeline === true,
          signal: stop.signal,
          onProgress: () => {},
          log,
          ...thisMachine(),
        });
        await endRun(ended, options, environment, log);
      },
    );
}
