import { availableParallelism } from "node:os";
import { Command, Option } from "commander";
import { CONTRACTS, type Contract } from "../../audit/checks/contract.ts";
import { systemClock } from "../../common/clock.ts";
import { UNSETTLED_EXIT_CODE } from "../../common/errors.ts";
import { createLog } from "../../common/log.ts";
import { keepHeapsSmall } from "../../common/v8-flags.ts";
import { loadConfig } from "../../config/config.ts";
import { runExport } from "../../run/run.ts";
import { pipelineNames, pipelineUrl } from "../../transform/pipelines.ts";
import { freeBytes } from "../../warehouse/disk.ts";
import { assertAddressSpace, processLimits } from "../address-space.ts";
import {
  type CliEnvironment,
  CONFIG_OPTION,
  processEnvironment,
  StopSignals,
  URL_OPTION,
  warehouseOption,
} from "../options.ts";
import { createDisplay, type Display } from "../render/display.ts";
import { summaryText } from "../render/summary.ts";
import { writeOutcome } from "../render/terminal.ts";

interface RunFlags {
  readonly warehouse?: string;
  readonly sample?: true;
  readonly url?: string;
  readonly config?: string;
  readonly contract?: Contract;
  readonly acceptShrink?: true;
  readonly json?: true;
}

const EXAMPLES = `
Pipelines of the package: ${pipelineNames().join(", ")}

Examples:
  $ content-warehouse run nightly --sample
  $ CONTENT_API_URL=https://content.example.com CONTENT_API_TOKEN=... content-warehouse run nightly --warehouse /srv/warehouse
  $ content-warehouse run ./my-pipeline.ts --config ./content-warehouse.config.json

The token comes from CONTENT_API_TOKEN or from a file (setting \`tokenFile\`), never from a flag.
Exit code 0: complete. 10: published, but no two passes over the listing agree. 24: there is far less than in the
run before; look why, and if that is right, run once with --accept-shrink.
`;

/** `content-warehouse run PIPELINE`: one export, published only if it is whole. */
export function runCommand(environment: CliEnvironment = processEnvironment()): Command {
  return new Command("run")
    .description("run a pipeline: export the service's content and publish it")
    .argument("<pipeline>", "name of a pipeline of the package, or path of a module of your own")
    .addOption(warehouseOption())
    .option("--sample", "read the sample content from the embedded service")
    .addOption(URL_OPTION)
    .addOption(CONFIG_OPTION)
    .addOption(
      new Option(
        "--contract <contract>",
        "freeze: publish nothing that departs from the specification",
      ).choices(CONTRACTS),
    )
    .option("--accept-shrink", "publish even where there is far less than in the run before")
    .option("--json", "print one JSON object to standard output instead of the summary")
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string, flags: RunFlags) => run(pipeline, flags, environment));
}

async function run(pipeline: string, flags: RunFlags, environment: CliEnvironment): Promise<void> {
  keepHeapsSmall();
  const { env, cwd, endWith } = environment;
  const url = pipelineUrl(pipeline, cwd);
  const config = await loadConfig({
    cwd,
    env,
    flags,
    sampleBy: '"content-warehouse run nightly --sample"',
  });
  const threads = Math.max(1, Math.min(8, availableParallelism()));
  assertAddressSpace(await processLimits(), threads);
  const display = displayOn(environment);
  using stop = new StopSignals("nothing was published");
  const summary = await runExport({
    config,
    pipeline: url,
    clock: systemClock,
    log: createLog({
      level: "warn",
      format: isTerminal(environment) ? "text" : "json",
      secrets: config.source.kind === "service" ? [config.source.token] : [],
      clock: systemClock,
      write: display.log,
    }),
    signal: stop.signal,
    onProgress: display.onProgress,
    threads,
    nodeVersion: process.versions.node,
    freeBytes,
  }).finally(() => display.end());
  const text = flags.json === true ? `${JSON.stringify(summary)}\n` : summaryText(summary);
  const { out, err } = environment;
  const done = "The run is published, but its summary";
  await writeOutcome({ out, columns: undefined }, err, { text, done });
  if (summary.verdict === "unsettled") endWith(UNSETTLED_EXIT_CODE);
}

function isTerminal({ env, err }: CliEnvironment): boolean {
  return err.isTTY === true && env.TERM !== "dumb";
}

/** Width of a terminal that does not know its own. */
const COLUMNS = 80;

function displayOn(environment: CliEnvironment): Display {
  const { err } = environment;
  return createDisplay({
    write: (text) => err.write(text),
    columns: isTerminal(environment) ? () => err.columns || COLUMNS : undefined,
    elapsedMs: () => performance.now(),
  });
}
