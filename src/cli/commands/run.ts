/** `run`: runs a pipeline, shows its progress, and prints its summary. */
import { Option } from "commander";
import type { Log, LogFormat } from "../../common/log.ts";
import type { Secret } from "../../common/secret.ts";
import { loadConfig } from "../../config/config.ts";
import { exitCodeOf } from "../../observe/outcome.ts";
import { thisMachine } from "../../run/inputs.ts";
import { leftoverText, runExport } from "../../run/run.ts";
import { summaryAnswer } from "../../run/summary-answer.ts";
import { answerText } from "../../show/answer.ts";
import { createDisplay, type Display, quietDisplay } from "../../show/display.ts";
import { jsonLine, writeOutcome } from "../../show/terminal.ts";
import { deliveryError } from "../../targets/deliver.ts";
import {
  CliCommand,
  type CliEnvironment,
  liveColumns,
  logTo,
  positive,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { addRunOptions, PIPELINE, type RunInputFlags, runInputs } from "../run-inputs.ts";

interface RunFlags extends RunInputFlags {
  readonly limit?: number;
  readonly quiet?: true;
  readonly logFormat?: LogFormat;
  readonly json?: true;
  /** False with the program's `--no-color`. */
  readonly color?: boolean;
}

const EXAMPLES = `
Examples:
  $ content-warehouse run nightly --sample
  $ content-warehouse run nightly --limit 20
  $ content-warehouse run ./my-pipeline.mts --warehouse /srv/warehouse

The token comes from CONTENT_API_TOKEN or the setting \`tokenFile\`.

Exit codes: 0 complete. 10 published, but no two passes over the listing agree.
24 far less than in the run before: find out why; if that is right, run once
with --accept-shrink. 26 published, but not delivered: use "deliver".
A run with --limit is neither certified nor delivered, and ends with 0.
`;

export function runCommand(environment = processEnvironment()): CliCommand {
  const command = new CliCommand("run")
    .description("run a pipeline: export the content and publish it")
    .argument("<pipeline>", PIPELINE);
  return addRunOptions(command, "read the sample content from an embedded service")
    .addOption(
      new Option("--limit <items>", "read only the first items, into ./first-look")
        .argParser(positive)
        .conflicts(["reread", "acceptShrink", "acceptNewAddress", "acceptPipeline"]),
    )
    .option("--quiet", "print only failures and new warnings")
    .logFormat()
    .option("--json", "print the summary as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string, _flags: RunFlags, command: CliCommand) =>
      run(pipeline, command.optsWithGlobals<RunFlags>(), environment),
    );
}

async function run(pipeline: string, flags: RunFlags, environment: CliEnvironment): Promise<void> {
  const { url, inputs } = runInputs(pipeline, flags, environment);
  const config = await loadConfig(inputs);
  const secrets = config.source.kind === "service" ? config.source.secrets : [];
  const { log, display } = standardError(environment, flags, secrets);
  using stop = new StopSignals(leftoverText(config));
  const { summary, failure } = await runExport({
    config,
    pipeline: url,
    log,
    signal: stop.signal,
    onProgress: display.onProgress,
    ...thisMachine(),
  }).finally(() => display.end());
  await endRun({ summary, failure }, flags, environment, log);
}

/** Prints the summary of a published run, with `quiet` only its new warnings, then what failed; sets the exit code. */
export async function endRun(
  { summary, failure }: Awaited<ReturnType<typeof runExport>>,
  flags: Pick<RunFlags, "quiet" | "json" | "color">,
  environment: CliEnvironment,
  log: Log,
): Promise<void> {
  const { quiet, json } = flags;
  const { out, endWith } = environment;
  if (quiet === true) for (const warning of summary.newWarnings) log.warn(warning);
  if (quiet !== true || json === true) {
    const screen = { width: out.columns, isColoured: takesColours(environment, flags) };
    const text = json === true ? jsonLine(summary) : answerText(summaryAnswer(summary), screen);
    await writeOutcome(environment, { text, done: "The run is published, but its summary" });
  }
  for (const error of [failure, deliveryError(summary.run, summary.deliveries)])
    if (error != null) log.error(error.message, { code: error.code });
  const exitCode = exitCodeOf(summary);
  if (exitCode !== 0) endWith(exitCode);
}

/** Whether to print colours: only to a terminal, and not with `NO_COLOR` (no-color.org) or `TERM=dumb`. */
export function takesColours(
  { env, out }: Pick<CliEnvironment, "env" | "out">,
  { color = true }: { readonly color?: boolean },
): boolean {
  return out.isTTY === true && color && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

/** Log and progress of a run on standard error; on a terminal the progress is redrawn in place. */
function standardError(
  environment: CliEnvironment,
  { quiet, logFormat = "text" }: RunFlags,
  secrets: readonly Secret[],
): { readonly log: Log; readonly display: Display } {
  const { err } = environment;
  const write = (text: string) => err.write(text);
  const common = { format: logFormat, secrets };
  const progress = logTo(err, { ...common, level: "info" });
  const display =
    quiet === true
      ? quietDisplay(write)
      : createDisplay({
          write,
          report: (line) => progress.info(line),
          columns: logFormat === "text" ? liveColumns(environment) : undefined,
          elapsedMs: () => performance.now(),
        });
  return { log: logTo({ write: display.log }, { ...common, level: "warn" }), display };
}
