import { thisMachine } from "../../run/context.ts";
import { check } from "../../run/preconditions/check.ts";
import { CHECKED, checkAnswer } from "../../run/preconditions/check-answer.ts";
import { exitCodeOf, type Finding } from "../../run/preconditions/finding.ts";
import { createStatusLine } from "../../show/display.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import {
  CliCommand,
  type CliEnvironment,
  liveColumns,
  logTo,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { type WantedFlags, wantedOf, wantedOptions } from "../wanted-run.ts";

interface CheckFlags extends WantedFlags, AnswerFlags {}

const EXAMPLES = `
Examples:
  $ content-warehouse check
  $ content-warehouse check ./my-pipeline.ts --config /etc/content-warehouse/config.json --format json
  $ content-warehouse check --sample
  $ content-warehouse check --instance north --fleet fleet.json

Without a pipeline it is nightly that is checked. It asks the service for one item and the configured destinations,
where one is missing also those that items name, then for one answer of each other kind that the run reads (25 full
items, IDs, a custom field), before a first run also for the body types of up to ten pages. It changes nothing but that
it finishes what a delivery left in a lake. It says what a run would ask for, and how long that takes. Exit code 0: a run
can begin (a warning does not keep it from that). Else the code that "run" with the same arguments would end with. What
the content alone shows, such as a departure from the specification (--contract freeze), only a run finds out.
`;

export function checkCommand(environment = processEnvironment()): CliCommand {
  const command = new CliCommand("check").description(
    "check all that a run needs, and say what it would ask for",
  );
  return wantedOptions(command, "check a run of the sample content")
    .answerForm(CHECKED)
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string | undefined, flags: CheckFlags) => checkSetup(pipeline, flags, environment));
}

async function checkSetup(
  pipeline: string | undefined,
  flags: CheckFlags,
  environment: CliEnvironment,
): Promise<void> {
  const { out, err, endWith } = environment;
  const wanted = pipeline ?? (flags.chosen === undefined ? "nightly" : undefined);
  const { url, inputs } = wantedOf(wanted, flags, environment);
  const findings: Finding[] = [];
  using stop = new StopSignals("the check is not finished");
  const line = createStatusLine({ write: (text) => err.write(text), columns: liveColumns(environment) });
  const found = check({
    inputs,
    pipeline: url,
    logFor: (secrets) => logTo({ write: line.log }, { level: "warn", format: "text", secrets }),
    signal: stop.signal,
    ...thisMachine(),
  });
  try {
    for await (const finding of found) {
      findings.push(finding);
      line.tell(`${finding.check}: ${finding.status}`);
    }
  } finally {
    line.clear();
  }
  await showAnswer(out, checkAnswer(findings), flags);
  const exitCode = exitCodeOf(findings);
  if (exitCode !== 0) endWith(exitCode);
}
