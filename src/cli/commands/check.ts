/** `check`: takes the first steps of a run without changing anything. */
import { check } from "../../run/check.ts";
import { thisMachine } from "../../run/inputs.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { CliCommand, type CliEnvironment, logTo, processEnvironment, StopSignals } from "../command.ts";
import { addRunOptions, PIPELINE, type RunInputFlags, runInputs } from "../run-inputs.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse check
  $ content-warehouse check --sample
  $ content-warehouse check ./my-pipeline.mts --format json

Takes the steps of a run in order, changes nothing, and stops at the first that
fails, with the exit code of a run that retries nothing. Makes one request of
each kind but single items. Only a run can find faults in the content itself.
`;

export function checkCommand(environment = processEnvironment()): CliCommand {
  const command = new CliCommand("check").argument("[pipeline]", PIPELINE, "nightly");
  return addRunOptions(command, "check a run of the sample content", "check a run with this option")
    .formats()
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string, flags: RunInputFlags & AnswerFlags) =>
      checkSetup(pipeline, flags, environment),
    );
}

async function checkSetup(
  pipeline: string,
  flags: RunInputFlags & AnswerFlags,
  environment: CliEnvironment,
): Promise<void> {
  const { err, endWith } = environment;
  const { url, inputs } = runInputs(pipeline, flags, environment);
  using stop = new StopSignals("the check is not finished");
  const { answer, exitCode } = await check({
    inputs,
    pipeline: url,
    logFor: (secrets) => logTo(err, { level: "warn", format: "text", secrets }),
    signal: stop.signal,
    ...thisMachine(),
  });
  await showAnswer(environment, answer, flags);
  if (exitCode !== 0) endWith(exitCode);
}
